use jiff::SignedDuration;
use serde::Deserialize;

use super::store::Age;

/// How nodes get identities.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct EnrolConfig {
    /// For how long an identity counts; a node renews its own after half of that.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub valid_for: Age,
}

impl Default for EnrolConfig {
    fn default() -> Self {
        Self { valid_for: Age(SignedDuration::from_hours(24 * 30)) }
    }
}

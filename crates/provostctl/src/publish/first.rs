//! The first publication of a management node, by `provostctl init`.

use std::path::Path;

use jiff::SignedDuration;
use provost_publish::{Action, Succession};

use super::options::{NamedTls, refresh_key};
use super::{Publish, Rehearse};
use crate::address::Admin;
use crate::failure::Failure;
use crate::format::Format;
use crate::period::Period;
use crate::signing::Signing;

/// What is published, and where.
pub(crate) struct First<'a> {
    pub(crate) site: &'a Path,
    pub(crate) scripts: &'a Path,
    pub(crate) key: &'a Path,
    pub(crate) signing: &'a Signing,
    pub(crate) to: &'a Path,
}

impl First<'_> {
    /// Publishes it, and names what `--tls` and `--refresh-key` take, as provostd prints them.
    pub(crate) fn publish(
        &self,
        admin: &Admin,
        tls_line: &str,
        key_line: &str,
    ) -> Result<(), Failure> {
        let wrong = |what: String| {
            let error = format!("unexpected response from provostd prepare: {what}");
            Failure::new(error, "install the same version of provostctl and provostd")
        };
        let publish = Publish {
            site: self.site.to_owned(),
            scripts: self.scripts.to_owned(),
            key: Some(self.key.to_owned()),
            signing: self.signing.clone(),
            to: Some(self.to.to_owned()),
            to_channel: None,
            group: None,
            valid_for: Period(SignedDuration::from_hours(30 * 24)),
            refresh_key: Some(refresh_key(key_line).map_err(wrong)?),
            tls: Some(tls_line.parse::<NamedTls>().map_err(|e| wrong(e.to_string()))?),
            refresh: false,
            is_validity_named: false,
            check: false,
            rehearse: Rehearse::default(),
            diff: false,
            allow_removal: false,
            generation_above: 0,
            lint_only: false,
            no_lint: false,
            format: Format::default(),
            action: Action::default(),
            revoke: None,
            succession: Succession::default(),
            used_groups: None,
            is_first: true,
        };
        publish.run(admin)
    }
}

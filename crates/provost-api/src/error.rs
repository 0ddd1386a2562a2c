use serde::{Deserialize, Serialize};

/// The body of an answer that refuses a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorBody {
    /// What was refused, and why.
    pub error: String,
    /// What to do about it.
    pub hint: String,
}

impl ErrorBody {
    /// Reads it. Another server's error page is none.
    pub fn parse(body: &[u8]) -> Option<Self> {
        serde_json::from_slice(body).ok()
    }
}

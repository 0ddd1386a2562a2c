use std::error::Error;
use std::pin::Pin;
use std::time::Duration;

use crate::quota::OverQuota;

/// What a store returns, later.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Why the store failed.
#[derive(Debug, thiserror::Error)]
#[error("{doing}")]
pub struct StoreError {
    doing: String,
    hint: String,
    retry_after: Option<Duration>,
    source: Box<dyn Error + Send + Sync>,
}

impl StoreError {
    /// An error of `doing`, a gerund phrase.
    pub fn new(
        doing: impl Into<String>,
        hint: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self { doing: doing.into(), hint: hint.into(), retry_after: None, source: source.into() }
    }

    /// A node has sent `what`, and is over its quota.
    pub(crate) fn over_quota(node: &str, what: &str, error: OverQuota) -> Self {
        let hint = format!(
            "see what it sends: provostctl show {node}; or raise {what}_mib_per_hour or {what}_mib \
             under [quota] in provostd.toml"
        );
        let retry_after = Some(error.retry_after);
        let doing = format!("storing {what} of {node}");
        Self { doing, hint, retry_after, source: error.into() }
    }

    /// For a node that is over its quota: when it may try again.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// What an admin can do about it.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

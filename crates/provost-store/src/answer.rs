use std::error::Error;
use std::pin::Pin;
use std::time::Duration;

use crate::quota::OverQuota;

/// What a store returns, later.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A database that a provostd wrote before the first release.
#[cfg_attr(not(any(feature = "sqlite", feature = "postgres")), expect(dead_code))]
#[derive(Debug, thiserror::Error)]
#[error("the database in {0} is of an unreleased Provost")]
pub(crate) struct Unreleased(pub(crate) String);

#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl Unreleased {
    /// What an admin can do about it.
    pub(crate) const HINT: &str = "move it aside or use a new one; then restore the backup that its own provostctl made \
                                   (provostctl restore --from FILE), or start provostd and enrol the nodes again";
}

/// A database that a newer provostd has changed.
#[cfg_attr(not(any(feature = "sqlite", feature = "postgres")), expect(dead_code))]
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("it has version {found}, and this build knows versions up to {known}")]
pub(crate) struct Newer {
    pub(crate) found: u32,
    pub(crate) known: u32,
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl Newer {
    /// What an admin can do about it.
    pub(crate) const HINT: &str = "install the newer Provost again, or restore the backup of before the upgrade: \
                                   docs/upgrade.md";
}

/// A store that has something, so that nothing can be copied to it.
#[cfg_attr(not(feature = "transfer"), expect(dead_code))]
#[derive(Debug, thiserror::Error)]
#[error("it has a store already")]
pub(crate) struct NotEmpty;

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
            "see what it sends: provostctl show {node}; or raise {} under [quota] in provostd.toml",
            error.key(what)
        );
        let retry_after = Some(error.retry_after);
        let doing = format!("storing {what} of {node}");
        Self { doing, hint, retry_after, source: error.into() }
    }

    /// For a node that is over its quota: when it may try again.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Whether the database is of another version, an unreleased or a newer one: a program can't start with it until an
    /// admin has done something.
    pub fn is_of_other_version(&self) -> bool {
        self.source.is::<Unreleased>() || self.source.is::<Newer>()
    }

    /// Whether nothing can be copied to the store because it has something.
    pub fn is_not_empty(&self) -> bool {
        self.source.is::<NotEmpty>()
    }

    /// What an admin can do about it.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

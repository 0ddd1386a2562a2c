use std::path::PathBuf;

/// Why a `site.toml` can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}: {what}", path.display())]
pub struct SiteError {
    pub(super) path: PathBuf,
    pub(super) line: usize,
    /// Begins with the key, where there is one.
    pub(super) what: String,
    pub(super) hint: String,
}

impl SiteError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        self.hint.clone()
    }
}

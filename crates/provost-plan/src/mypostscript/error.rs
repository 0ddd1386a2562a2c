/// Why a `mypostscript` can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("mypostscript, line {line}: {what}")]
pub struct MyPostscriptError {
    pub(super) line: usize,
    pub(super) what: String,
    pub(super) hint: String,
}

impl MyPostscriptError {
    /// What an admin can do about it.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

//! Why a text names no nodes.

/// The most nodes that one text may name.
pub(super) const MOST: usize = 100_000;

/// Why a text doesn't name nodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} names no nodes: {why}")]
pub struct NodesError {
    text: String,
    why: String,
    hint: Option<String>,
}

impl NodesError {
    /// An error of `text`, without its own hint.
    pub(super) fn new(text: &str, why: impl Into<String>) -> Self {
        Self { text: text.chars().take(200).collect(), why: why.into(), hint: None }
    }

    /// An error of the set that `text` names.
    pub(crate) fn of_set(text: &str, why: impl Into<String>, hint: Option<String>) -> Self {
        Self { hint, ..Self::new(text, why) }
    }

    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        let usual = "write names and ranges such as cn001, cn[001-512,600] or r[1-4]n[01-32], with \
                     commas between; ! excludes: cn[001-512]!cn007";
        self.hint.clone().unwrap_or_else(|| usual.to_owned())
    }
}

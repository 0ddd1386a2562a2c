use std::path::PathBuf;

/// What had to be repaired in a journal that a crash, a full disk or an editor left damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Bytes that belonged to no whole entry and were cut off.
    pub cut: u64,
    /// Whole entries that were kept.
    pub kept: usize,
    /// Where the damaged file was kept, if nothing of it could be read.
    pub aside: Option<PathBuf>,
}

use std::path::PathBuf;

use crate::wording;

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

impl std::fmt::Display for Repair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kept = wording::count(self.kept, "entry");
        match self.cut {
            0 if self.kept == 0 && self.aside.is_some() => f.write_str("it was no journal")?,
            0 => write!(f, "its end was missing; kept {kept}")?,
            cut => write!(
                f,
                "removed {} of an incomplete entry; kept {kept}",
                wording::count(cut, "byte")
            )?,
        }
        match &self.aside {
            Some(path) => write!(f, "; the damaged file is {}", path.display()),
            None => Ok(()),
        }
    }
}

//! Writing files below STATE, which survive a power cut: see [`provost_fs`].

use std::io;
use std::path::Path;

use provost_fs::Durability;

/// Replaces the file at `path`: after a power cut it is either the old one or the new one. Creates
/// its folder if needed.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    provost_fs::create_folder_of(path)?;
    provost_fs::replace(path, bytes, Durability::PowerCut)
}

/// Removes the file at `path`, if it is there: a power cut doesn't bring it back.
pub fn remove(path: &Path) -> io::Result<()> {
    provost_fs::remove(path, Durability::PowerCut)
}

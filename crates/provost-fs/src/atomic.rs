//! The files below a node's STATE: written so that they survive a power cut, and read without waiting
//! for whatever has been put in their place.

use std::io;
use std::path::Path;

use crate::{Durability, create_private_folder_of, refusal};

/// The most bytes of any of them: the manifest and the plan together are the longest.
const MOST: u64 = 32 << 20;

/// Reads the file at `path`. What stands in its place but isn't a file of this node's is said, with
/// what to do about it; the next write replaces it.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    crate::read(path, MOST).inspect_err(|e| {
        if let Some(why) = refusal(e) {
            tracing::warn!("reading {}: {why}\nhint: {}", path.display(), why.hint(path));
        }
    })
}

/// Replaces the file at `path`: after a power cut it is either the old one or the new one. Creates
/// its folder if needed. The group of a shared folder may read it.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create_private_folder_of(path)?;
    crate::replace_with(path, Durability::PowerCut, |file| {
        file.share()?;
        file.write(bytes)
    })
}

/// The same for a file that no group may read.
pub fn write_secret(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create_private_folder_of(path)?;
    crate::replace(path, bytes, Durability::PowerCut)
}

/// Removes the file at `path`, if it is there: a power cut doesn't bring it back.
pub fn remove(path: &Path) -> io::Result<()> {
    crate::remove(path, Durability::PowerCut)
}

//! Folders that are there for one command.

use crate::failure::Failure;

/// Why one can't be written.
pub(crate) fn disk(e: &std::io::Error) -> Failure {
    let folder = std::env::temp_dir();
    let error = format!("writing to a temporary folder in {}: {e}", folder.display());
    Failure::new(error, "make room there, or set TMPDIR to another folder")
}

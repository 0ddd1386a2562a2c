use std::fs;
use std::io;
use std::path::Path;

/// Replaces a file of the publisher's alone: after a power cut it is either the old one or the new one.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let new = tempfile::NamedTempFile::new_in(folder)?;
    fs::write(new.path(), text)?;
    new.as_file().sync_all()?;
    new.persist(path).map_err(|e| e.error)?;
    fs::File::open(folder)?.sync_all()
}

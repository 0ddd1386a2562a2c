use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

use provost_api::disclosed::{self, may_leave};

use super::archive::Archive;
use super::layout::{DATA, MANIFEST, WWW};

/// Adds the daemon's folder, such as its authority and the keys that it has made.
pub(super) fn write_data(archive: &mut Archive, data: &Path) -> io::Result<()> {
    archive.add(DATA, data)?;
    for entry in listed(data, disclosed::DATA)? {
        write(archive, &entry, DATA, name(&entry)?)?;
    }
    Ok(())
}

/// Adds what is published. What says that it is whole comes last.
pub(super) fn write_published(archive: &mut Archive, www: &Path) -> io::Result<()> {
    archive.add(WWW, www)?;
    let (last, first): (Vec<DirEntry>, Vec<DirEntry>) = listed(www, disclosed::WWW)?
        .into_iter()
        .partition(|entry| entry.file_name().to_string_lossy().starts_with(MANIFEST));
    for entry in first.iter().chain(last.iter().rev()) {
        write(archive, entry, WWW, name(entry)?)?;
    }
    Ok(())
}

/// Adds a file, a link or a folder with all that is in it; not a socket.
fn write(archive: &mut Archive, entry: &DirEntry, at: &str, name: String) -> io::Result<()> {
    let (kind, name) = (entry.file_type()?, format!("{at}/{name}"));
    if kind.is_file() || kind.is_dir() || kind.is_symlink() {
        archive.add(&name, &entry.path())?;
    }
    if kind.is_dir() {
        for entry in entries(&entry.path())? {
            write(archive, &entry, &name, self::name(&entry)?)?;
        }
    }
    Ok(())
}

/// What is in a folder and in `list`, by name.
fn listed(folder: &Path, list: &[&str]) -> io::Result<Vec<DirEntry>> {
    let mut entries = entries(folder)?;
    entries.retain(|entry| may_leave(list, &entry.file_name().to_string_lossy()));
    Ok(entries)
}

/// What is in a folder, by name.
fn entries(folder: &Path) -> io::Result<Vec<DirEntry>> {
    let failed =
        |e: io::Error| io::Error::new(e.kind(), format!("reading {}: {e}", folder.display()));
    let mut entries = fs::read_dir(folder)
        .and_then(|found| found.collect::<io::Result<Vec<_>>>())
        .map_err(failed)?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

fn name(entry: &DirEntry) -> io::Result<String> {
    let wrong = |name: std::ffi::OsString| io::Error::other(format!("{name:?} isn't UTF-8"));
    entry.file_name().into_string().map_err(wrong)
}

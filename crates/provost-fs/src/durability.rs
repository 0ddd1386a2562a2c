use std::fs::File;
use std::io;
use std::path::Path;

/// What a change survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The crash of a program: nothing is synced. After a power cut the file may be the old one,
    /// the new one, or empty. For what is made anew at each start.
    Crash,
    /// A power cut: the content is synced before the rename, and the folder after it. When the
    /// call returns, the change is on the disk.
    PowerCut,
}

/// Syncs the names in `folder`: after this a rename, a new name or a removal in it survives a
/// power cut.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let sync = || File::open(folder)?.sync_all();
    sync().map_err(context("syncing the folder", folder))
}

/// Syncs the name of `path`, if that is asked for.
pub(crate) fn sync_name(path: &Path, durability: Durability) -> io::Result<()> {
    match durability {
        Durability::Crash => Ok(()),
        Durability::PowerCut => sync_folder(folder_of(path)),
    }
}

/// The folder that holds `path`; for a bare name that is the working directory.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Names the folder that stands in the place of the file `path`, if that is the error.
pub fn in_the_way(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |e| match e.kind() {
        io::ErrorKind::IsADirectory => context("replacing", path)(e),
        _ => e,
    }
}

/// Adds what was tried, on which folder, to an error; its kind stays.
pub(crate) fn context(doing: &'static str, folder: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |e| io::Error::new(e.kind(), format!("{doing} {}: {e}", folder.display()))
}

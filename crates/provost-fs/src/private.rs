//! What a program keeps for itself: folders of mode 0700, files of mode 0600. A group may read what is
//! in a folder with the set-group-ID bit: there, new files belong to the folder's group, and their
//! modes are 0750 and 0640.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use crate::durability::{context, folder_of};

/// Of a folder that is shared with its group: the set-group-ID bit, and the rights to read and search.
pub const SHARED: u32 = 0o2050;

/// The mode of a new file in `folder`.
pub(crate) fn file_mode(folder: &Path) -> u32 {
    if is_shared(folder) { 0o640 } else { 0o600 }
}

/// Creates the folder of the file at `path`, and those above it, where they are missing.
pub fn create_private_folder_of(path: &Path) -> io::Result<()> {
    create_private_folder(folder_of(path))
}

/// Creates the folder at `path`, and those above it, where they are missing.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let above = folder_of(path);
    if above != path {
        create_private_folder(above)?;
    }
    let mode = if is_shared(above) { 0o750 } else { 0o700 };
    match DirBuilder::new().mode(mode).create(path) {
        // Another process was first.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        created => created.map_err(context("creating the folder", path)),
    }
}

fn is_shared(folder: &Path) -> bool {
    folder.metadata().is_ok_and(|folder| folder.mode() & SHARED == SHARED)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_is_kept_is_private_unless_its_folder_is_shared() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
        for (given, folders, files) in [(0o755, 0o700, 0o600), (0o2750, 0o2750, 0o640)] {
            let root = folder.path().join(format!("{given:o}"));
            fs::create_dir(&root).unwrap();
            fs::set_permissions(&root, Permissions::from_mode(given)).unwrap();
            let inner = root.join("a/b");
            create_private_folder(&inner).unwrap();
            create_private_folder(&inner).unwrap();
            let file = inner.join("opened");
            crate::open(&file, fs::File::options().create(true).append(true)).unwrap();
            crate::atomic::write(&inner.join("written"), b"").unwrap();
            crate::atomic::write_secret(&inner.join("secret"), b"").unwrap();
            let found = ["a", "a/b", "a/b/opened", "a/b/written", "a/b/secret"];
            let found = found.map(|name| mode(&root.join(name)));
            assert_eq!(found, [folders, folders, files, files, 0o600], "{given:o}");
        }
    }
}

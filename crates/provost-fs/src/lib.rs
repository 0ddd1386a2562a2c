//! A file that is replaced whole: readers see the old content or the new one, never a part.
//!
//! The content is written to a file without a name of its own in the target's folder, synced
//! where the [`Durability`] says so, and renamed to the target. See rename(2): the rename is
//! atomic for all readers. It is durable only after an fsync(2) of the folder.
//!
//! A file that is there is [opened](open) and [read](read()) in one way, whatever has been put in its
//! place. What a program keeps is private: see [`create_private_folder`].
//!
//! No function creates the target's folder, unless its name says so. An error is the failed call's
//! own; where that was about the folder, or a folder stands in the file's place, it names that folder.
//! The caller adds the path and what it is about.

mod accounts;
pub mod atomic;
mod durability;
mod given;
mod new_file;
mod open;
mod private;
mod storage;

use std::io;
use std::path::Path;

pub use accounts::{group_id, user_name};
pub use durability::{Durability, folder_of, in_the_way, sync_folder};
use durability::{context, sync_name};
pub use given::{open_given, read_given, read_given_text, read_input};
pub use new_file::NewFile;
pub use open::{Refusal, check_len, open, open_bounded, open_to_read, read, refusal};
pub use private::{SHARED, create_private_folder, create_private_folder_of};
pub use storage::Storage;

/// Replaces the file at `path` by `bytes`. Its mode is 0600.
pub fn replace(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    replace_with(path, durability, |file| file.write(bytes))
}

/// Replaces the file at `path` by `bytes`, with the permission bits `mode`, whatever the umask.
pub fn replace_with_mode(
    path: &Path,
    bytes: &[u8],
    mode: u32,
    durability: Durability,
) -> io::Result<()> {
    replace_with(path, durability, |file| {
        file.set_mode(mode)?;
        file.write(bytes)
    })
}

/// Replaces the file at `path` by what `fill` writes. After an error of `fill` the old file is
/// still there, unchanged.
pub fn replace_with(
    path: &Path,
    durability: Durability,
    fill: impl FnOnce(&mut NewFile) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = NewFile::at(path)?;
    fill(&mut file)?;
    file.replace(durability)
}

/// Creates the folder of the file at `path`, and those above it, where they are missing.
pub fn create_folder_of(path: &Path) -> io::Result<()> {
    let folder = folder_of(path);
    std::fs::create_dir_all(folder).map_err(context("creating the folder", folder))
}

/// How many bytes are free on the file system of `folder`, for those who aren't root.
pub fn free_room(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    // A file system that has no size, such as ramfs, has no limit.
    Ok(if disk.f_blocks == 0 { u64::MAX } else { disk.f_bavail.saturating_mul(disk.f_frsize) })
}

/// Removes the file at `path`. That there is none is no error.
pub fn remove(path: &Path, durability: Durability) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
        Ok(()) => sync_name(path, durability),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    const BOTH: [Durability; 2] = [Durability::Crash, Durability::PowerCut];

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        for durability in BOTH {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("state");
            replace(&path, b"one", durability).unwrap();
            let open = File::open(&path).unwrap();
            replace(&path, b"two", durability).unwrap();
            assert_eq!(io::read_to_string(open).unwrap(), "one", "a reader keeps the old file");
            assert_eq!(fs::read(&path).unwrap(), b"two");
            assert_eq!(names(folder.path()), ["state"]);
        }
    }

    #[test]
    fn the_mode_is_private_unless_one_is_given() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
        replace(&path, b"", Durability::Crash).unwrap();
        assert_eq!(mode(), 0o600);
        replace_with_mode(&path, b"", 0o666, Durability::Crash).unwrap();
        assert_eq!(mode(), 0o666, "the umask has no effect");
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        replace(&path, b"old", Durability::PowerCut).unwrap();
        let inode = fs::metadata(&path).unwrap().ino();
        let result = replace_with(&path, Durability::PowerCut, |file| {
            file.write(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert_eq!(result.unwrap_err().to_string(), "no more");
        assert_eq!(fs::metadata(&path).unwrap().ino(), inode);
        assert_eq!(names(folder.path()), ["state"]);
    }

    #[test]
    fn a_folder_in_the_place_of_a_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        fs::create_dir(&path).unwrap();
        let error = replace(&path, b"", Durability::Crash).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        assert!(
            error.to_string().starts_with(&format!("replacing {}: ", path.display())),
            "{error}"
        );
    }

    #[test]
    fn no_folder_is_created_unless_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/state");
        let error = replace(&path, b"", Durability::Crash).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let expected = format!("creating a file in {}: ", path.parent().unwrap().display());
        assert!(error.to_string().starts_with(&expected), "{error}");
        create_folder_of(&path).unwrap();
        replace(&path, b"", Durability::Crash).unwrap();
    }

    #[test]
    fn a_file_that_is_there_is_not_created_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        for (text, created) in [("one", true), ("two", false)] {
            let mut file = NewFile::at(&path).unwrap();
            file.write(text.as_bytes()).unwrap();
            let result = file.create(Durability::PowerCut).map_err(|e| e.kind());
            assert_eq!(result, if created { Ok(()) } else { Err(io::ErrorKind::AlreadyExists) });
        }
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(names(folder.path()), ["state"]);
    }

    #[test]
    fn what_a_user_names_and_is_no_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        fs::write(&file, "old").unwrap();
        let mut new = NewFile::named(&link).unwrap();
        new.write(b"new").unwrap();
        new.replace(Durability::PowerCut).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        for other in [folder.path(), Path::new("/dev/null"), Path::new("/dev/stdin")] {
            if !other.is_file() {
                let error = NewFile::named(other).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{}", other.display());
            }
        }
        assert!(NewFile::named(&folder.path().join("a/b")).is_err());
        assert!(NewFile::named(&folder.path().join("fresh")).is_ok());
    }

    #[test]
    fn removing_what_is_not_there_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        for durability in BOTH {
            replace(&path, b"", durability).unwrap();
            remove(&path, durability).unwrap();
            remove(&path, durability).unwrap();
            assert!(!path.exists());
        }
        assert!(remove(folder.path(), Durability::PowerCut).is_err(), "a folder is no file");
    }

    #[test]
    fn a_bare_name_is_in_the_working_directory() {
        assert_eq!(folder_of(Path::new("site.toml")), Path::new("."));
        assert_eq!(folder_of(Path::new("/site.toml")), Path::new("/"));
    }
}

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::durability::folder_of;
use crate::private;

/// How a device is called.
pub(crate) const DEVICE: &str = "a device";

/// Why a file is refused that stands where one of ours belongs. It is the inner error of the
/// [`io::Error`]: see [`refusal`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Opening it, or reading it, could wait for ever, or leads elsewhere.
    #[error("it is {0}, not a regular file")]
    NotRegular(&'static str),
    /// Somebody else could change it at any moment.
    #[error("it belongs to the user {0}")]
    Foreign(u32),
    /// No file of ours is that long; it may be sparse.
    #[error("it is {len} bytes long; {most} are the most")]
    TooLong {
        /// How long it is, in bytes.
        len: u64,
        /// How long it may be, in bytes.
        most: u64,
    },
    /// It wasn't read to its end, which it may not have.
    #[error("it has more than {}", size(*.0))]
    Longer(u64),
}

fn size(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{bytes} bytes"),
        mib => format!("{mib} MiB"),
    }
}

impl Refusal {
    /// What an admin can do about it.
    pub fn hint(&self, path: &Path) -> String {
        match self {
            Self::NotRegular("a folder") => format!("move it away: mv {0} {0}.old", path.display()),
            _ => format!("see what it is, then remove it: rm {}", path.display()),
        }
    }
}

/// Why the file was refused, where that is the reason of `error`.
pub fn refusal(error: &io::Error) -> Option<&Refusal> {
    error.get_ref()?.downcast_ref()
}

/// Opens a file that the program keeps, as `options` say. Whatever has been put in its place, this
/// waits for nothing and follows no link: what isn't a regular file of ours, of root's or of its
/// folder's owner is refused. A new file has mode 0600, or 0640 in a [shared](private::SHARED) folder.
///
/// # Errors
///
/// A [`Refusal`], or the failed call's own.
pub fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    open_regular(path, options.mode(private::file_mode(folder_of(path))))
}

fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let opened = options.custom_flags(flags.bits().cast_signed()).open(path);
    // A link, a pipe without a reader, a socket or a folder fails by an error that says less.
    let file =
        opened.map_err(|e| match path.symlink_metadata().ok().and_then(|m| irregular(&m)) {
            Some(kind) => refuse(Refusal::NotRegular(kind)),
            None => e,
        })?;
    let metadata = file.metadata()?;
    if let Some(kind) = irregular(&metadata) {
        return Err(refuse(Refusal::NotRegular(kind)));
    }
    let owner = metadata.uid();
    let is_ours = owner == rustix::process::geteuid().as_raw() || owner == 0;
    // The owner of the folder could put any file there.
    if !is_ours && folder_of(path).metadata()?.uid() != owner {
        return Err(refuse(Refusal::Foreign(owner)));
    }
    Ok(file)
}

/// Opens such a file to be read.
///
/// # Errors
///
/// As of [`open`].
pub fn open_to_read(path: &Path) -> io::Result<File> {
    open_regular(path, File::options().read(true))
}

/// Opens such a file to be read, if it has `most` bytes or fewer.
///
/// # Errors
///
/// As of [`open`].
pub fn open_bounded(path: &Path, most: u64) -> io::Result<File> {
    let file = open_to_read(path)?;
    check_len(&file, most)?;
    Ok(file)
}

/// Refuses an open file that is longer than `most` bytes.
///
/// # Errors
///
/// A [`Refusal`], or the failed call's own.
pub fn check_len(file: &File, most: u64) -> io::Result<()> {
    match file.metadata()?.len() {
        len if len > most => Err(refuse(Refusal::TooLong { len, most })),
        _ => Ok(()),
    }
}

/// Reads all of such a file, which has `most` bytes or fewer.
///
/// # Errors
///
/// As of [`open`].
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_bounded(path, most)?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn refuse(why: Refusal) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, why)
}

/// What it is, unless it is a regular file.
pub(crate) fn irregular(metadata: &std::fs::Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    match () {
        () if kind.is_file() => None,
        () if kind.is_dir() => Some("a folder"),
        () if kind.is_symlink() => Some("a symbolic link"),
        () if kind.is_fifo() => Some("a named pipe"),
        () if kind.is_socket() => Some("a socket"),
        () => Some(DEVICE),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{chown, symlink};

    use provost_tests::{missing, skip_if};

    use super::*;

    #[track_caller]
    fn refused<T: std::fmt::Debug>(result: io::Result<T>) -> Refusal {
        refusal(&result.unwrap_err()).expect("it is refused").clone()
    }

    #[test]
    fn what_is_no_regular_file_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), kind, mode, 0).unwrap();
        std::fs::write(at("file"), "text").unwrap();
        symlink(at("file"), at("link")).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let cases = [
            ("pipe", "a named pipe"),
            ("link", "a symbolic link"),
            ("folder", "a folder"),
            ("socket", "a socket"),
        ];
        for (name, what) in cases {
            assert_eq!(refused(read(&at(name), 100)), Refusal::NotRegular(what));
            for read_too in [false, true] {
                let mut options = File::options();
                let options = options.write(true).create(true).read(read_too);
                assert_eq!(refused(open(&at(name), options)), Refusal::NotRegular(what));
            }
        }
        assert_eq!(read(&at("file"), 4).unwrap(), b"text");
        assert_eq!(read(&at("none"), 4).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_sparse_file_costs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        File::create(&path).unwrap().set_len(20 << 30).unwrap();
        let expected = Refusal::TooLong { len: 20 << 30, most: 1 << 20 };
        assert_eq!(refused(read(&path, 1 << 20)), expected);
    }

    #[test]
    fn a_file_of_somebody_else_is_refused_unless_the_folder_is_theirs() {
        skip_if(missing::root("give a file away"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        std::fs::write(&path, "text").unwrap();
        chown(&path, Some(65534), None).unwrap();
        assert_eq!(refused(read(&path, 100)), Refusal::Foreign(65534));
        chown(folder.path(), Some(65534), None).unwrap();
        assert_eq!(read(&path, 100).unwrap(), b"text");
    }
}

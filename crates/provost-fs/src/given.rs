//! Files that others have written for a program: configurations, secrets, the system's own. They may be
//! links, and belong to anybody.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::open::{DEVICE, Refusal, check_len, irregular, refuse};

/// Opens such a file to be read. This waits for nothing: what isn't a regular file or a device is refused.
///
/// # Errors
///
/// A [`Refusal`], or the failed call's own.
pub fn open_given(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let opened = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    let is = match &opened {
        Ok(file) => file.metadata(),
        // Opening a socket fails by an error that says less.
        Err(_) => path.metadata(),
    };
    match is.ok().and_then(|is| irregular(&is)) {
        Some(kind) if kind != DEVICE => Err(refuse(Refusal::NotRegular(kind))),
        _ => opened,
    }
}

/// Reads all of such a file, which has `most` bytes or fewer.
///
/// # Errors
///
/// As of [`open_given`].
pub fn read_given(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    whole(open_given(path)?, most)
}

/// The same of a text.
///
/// # Errors
///
/// As of [`open_given`], and [`InvalidData`](ErrorKind::InvalidData) where it isn't UTF-8.
pub fn read_given_text(path: &Path, most: u64) -> io::Result<String> {
    text(read_given(path, most)?)
}

/// The same of a text that a command line names, which may be a pipe: it is read to its end.
///
/// # Errors
///
/// As of [`read_given_text`].
pub fn read_input(path: &Path, most: u64) -> io::Result<String> {
    text(whole(File::open(path)?, most)?)
}

fn whole(file: File, most: u64) -> io::Result<Vec<u8>> {
    check_len(&file, most)?;
    let mut bytes = Vec::new();
    // What isn't a regular file has no length, and one may grow meanwhile.
    file.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(refuse(Refusal::Longer(most))),
        false => Ok(bytes),
    }
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it isn't UTF-8"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::refusal;

    #[test]
    fn a_given_file_may_be_a_link_but_nothing_that_never_ends() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        symlink("file", at("link")).unwrap();
        assert_eq!(read_given_text(&at("link"), 4).unwrap(), "text");
        assert_eq!(read_input(&at("link"), 4).unwrap(), "text");
        assert_eq!(read_given(Path::new("/dev/null"), 4).unwrap(), b"");
        let kind = rustix::fs::FileType::Fifo;
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), kind, mode, 0).unwrap();
        symlink("pipe", at("to-pipe")).unwrap();
        File::create(at("sparse")).unwrap().set_len(20 << 30).unwrap();
        for name in ["pipe", "to-pipe", "sparse", ".", "file", "/dev/zero"] {
            let error = read_given(&at(name), 3).unwrap_err();
            assert!(refusal(&error).is_some(), "{name}: {error}");
        }
        let endless = read_given(Path::new("/dev/zero"), 1 << 20).unwrap_err();
        assert_eq!(endless.to_string(), "it has more than 1 MiB");
        assert_eq!(read_given(&at("none"), 3).unwrap_err().kind(), ErrorKind::NotFound);
    }
}

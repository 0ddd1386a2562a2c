//! Reading a backup; and that it is whole, before anything is made of it.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use provost_steplog::wording::error_chain;
use sha2::{Digest, Sha256};
use zstd::stream::Decoder;

use super::Head;
use super::archive::{Hashing, line};
use super::layout::{FORMAT, HEAD, SUMS};
use crate::failure::Failure;

/// An archive that is read.
pub(super) type Backed = tar::Archive<Decoder<'static, BufReader<File>>>;

/// Opens the archive.
pub(super) fn open(path: &Path) -> Result<Backed, Failure> {
    let file = File::open(path).map_err(|e| {
        let error = format!("reading {}: {e}", path.display());
        Failure::new(error, "name the file that provostctl backup has written: --from FILE")
    })?;
    Ok(tar::Archive::new(Decoder::new(file).map_err(|e| damaged(path, &e))?))
}

/// Why the archive can't be used.
pub(super) fn damaged(path: &Path, why: &io::Error) -> Failure {
    let error = format!("reading {}: it is no whole backup: {}", path.display(), error_chain(why));
    Failure::new(error, "use another backup; nothing was changed")
}

/// Reads all of it. Returns what it says of itself.
pub(super) fn verify(path: &Path) -> Result<Head, Failure> {
    let mut archive = open(path)?;
    let head = read(&mut archive).map_err(|e| damaged(path, &e))?;
    // The checksum of what is compressed stands after the last entry, and after the padding.
    let mut rest = BufReader::new(archive.into_inner()).bytes();
    let other = rest.find(|byte| !matches!(byte, Ok(0)));
    if let Some(other) = other {
        let why = other.map_or_else(|e| e, |_| io::Error::other("something follows its end"));
        return Err(damaged(path, &why));
    }
    let head: Head =
        toml::from_str(&head).map_err(|e| damaged(path, &io::Error::other(e.message())))?;
    if head.format != FORMAT {
        let error = format!("{} has format {}", path.display(), head.format);
        let hint = format!("restore it by provostctl {} or newer", head.version);
        return Err(Failure::new(error, hint));
    }
    Ok(head)
}

fn read(archive: &mut Backed) -> io::Result<String> {
    let (mut sums, mut expected, mut head) = (String::new(), None, None);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.to_string_lossy().into_owned();
        if expected.is_some() {
            return Err(io::Error::other(format!("{name} follows its end")));
        }
        if !entry.header().entry_type().is_file() {
            continue;
        }
        if name == SUMS || name == HEAD {
            let mut text = String::new();
            entry.read_to_string(&mut text)?;
            if name == SUMS {
                expected = Some(text);
                continue;
            }
            sums.push_str(&line(&name, Sha256::digest(&text).as_slice()));
            head = Some(text);
            continue;
        }
        let mut content = Hashing { inner: entry, hasher: Sha256::new(), len: 0 };
        io::copy(&mut content, &mut io::sink())?;
        sums.push_str(&line(&name, content.hasher.finalize().as_slice()));
    }
    match (expected, head) {
        (Some(expected), Some(head)) if expected == sums => Ok(head),
        (Some(_), _) => Err(io::Error::other(format!("its files aren't those of {SUMS}"))),
        (None, _) => Err(io::Error::other(format!("its end, {SUMS}, is missing"))),
    }
}

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::thread;

use ruzstd::decoding::StreamingDecoder;
use tar::EntryType;

use crate::{FileEntry, IncomingFile, IncomingFileError, Manifest};

/// How far back the pack may refer, in bytes: the node needs this much memory for it.
const WINDOW: u64 = 1 << 20;
/// How much goes from thread to thread at once, in bytes.
const PIECE: usize = 64 * 1024;
/// The longest path in the pack, as [`check_path`](crate::check_path) allows, and its end.
const LONGEST_PATH: u64 = 1024 + 1;

/// Why a pack was refused.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// It could not be read, or isn't an archive.
    #[error("unpacking the pack")]
    Read(#[from] io::Error),
    /// It isn't compressed as publish does it.
    #[error("unpacking the pack")]
    Compression(#[source] Box<dyn Error + Send + Sync>),
    /// It holds a file that the manifest doesn't name.
    #[error("unpacking the pack: {path:?} isn't in the manifest")]
    Unknown {
        /// Its path in the pack.
        path: String,
    },
    /// It holds a file twice.
    #[error("unpacking the pack: {path} is in it twice")]
    Twice {
        /// The file.
        path: String,
    },
    /// It holds a link, a device or the like.
    #[error("unpacking the pack: {path:?} isn't a regular file but {kind:?}")]
    NotAFile {
        /// Its path in the pack.
        path: String,
        /// What it is.
        kind: EntryType,
    },
    /// It doesn't hold a file of the manifest.
    #[error("unpacking the pack: {path} isn't in it")]
    Missing {
        /// The file.
        path: String,
    },
    /// A file couldn't be put in its place.
    #[error(transparent)]
    IncomingFile(#[from] IncomingFileError),
}

impl UnpackError {
    /// Whether the node's disk is the cause, not the pack.
    pub fn is_disk(&self) -> bool {
        matches!(self, Self::IncomingFile(IncomingFileError::Disk { .. }))
    }

    fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Read(e) if e.kind() == io::ErrorKind::BrokenPipe)
    }

    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::IncomingFile(e) => e.hint(),
            _ => "publish again, which writes the pack anew; if it comes back, look for a proxy \
                  that alters it"
                .to_owned(),
        }
    }
}

/// Unpacks `pack` into the folder `into`: exactly the manifest's files, each verified while it
/// streams and usable only after that. After an error `into` holds nothing that could be run but
/// files of the manifest.
///
/// One thread decompresses, another one writes the files.
pub fn unpack(pack: impl Read + Send, manifest: &Manifest, into: &Path) -> Result<(), UnpackError> {
    let (archive, plain) = io::pipe()?;
    // As much as the pipe holds: with less, the threads wait for each other more often.
    let archive = BufReader::with_capacity(PIECE, archive);
    let mut plain = BufWriter::with_capacity(PIECE, plain);
    thread::scope(|scope| {
        let decompressing = scope.spawn(move || -> Result<(), UnpackError> {
            let pack = pack.take(manifest.pack.size);
            let mut decoder = StreamingDecoder::new_with_max_window_size(pack, WINDOW)
                .map_err(|e| UnpackError::Compression(e.into()))?;
            io::copy(&mut decoder, &mut plain)?;
            Ok(plain.flush()?)
        });
        let placed = place(archive, manifest, into);
        placed.map_err(|shown| match decompressing.join() {
            // A fault of the pack appears in the archive as an early end.
            Ok(Err(e)) if !e.is_broken_pipe() => e,
            _ => shown,
        })
    })
}

/// Puts the files of `archive` in their places.
fn place(archive: impl Read, manifest: &Manifest, into: &Path) -> Result<(), UnpackError> {
    let mut archive = tar::Archive::new(archive);
    let mut expected: BTreeMap<&str, Option<&FileEntry>> =
        manifest.files.iter().map(|file| (file.path.as_str(), Some(file))).collect();
    let mut long_path = None;
    let mut buffer = vec![0; PIECE];
    // Raw: the archive's extensions would be read into memory whole, whatever their size.
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        if kind == EntryType::GNULongName && long_path.is_none() && entry.size() <= LONGEST_PATH {
            let mut path = Vec::new();
            entry.read_to_end(&mut path)?;
            long_path = Some(path);
            continue;
        }
        let path = long_path.take().unwrap_or_else(|| entry.path_bytes().into_owned());
        let path = String::from_utf8_lossy(path.strip_suffix(b"\0").unwrap_or(&path)).into_owned();
        if kind != EntryType::Regular {
            return Err(UnpackError::NotAFile { path, kind });
        }
        let Some(file) = expected.get_mut(path.as_str()) else {
            return Err(UnpackError::Unknown { path });
        };
        let Some(file) = file.take() else { return Err(UnpackError::Twice { path }) };
        copy(&mut entry, IncomingFile::new(file, into)?, &mut buffer)?;
    }
    match expected.into_values().flatten().next() {
        Some(file) => Err(UnpackError::Missing { path: file.path.clone() }),
        None => Ok(()),
    }
}

fn copy(from: &mut impl Read, mut to: IncomingFile, buffer: &mut [u8]) -> Result<(), UnpackError> {
    loop {
        match from.read(buffer) {
            Ok(0) => return Ok(to.finish()?),
            Ok(read) => to.write_all(&buffer[..read])?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e.into()),
        }
    }
}

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use provost_fs::NewFile;
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};
use zstd::stream::Encoder;

use super::layout::SUMS;
use super::owner::Names;

/// How hard to compress: zstd's own default.
const LEVEL: i32 = 3;

/// The archive on its way to its name.
pub(super) struct Archive {
    tar: Builder<Encoder<'static, NewFile>>,
    /// Of each file, as sha256sum(1) writes and checks it.
    sums: String,
    names: Names,
}

impl Archive {
    pub(super) fn new(file: NewFile) -> io::Result<Self> {
        let mut encoder = Encoder::new(file, LEVEL)?;
        encoder.include_checksum(true)?;
        Ok(Self { tar: Builder::new(encoder), sums: String::new(), names: Names::read()? })
    }

    /// Adds a file with this content.
    pub(super) fn bytes(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o600);
        header.set_size(bytes.len() as u64);
        header.set_mtime(provost_record::now().as_second().unsigned_abs());
        self.sums.push_str(&line(name, Sha256::digest(bytes).as_slice()));
        self.tar.append_data(&mut header, name, bytes)
    }

    /// Adds the file, the link or the folder at `path`; not what is in the folder.
    pub(super) fn add(&mut self, name: &str, path: &Path) -> io::Result<()> {
        let metadata = path.symlink_metadata()?;
        let mut header = self.header(&metadata)?;
        if metadata.is_symlink() {
            return self.tar.append_link(&mut header, name, path.read_link()?);
        }
        if metadata.is_dir() {
            return self.tar.append_data(&mut header, name, io::empty());
        }
        let file = File::open(path)?;
        let mut content =
            Hashing { inner: file.take(metadata.len()), hasher: Sha256::new(), len: 0 };
        self.tar.append_data(&mut header, name, &mut content)?;
        if content.len != metadata.len() {
            return Err(io::Error::other(format!("{} has become shorter", path.display())));
        }
        self.sums.push_str(&line(name, content.hasher.finalize().as_slice()));
        Ok(())
    }

    fn header(&self, metadata: &Metadata) -> io::Result<Header> {
        let mut header = Header::new_gnu();
        header.set_metadata(metadata);
        if let Some(name) = self.names.user(metadata.uid()) {
            header.set_username(name)?;
        }
        if let Some(name) = self.names.group(metadata.gid()) {
            header.set_groupname(name)?;
        }
        Ok(header)
    }

    /// Ends the archive.
    pub(super) fn finish(mut self) -> io::Result<NewFile> {
        let sums = std::mem::take(&mut self.sums);
        self.bytes(SUMS, sums.as_bytes())?;
        self.tar.into_inner()?.finish()
    }
}

/// The line of a file in `SHA256SUMS`.
pub(super) fn line(name: &str, sha256: &[u8]) -> String {
    format!("{}  {name}\n", hex::encode(sha256))
}

/// What is read, and its digest.
pub(super) struct Hashing<R> {
    pub(super) inner: R,
    pub(super) hasher: Sha256,
    pub(super) len: u64,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        self.len += read as u64;
        Ok(read)
    }
}

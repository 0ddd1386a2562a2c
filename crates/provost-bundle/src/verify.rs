use std::io::{self, Write};

use sha2::{Digest as _, Sha256};

use crate::Digest;

/// A writer that checks what is written through it: more than the expected size is an error at
/// once, wrong content at the end.
#[derive(Debug)]
pub struct Verifying<W> {
    inner: W,
    file: String,
    size: u64,
    sha256: Digest,
    seen: u64,
    hasher: Sha256,
}

/// A file that doesn't match its manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("verifying {file}: expected {expected}, got {got}")]
pub struct Mismatch {
    /// The file.
    pub file: String,
    /// Size or digest in the manifest.
    pub expected: String,
    /// Size or digest of the file.
    pub got: String,
}

impl Mismatch {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        format!(
            "publish again, which writes {} anew; if it comes back, look for a proxy that alters it",
            self.file
        )
    }
}

impl<W: Write> Verifying<W> {
    /// Checks that `size` bytes with the digest `sha256` go through to `inner`; `file` is the
    /// name in errors.
    pub fn new(inner: W, file: impl Into<String>, size: u64, sha256: Digest) -> Self {
        Self { inner, file: file.into(), size, sha256, seen: 0, hasher: Sha256::new() }
    }

    /// Counts what `inner` holds already from an earlier try.
    pub fn note(&mut self, bytes: &[u8]) -> Result<(), Mismatch> {
        self.check_room(bytes)?;
        self.hasher.update(bytes);
        self.seen += bytes.len() as u64;
        Ok(())
    }

    fn check_room(&self, bytes: &[u8]) -> Result<(), Mismatch> {
        match bytes.len() as u64 > self.size - self.seen {
            true => Err(self.wrong_size("more".to_owned())),
            false => Ok(()),
        }
    }

    /// The writer, if all was written and is as expected.
    pub fn finish(self) -> Result<W, Mismatch> {
        if self.seen != self.size {
            return Err(self.wrong_size(format!("{} bytes", self.seen)));
        }
        let got = Digest::from_hasher(self.hasher);
        if got != self.sha256 {
            let expected = format!("SHA-256 {}", self.sha256);
            return Err(Mismatch { file: self.file, expected, got: format!("SHA-256 {got}") });
        }
        Ok(self.inner)
    }

    fn wrong_size(&self, got: String) -> Mismatch {
        Mismatch { file: self.file.clone(), expected: format!("{} bytes", self.size), got }
    }
}

impl<W: Write> Write for Verifying<W> {
    /// Fails with a [`Mismatch`] inside the [`io::Error`] as soon as there is too much.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check_room(bytes).map_err(io::Error::other)?;
        let written = self.inner.write(bytes)?;
        self.note(&bytes[..written]).map_err(io::Error::other)?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(bytes: &[&[u8]]) -> Result<Vec<u8>, String> {
        let mut writer = Verifying::new(Vec::new(), "syslog", 5, Digest::of(b"hello"));
        for part in bytes {
            writer.write_all(part).map_err(|e| e.to_string())?;
        }
        writer.finish().map_err(|e| e.to_string())
    }

    #[test]
    fn only_the_expected_bytes_go_through() {
        assert_eq!(through(&[b"he", b"llo"]).unwrap(), b"hello");
        assert_eq!(
            through(&[b"hell"]).unwrap_err(),
            "verifying syslog: expected 5 bytes, got 4 bytes"
        );
        assert_eq!(
            through(&[b"hello", b"!"]).unwrap_err(),
            "verifying syslog: expected 5 bytes, got more"
        );
        let mut rest = Verifying::new(Vec::new(), "syslog", 5, Digest::of(b"hello"));
        rest.note(b"hel").unwrap();
        rest.write_all(b"lo").unwrap();
        assert_eq!(rest.finish().unwrap(), b"lo");
        assert!(through(&[b"hellO"]).unwrap_err().contains(&Digest::of(b"hellO").to_string()));
    }
}

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use provost_bundle::Digest;
use tokio::task::spawn_blocking;

use crate::listener::refusal::Refusal;
use crate::published::serve_immutable;

/// The program that nodes run, as a file of this machine.
pub(crate) struct NodeProgram {
    path: PathBuf,
    /// The state of the file that was read last, and its digest.
    known: Mutex<Option<(Stamp, Digest)>>,
}

/// What distinguishes one state of a file from another.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl From<Metadata> for Stamp {
    fn from(file: Metadata) -> Self {
        let changed = (file.ctime(), file.ctime_nsec());
        Self { inode: file.ino(), size: file.size(), changed }
    }
}

impl NodeProgram {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, known: Mutex::default() }
    }

    /// The digest of the file as it is now. The file is read only if it has changed.
    pub(crate) async fn digest(self: &Arc<Self>) -> Result<Digest, Refusal> {
        let this = Arc::clone(self);
        let read = spawn_blocking(move || this.read()).await.map_err(io::Error::other);
        read.and_then(|read| read).map_err(|e| {
            Refusal::new(
                StatusCode::NOT_FOUND,
                format!("serving the program for nodes: reading {}: {e}", self.path.display()),
                "on the management node: install the static provost there, or set binary under \
                 [node] in provostd.toml",
            )
        })
    }

    fn read(&self) -> io::Result<Digest> {
        let stamp = Stamp::from(std::fs::metadata(&self.path)?);
        // Other requests wait for this digest instead of reading the file as well.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, digest)) = known.filter(|(known, _)| *known == stamp) {
            return Ok(digest);
        }
        let digest = Digest::of(&std::fs::read(&self.path)?);
        *known = Some((stamp, digest));
        Ok(digest)
    }

    /// Serves the file, if it has this digest.
    pub(crate) async fn serve(
        self: &Arc<Self>,
        sha256: &str,
        request: Request<Body>,
    ) -> Result<Response, Refusal> {
        let digest = self.digest().await?;
        let another = || {
            Refusal::new(
                StatusCode::NOT_FOUND,
                format!("the program for nodes is a different one, {digest}"),
                "print the installer's script again: provostctl snippet",
            )
        };
        if digest.to_string() != sha256 {
            return Err(another());
        }
        let served = serve_immutable(&self.path, sha256, request).await;
        Ok(served.map_err(|_| another())?.into_response())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_was_replaced_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("provost");
        let program = NodeProgram::new(path.clone());
        assert!(program.read().is_err());
        for text in ["one", "two"] {
            let next = folder.path().join("next");
            std::fs::write(&next, text).unwrap();
            std::fs::rename(&next, &path).unwrap();
            for _ in 0..2 {
                assert_eq!(program.read().unwrap(), Digest::of(text.as_bytes()));
            }
        }
    }
}

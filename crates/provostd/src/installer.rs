//! What an installer needs to begin with: the nodes' program, the address where it is served, and
//! the publisher's key.

use std::fs::Metadata;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use provost_bundle::{Digest, Manifest};
use serde::Serialize;
use tokio::task::spawn_blocking;

use crate::App;
use crate::bundle::serve_immutable;
use crate::refusal::Refusal;

/// Addresses of documentation (RFC 5737, RFC 3849): nothing is sent there.
const FAR_V4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const FAR_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);

/// The program that nodes run, as a file of this machine.
pub(crate) struct NodeProgram {
    path: PathBuf,
    /// Which file was read last, and its digest.
    known: Mutex<Option<(Stamp, Digest)>>,
}

/// What tells one state of a file from another.
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

    /// The digest of the file as it is now. It is read only where it has changed.
    async fn digest(self: &Arc<Self>) -> Result<Digest, Refusal> {
        let this = Arc::clone(self);
        let read = spawn_blocking(move || this.read()).await.map_err(io::Error::other);
        read.and_then(|read| read).map_err(|e| {
            Refusal::new(
                StatusCode::NOT_FOUND,
                format!("there is no program for nodes: reading {}: {e}", self.path.display()),
                "on the management node: put the static provost there, or set binary under [node] \
                 in provostd.toml",
            )
        })
    }

    fn read(&self) -> io::Result<Digest> {
        let stamp = Stamp::from(std::fs::metadata(&self.path)?);
        // Whoever comes meanwhile waits for the digest instead of reading as well.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, digest)) = known.filter(|(known, _)| *known == stamp) {
            return Ok(digest);
        }
        let digest = Digest::of(&std::fs::read(&self.path)?);
        *known = Some((stamp, digest));
        Ok(digest)
    }

    /// Serves the file as the one that has the digest `wanted`, if it is that.
    pub(crate) async fn serve(
        self: &Arc<Self>,
        wanted: &str,
        request: Request<Body>,
    ) -> Result<Response, Refusal> {
        let digest = self.digest().await?;
        let another = || {
            Refusal::new(
                StatusCode::NOT_FOUND,
                format!("the program for nodes is another one, {digest}"),
                "print the installer's script again: provostctl snippet",
            )
        };
        if digest.to_string() != wanted {
            return Err(another());
        }
        let served = serve_immutable(&self.path, wanted, request).await;
        Ok(served.map_err(|_| another())?.into_response())
    }
}

/// What a script for an installer has to know.
#[derive(Serialize)]
pub(crate) struct Needs {
    /// Where nodes reach this daemon, as far as it knows.
    server: Option<String>,
    /// What nodes trust.
    key: String,
    /// Of the program at `/bin/SHA256/provost`.
    sha256: Digest,
}

impl Needs {
    pub(crate) async fn of(app: &App) -> Result<Self, Refusal> {
        let path = app.www.join("manifest.toml");
        let unpublished = |e: &dyn std::fmt::Display| {
            Refusal::new(
                StatusCode::NOT_FOUND,
                format!("reading who has signed {}: {e}", path.display()),
                "publish first: provostctl publish",
            )
        };
        let text = tokio::fs::read(&path).await.map_err(|e| unpublished(&e))?;
        let manifest = Manifest::parse(&text).map_err(|e| unpublished(&e))?;
        let sha256 = app.node_program.digest().await?;
        Ok(Self { server: address(app.nodes_at).ok(), key: manifest.key, sha256 })
    }
}

/// Where others reach what listens at `bound`: that address, or where it is all of this machine's,
/// the one that the way out of here begins with.
fn address(bound: SocketAddr) -> io::Result<String> {
    let (here, far): (SocketAddr, SocketAddr) = match bound {
        SocketAddr::V4(_) => ((Ipv4Addr::UNSPECIFIED, 0).into(), (FAR_V4, 9).into()),
        SocketAddr::V6(_) => ((Ipv6Addr::UNSPECIFIED, 0).into(), (FAR_V6, 9).into()),
    };
    let mut at = bound;
    if bound.ip().is_unspecified() {
        let socket = UdpSocket::bind(here)?;
        socket.connect(far)?;
        at.set_ip(socket.local_addr()?.ip());
    }
    Ok(format!("http://{at}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_as_it_is_bound() {
        assert_eq!(address(([10, 0, 0, 1], 8480).into()).unwrap(), "http://10.0.0.1:8480");
        let v6 = SocketAddr::from((Ipv6Addr::LOCALHOST, 80));
        assert_eq!(address(v6).unwrap(), "http://[::1]:80");
        if let Ok(told) = address(([0, 0, 0, 0], 8480).into()) {
            assert!(!told.contains("0.0.0.0") && told.ends_with(":8480"), "{told}");
        }
    }

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

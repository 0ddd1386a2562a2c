//! What every daemon needs first: its folder, its listeners, its file descriptors.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use provost_fs::Durability;
use provost_store::location::RESTORING;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;
use tokio::net::{TcpListener, TcpSocket};

use crate::error::DaemonError;
use crate::listener::connections::ConnectionLimits;

/// How many connections the nodes' listeners serve at once, at most, all together. Each uses a file descriptor, and one
/// more for the file that is sent.
const NODE_CONNECTIONS: usize = 4096;
/// How many clients without a place are told at the same time when to come again, at most: each uses a file
/// descriptor until its request is there.
const TOLD: usize = 16_384;
/// How many connections each of the admins' listeners serves at once.
pub(crate) const ADMIN_CONNECTIONS: ConnectionLimits = ConnectionLimits::whole(256);
/// File descriptors for all connections.
const FILES: u64 = OTHER_FILES + (2 * NODE_CONNECTIONS + TOLD) as u64;
/// File descriptors for what isn't a node's connection: the store, admins, xCAT's nodes.
const OTHER_FILES: u64 = 2048;
/// How many clients may wait in the kernel's queue of a listener. Above that the kernel drops their
/// first packet, which costs each a second.
const BACKLOG: u32 = 4096;

/// What a daemon locks in its folder as long as it runs.
pub(super) const LOCK: &str = "provostd.lock";

/// Creates the folder `data` where there is none, and locks it for this daemon.
pub(crate) fn lock(data: &Path) -> Result<File, DaemonError> {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(data);
    created.map_err(DaemonError::file("creating the folder", data))?;
    let path = data.join(LOCK);
    let opened = OpenOptions::new().create(true).append(true).open(&path);
    let lock = opened.map_err(DaemonError::file("opening", &path))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(DaemonError::Busy(data.to_owned())),
        Err(TryLockError::Error(e)) => return Err(DaemonError::file("locking", &path)(e)),
    }
    if data.join(RESTORING).exists() {
        return Err(DaemonError::HalfRestored(data.to_owned()));
    }
    // A program that waits for this daemon must not read the address of an earlier one.
    let stale = data.join("listen.json");
    provost_fs::remove(&stale, Durability::Crash).map_err(DaemonError::file("removing", &stale))?;
    Ok(lock)
}

/// Binds a listener to the address that the configuration has under `key`.
pub(crate) fn bind(
    key: &'static str,
    address: SocketAddr,
) -> Result<(TcpListener, SocketAddr), DaemonError> {
    let failed = |source| DaemonError::Listen { key, address, source };
    let listener = listen(address).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // As TcpListener::bind does: the ports of connections that have just ended are free.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Writes a file that is made anew at each start.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut json = serde_json::to_vec(value)?;
    json.push(b'\n');
    provost_fs::replace(path, &json, Durability::Crash)
}

/// The connections of all nodes' listeners that `files` file descriptors are enough for.
pub(crate) fn node_connections(files: u64) -> ConnectionLimits {
    let files = files.saturating_sub(OTHER_FILES.min(files / 2)) as usize;
    let served = NODE_CONNECTIONS.min(files / 4).max(1);
    ConnectionLimits::shared(served, TOLD.min(files.saturating_sub(2 * served)).max(1))
}

/// Asks for as many file descriptors as the connection limits need. Returns how many there are.
pub(crate) fn raise_file_limit() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let needed = maximum.map_or(FILES, |most| most.min(FILES));
    if current.is_some_and(|current| current < needed)
        && let Err(e) = setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum })
    {
        tracing::warn!("raising the limit of open files to {needed}: {e}");
        return current.unwrap_or(needed);
    }
    needed
}

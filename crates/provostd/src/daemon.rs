use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt;
use provost_store::{Sqlite, Store, StoreError};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::config::{Config, StoreKind};
use crate::door::{self, Stop};
use crate::installer::NodeProgram;
use crate::silence::Silence;
use crate::xcat::{self, TlsError, Xcat};
use crate::{App, admin_door, nodes_door};

/// How many nodes are served at once; each costs a file descriptor, and one more for what is
/// sent.
const NODE_SEATS: usize = 8192;
/// How many admins' connections are served at once, at each of their doors.
const ADMIN_SEATS: usize = 256;
/// File descriptors for all that.
const FILES: u64 = 32_768;
/// How long requests that are under way may take at the end.
const LAST_REQUESTS: Duration = Duration::from_secs(3);

/// Where the daemon listens: `DATA/listen.json`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Addresses {
    /// The nodes' door.
    pub nodes: SocketAddr,
    /// The admins' door.
    pub admin: SocketAddr,
    /// Where nodes of xCAT's say how they are, if they can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitor: Option<SocketAddr>,
    /// Where they get what they run over TLS, if they can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xcatd: Option<SocketAddr>,
}

/// A daemon that serves.
pub struct Daemon {
    addresses: Addresses,
    socket: PathBuf,
    listen_file: PathBuf,
    /// The doors, and the watch over silent nodes.
    tasks: JoinSet<()>,
    stop: watch::Sender<bool>,
    // Held until everything above is gone.
    _lock: File,
}

/// Why the daemon can't serve.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// A file or folder.
    #[error("{doing} {}: {source}", path.display())]
    File {
        /// What was tried, a gerund.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Another daemon has the data.
    #[error("another provostd works on {}", .0.display())]
    Busy(PathBuf),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The signals that end it.
    #[error("listening for signals: {0}")]
    Signals(io::Error),
    /// The certificate for nodes of xCAT's.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// An address.
    #[error("listening on {address} ({key}): {source}")]
    Listen {
        /// The configuration's key.
        key: &'static str,
        /// The address.
        address: SocketAddr,
        /// Why it failed.
        source: io::Error,
    },
}

impl DaemonError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::File { source, .. } if source.kind() == io::ErrorKind::InvalidInput => {
                "a socket's path has at most 107 bytes: choose a shorter `data`".into()
            }
            Self::File { .. } => {
                "see that provostd's user may write to the folder `data` of provostd.toml".into()
            }
            Self::Busy(data) => {
                format!("stop it (fuser -v {}), or choose another `data`", data.display())
            }
            Self::Store(error) => error.hint().into(),
            Self::Signals(_) => "see the limits of this process (ulimit -n)".into(),
            Self::Tls(_) => {
                "see `tls_cert` and `tls_key` under [xcat] of provostd.toml: PEM files that \
                             provostd's user may read"
                    .into()
            }
            Self::Listen { key, address, source } => match source.kind() {
                io::ErrorKind::AddrInUse => format!(
                    "see who has the port (ss -ltnp sport = :{}), or change `{key}`",
                    address.port()
                ),
                _ => format!("set `{key}` in provostd.toml to an address of this machine"),
            },
        }
    }
}

impl Daemon {
    /// Opens the store and the doors. When this returns, all doors answer.
    pub async fn start(config: &Config) -> Result<Self, DaemonError> {
        let data = &config.data;
        let lock = take(data)?;
        let store: Arc<dyn Store> = match config.store {
            StoreKind::Sqlite => Arc::new(Sqlite::open(data)?),
        };
        raise_file_limit();
        let (nodes, nodes_at) = listen("listen", config.listen).await?;
        let (admin, admin_at) = listen("admin", config.admin).await?;
        let monitor = match config.xcat.monitor {
            Some(address) => Some(listen("xcat.monitor", address).await?),
            None => None,
        };
        let xcatd = match &config.xcat.xcatd {
            Some(xcatd) => {
                Some((xcat::acceptor(xcatd)?, listen("xcat.xcatd", xcatd.listen).await?))
            }
            None => None,
        };
        let (stop, stopped) = Stop::new();
        let app = Arc::new(App {
            silence: Silence::new(Arc::clone(&store), config.lost_after.duration()),
            store,
            www: config.www.clone(),
            node_program: Arc::new(NodeProgram::new(config.node.binary.clone())),
            nodes_at,
            guard: config.guard,
            bodies: Default::default(),
            metrics: Default::default(),
            stop: stopped.clone(),
        });

        let socket = data.join("admin.sock");
        let local =
            listen_locally(&socket).map_err(|e| file_error("making the socket", &socket, e))?;

        let mut tasks = JoinSet::new();
        let (nodes, admin) = (nodes.tap_io(door::tune), admin.tap_io(door::tune));
        let nodes_router = nodes_door::router(Arc::clone(&app));
        tasks.spawn(door::serve(nodes, nodes_router, NODE_SEATS, stopped.clone()));
        let reading = admin_door::reading(Arc::clone(&app), admin_at);
        tasks.spawn(door::serve(admin, reading, ADMIN_SEATS, stopped.clone()));
        let whole = admin_door::whole(Arc::clone(&app));
        tasks.spawn(door::serve(local, whole, ADMIN_SEATS, stopped.clone()));
        let mut addresses =
            Addresses { nodes: nodes_at, admin: admin_at, monitor: None, xcatd: None };
        let xcat = Arc::new(Xcat::new(Arc::clone(&app), config.xcat.dns));
        if let Some((listener, at)) = monitor {
            addresses.monitor = Some(at);
            let xcat = Arc::clone(&xcat);
            let talk = move |stream| xcat::monitor(Arc::clone(&xcat), stream);
            tasks.spawn(xcat::serve(listener, stopped.clone(), talk));
        }
        if let Some((tls, (listener, at))) = xcatd {
            addresses.xcatd = Some(at);
            let talk = move |stream| xcat::xcatd(Arc::clone(&xcat), tls.clone(), stream);
            tasks.spawn(xcat::serve(listener, stopped.clone(), talk));
        }
        tasks.spawn(async move { app.silence.watch(stopped).await });

        let listen_file = data.join("listen.json");
        write_whole(&listen_file, &addresses)
            .map_err(|e| file_error("writing", &listen_file, e))?;
        Ok(Self { addresses, socket, listen_file, tasks, stop, _lock: lock })
    }

    /// Where it listens.
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// Ends in order: takes nothing new, answers what is under way, and what can't be answered
    /// soon is cut off.
    pub async fn stop(mut self) {
        for file in [&self.listen_file, &self.socket] {
            // Left behind, it does no harm: the next daemon replaces it.
            let _ = std::fs::remove_file(file);
        }
        // Fails only if no door is left.
        let _ = self.stop.send(true);
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(LAST_REQUESTS, ended).await.is_err() {
            tracing::warn!("some requests weren't done after {LAST_REQUESTS:?} and are cut off");
        }
    }
}

/// Makes the folder `data` where there is none, and takes it for this daemon alone.
fn take(data: &Path) -> Result<File, DaemonError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(data);
    made.map_err(|e| file_error("making the folder", data, e))?;
    let path = data.join("provostd.lock");
    let opened = OpenOptions::new().create(true).append(true).open(&path);
    let lock = opened.map_err(|e| file_error("opening", &path, e))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(DaemonError::Busy(data.to_owned())),
        Err(TryLockError::Error(e)) => return Err(file_error("locking", &path, e)),
    }
    // Whoever waits for this daemon must not meet the address of an earlier one.
    let stale = data.join("listen.json");
    match std::fs::remove_file(&stale) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(file_error("removing", &stale, e)),
        _ => Ok(lock),
    }
}

async fn listen(
    key: &'static str,
    address: SocketAddr,
) -> Result<(TcpListener, SocketAddr), DaemonError> {
    let failed = |source| DaemonError::Listen { key, address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

/// The lock on the folder is ours, so a socket that is there is of a daemon that died.
fn listen_locally(path: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

fn write_whole(path: &Path, what: &impl Serialize) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new("/")))?;
    serde_json::to_writer(&mut file, what)?;
    file.write_all(b"\n")?;
    file.persist(path)?;
    Ok(())
}

/// Asks for as many file descriptors as the seats need; with fewer, guests wait longer.
fn raise_file_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(FILES, |most| most.min(FILES));
    if current.is_some_and(|current| current < wanted)
        && let Err(e) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum })
    {
        tracing::warn!("raising the limit of open files to {wanted}: {e}");
    }
}

fn file_error(doing: &'static str, path: &Path, source: io::Error) -> DaemonError {
    DaemonError::File { doing, path: path.to_owned(), source }
}

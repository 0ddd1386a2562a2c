use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt;
use provost_fs::Durability;
use provost_store::{Sqlite, Store};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::app::App;
use crate::config::{Config, StoreKind};
use crate::error::DaemonError;
use crate::listener::{self, Stop};
use crate::node_program::NodeProgram;
use crate::silence::Silence;
use crate::xcat::{self, Xcat};
use crate::{admin_api, nodes_api};

/// How many connections the nodes' listener serves at once. Each uses a file descriptor, and one
/// more for the file that is sent.
const NODE_CONNECTIONS: usize = 8192;
/// How many connections each of the admins' listeners serves at once.
const ADMIN_CONNECTIONS: usize = 256;
/// File descriptors for all connections.
const FILES: u64 = 32_768;
/// How long running requests may take after SIGTERM.
const LAST_REQUESTS: Duration = Duration::from_secs(3);

/// Where the daemon listens: `DATA/listen.json`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Addresses {
    /// The nodes' listener.
    pub nodes: SocketAddr,
    /// The admins' listener.
    pub admin: SocketAddr,
    /// Where xCAT's nodes report their status, if it is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitor: Option<SocketAddr>,
    /// Where xCAT's nodes get their `mypostscript` over TLS, if it is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xcatd: Option<SocketAddr>,
}

/// A daemon that serves.
pub struct Daemon {
    addresses: Addresses,
    socket: PathBuf,
    listen_file: PathBuf,
    /// The listeners, and the watch for lost nodes.
    tasks: JoinSet<()>,
    stop: watch::Sender<bool>,
    // Dropped last.
    _lock: File,
}

impl Daemon {
    /// Opens the store and the listeners. When this returns, all of them answer.
    pub async fn start(config: &Config) -> Result<Self, DaemonError> {
        let data = &config.data;
        let lock = lock(data)?;
        let store: Arc<dyn Store> = match config.store {
            StoreKind::Sqlite => Arc::new(Sqlite::open(data)?),
        };
        raise_file_limit();
        let bound = Bound::all(config).await?;
        let addresses = bound.addresses;
        let socket = data.join("admin.sock");
        let local = bind_socket(&socket).map_err(DaemonError::file("creating", &socket))?;

        let (stop, stopped) = Stop::new();
        let app = Arc::new(App {
            silence: Silence::new(Arc::clone(&store), config.lost_after.duration()),
            store,
            www: config.www.clone(),
            node_program: Arc::new(NodeProgram::new(config.node.binary.clone())),
            nodes_at: addresses.nodes,
            guard: config.guard,
            bodies: Default::default(),
            metrics: Default::default(),
            stop: stopped.clone(),
        });
        let mut tasks = JoinSet::new();
        bound.serve(&app, config.xcat.dns, &mut tasks);
        let whole = admin_api::whole(Arc::clone(&app));
        tasks.spawn(listener::serve(local, whole, ADMIN_CONNECTIONS, stopped.clone()));
        tasks.spawn(async move { app.silence.watch(stopped).await });

        let listen_file = data.join("listen.json");
        write_json(&listen_file, &addresses).map_err(DaemonError::file("writing", &listen_file))?;
        Ok(Self { addresses, socket, listen_file, tasks, stop, _lock: lock })
    }

    /// Where it listens.
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// Ends in order: accepts nothing new, answers running requests for a while, and closes the
    /// connections of the others.
    pub async fn stop(mut self) {
        for file in [&self.listen_file, &self.socket] {
            // The next daemon replaces one that stays.
            let _ = std::fs::remove_file(file);
        }
        // Fails only if no listener is left.
        let _ = self.stop.send(true);
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(LAST_REQUESTS, ended).await.is_err() {
            tracing::warn!("some requests took longer than {LAST_REQUESTS:?} and were cut off");
        }
    }
}

/// The TCP listeners that the configuration names.
struct Bound {
    nodes: TcpListener,
    admin: TcpListener,
    monitor: Option<TcpListener>,
    xcatd: Option<(TlsAcceptor, TcpListener)>,
    addresses: Addresses,
}

impl Bound {
    async fn all(config: &Config) -> Result<Self, DaemonError> {
        let (nodes, nodes_at) = bind("listen", config.listen).await?;
        let (admin, admin_at) = bind("admin", config.admin).await?;
        let mut bound = Self {
            nodes,
            admin,
            monitor: None,
            xcatd: None,
            addresses: Addresses { nodes: nodes_at, admin: admin_at, monitor: None, xcatd: None },
        };
        if let Some(address) = config.xcat.monitor {
            let (listener, at) = bind("xcat.monitor", address).await?;
            bound.monitor = Some(listener);
            bound.addresses.monitor = Some(at);
        }
        if let Some(xcatd) = &config.xcat.xcatd {
            let tls = xcat::acceptor(xcatd)?;
            let (listener, at) = bind("xcat.xcatd", xcatd.listen).await?;
            bound.xcatd = Some((tls, listener));
            bound.addresses.xcatd = Some(at);
        }
        Ok(bound)
    }

    /// Serves each listener in a task of its own.
    fn serve(self, app: &Arc<App>, dns: bool, tasks: &mut JoinSet<()>) {
        let stop = || app.stop.clone();
        let nodes = self.nodes.tap_io(listener::tune);
        let router = nodes_api::router(Arc::clone(app));
        tasks.spawn(listener::serve(nodes, router, NODE_CONNECTIONS, stop()));
        let admin = self.admin.tap_io(listener::tune);
        let router = admin_api::read_only(Arc::clone(app), self.addresses.admin);
        tasks.spawn(listener::serve(admin, router, ADMIN_CONNECTIONS, stop()));
        let xcat = Arc::new(Xcat::new(Arc::clone(app), dns));
        if let Some(listener) = self.monitor {
            let xcat = Arc::clone(&xcat);
            let answer = move |stream| xcat::monitor(Arc::clone(&xcat), stream);
            tasks.spawn(xcat::serve(listener, stop(), answer));
        }
        if let Some((tls, listener)) = self.xcatd {
            let answer = move |stream| xcat::xcatd(Arc::clone(&xcat), tls.clone(), stream);
            tasks.spawn(xcat::serve(listener, stop(), answer));
        }
    }
}

/// Creates the folder `data` where there is none, and locks it for this daemon.
fn lock(data: &Path) -> Result<File, DaemonError> {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(data);
    created.map_err(DaemonError::file("creating the folder", data))?;
    let path = data.join("provostd.lock");
    let opened = OpenOptions::new().create(true).append(true).open(&path);
    let lock = opened.map_err(DaemonError::file("opening", &path))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(DaemonError::Busy(data.to_owned())),
        Err(TryLockError::Error(e)) => return Err(DaemonError::file("locking", &path)(e)),
    }
    // A program that waits for this daemon must not read the address of an earlier one.
    let stale = data.join("listen.json");
    provost_fs::remove(&stale, Durability::Crash).map_err(DaemonError::file("removing", &stale))?;
    Ok(lock)
}

async fn bind(
    key: &'static str,
    address: SocketAddr,
) -> Result<(TcpListener, SocketAddr), DaemonError> {
    let failed = |source| DaemonError::Listen { key, address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

/// Binds the admin socket. This daemon has the folder's lock, so a socket that is there is of a
/// daemon that died.
fn bind_socket(path: &Path) -> io::Result<UnixListener> {
    provost_fs::remove(path, Durability::Crash)?;
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Writes a file that is made anew at each start.
fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut json = serde_json::to_vec(value)?;
    json.push(b'\n');
    provost_fs::replace(path, &json, Durability::Crash)
}

/// Asks for as many file descriptors as the connection limits need; with fewer, clients wait
/// longer.
fn raise_file_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let needed = maximum.map_or(FILES, |most| most.min(FILES));
    if current.is_some_and(|current| current < needed)
        && let Err(e) = setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum })
    {
        tracing::warn!("raising the limit of open files to {needed}: {e}");
    }
}

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt;
use provost_fs::Durability;
use provost_record::wording::error_chain;
use provost_store::{Postgres, Sqlite, Store};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::app::App;
use crate::config::{Config, StoreKind};
use crate::connections::ConnectionLimits;
use crate::error::DaemonError;
use crate::listener::{self, Stop};
use crate::node_program::NodeProgram;
use crate::refresher::Refresher;
use crate::silence::Silence;
use crate::socket::AdminSockets;
use crate::tls::{Pair, TlsListener};
use crate::xcat::{self, Xcat};
use crate::{admin_api, nodes_api, retention, tls};

/// How many connections the nodes' listener serves at once, at most. Each uses a file descriptor, and
/// one more for the file that is sent.
const NODE_CONNECTIONS: usize = 8192;
/// How many connections each of the admins' listeners serves at once.
const ADMIN_CONNECTIONS: ConnectionLimits = ConnectionLimits::whole(256);
/// File descriptors for all connections: those of two listeners for nodes.
const FILES: u64 = 36_864;
/// File descriptors for what isn't a node's connection: the store, admins, xCAT's nodes.
const OTHER_FILES: u64 = 2048;
/// How many clients may wait in the kernel's queue of a listener. Above that the kernel drops their
/// first packet, which costs each a second.
const BACKLOG: u32 = 4096;
/// How many histories of nodes are read and sent at once.
const HISTORIES: usize = 16;
/// How long running requests may take after SIGTERM.
const LAST_REQUESTS: Duration = Duration::from_secs(3);

/// Where the daemon listens: `DATA/listen.json`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Addresses {
    /// The nodes' listener.
    pub nodes: SocketAddr,
    /// The nodes' listener over TLS, unless it is off.
    #[serde(rename = "nodesTls", skip_serializing_if = "Option::is_none")]
    pub nodes_tls: Option<SocketAddr>,
    /// The admins' listener over TCP, if it is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin: Option<SocketAddr>,
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
    /// What is removed at the end: the sockets, and the file with the addresses.
    files: [PathBuf; 3],
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
        let quotas = config.quota.quotas();
        let store: Arc<dyn Store> = match &config.store {
            StoreKind::Sqlite => Arc::new(Sqlite::open_with(data, quotas)?),
            StoreKind::Postgres(url) => {
                Arc::new(Postgres::open(url, &config.postgres.files(), quotas).await?)
            }
        };
        let files = raise_file_limit();
        let bound = Bound::all(config)?;
        let addresses = bound.addresses;
        let listeners = 1 + u64::from(bound.nodes_tls.is_some());
        let AdminSockets { operate, read } = AdminSockets::bind(config)?;

        let (stop, stopped) = Stop::new();
        let app = Arc::new(App {
            silence: Silence::new(Arc::clone(&store), config.lost_after.duration()),
            store,
            data: data.clone(),
            www: config.www.clone(),
            refresher: Refresher::new(data),
            node_program: Arc::new(NodeProgram::new(config.node.binary.clone())),
            nodes_at: addresses.nodes,
            guard: config.guard,
            beats: Default::default(),
            bodies: Default::default(),
            histories: Arc::new(Semaphore::new(HISTORIES)),
            over_quota: Default::default(),
            retention: config.retention.retention(),
            plain_http: Default::default(),
            pending: Default::default(),
            metrics: Default::default(),
            stop: stopped.clone(),
        });
        let mut tasks = JoinSet::new();
        bound.serve(&app, config.xcat.dns, node_connections(files, listeners), &mut tasks);
        let whole = admin_api::whole(Arc::clone(&app));
        tasks.spawn(listener::serve(operate.listener, whole, ADMIN_CONNECTIONS, stopped.clone()));
        let reading = admin_api::over_read_socket(Arc::clone(&app));
        tasks.spawn(listener::serve(read.listener, reading, ADMIN_CONNECTIONS, stopped.clone()));
        tasks.spawn(retention::keep(Arc::clone(&app)));
        tasks.spawn(async move { app.silence.watch(stopped).await });

        let listen_file = data.join("listen.json");
        if let Err(error) = write_json(&listen_file, &addresses) {
            // On a full disk nodes still get what is published.
            let hint = format!("make room on the file system of {}", data.display());
            tracing::warn!(hint, "writing {}: {error}", listen_file.display());
        }
        let files = [listen_file, operate.path, read.path];
        Ok(Self { addresses, files, tasks, stop, _lock: lock })
    }

    /// Where it listens.
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// Ends in order: accepts nothing new, answers running requests for a while, and closes the
    /// connections of the others.
    pub async fn stop(mut self) {
        for file in &self.files {
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
    nodes_tls: Option<TlsListener>,
    admin: Option<(TcpListener, SocketAddr)>,
    monitor: Option<TcpListener>,
    xcatd: Option<(TlsAcceptor, TcpListener)>,
    addresses: Addresses,
}

impl Bound {
    fn all(config: &Config) -> Result<Self, DaemonError> {
        let (nodes, nodes_at) = bind("listen", config.listen)?;
        let admin = config.admin.map(|address| bind("admin", address)).transpose()?;
        let admin_at = admin.as_ref().map(|(_, at)| *at);
        let addresses = Addresses {
            nodes: nodes_at,
            nodes_tls: None,
            admin: admin_at,
            monitor: None,
            xcatd: None,
        };
        let mut bound =
            Self { nodes, nodes_tls: None, admin, monitor: None, xcatd: None, addresses };
        if let Some(address) = config.tls.address(config.listen) {
            match tls::identity(config) {
                Ok(pair) => {
                    let acceptor = pair.acceptor()?;
                    let (tcp, at) = bind("tls.listen", address)?;
                    bound.nodes_tls = Some(TlsListener { tcp, acceptor });
                    bound.addresses.nodes_tls = Some(at);
                }
                // Nodes still get what is published, and none knows an authority yet.
                Err(error) if error.is_full_disk() => {
                    let hint = format!("make room on the file system of {}", config.data.display());
                    tracing::error!(hint, "starting without TLS: {}", error_chain(&error));
                }
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(address) = config.xcat.monitor {
            let (listener, at) = bind("xcat.monitor", address)?;
            bound.monitor = Some(listener);
            bound.addresses.monitor = Some(at);
        }
        if let Some(xcatd) = &config.xcat.xcatd {
            let tls = Pair::read(&xcatd.tls_cert, &xcatd.tls_key)?.acceptor()?;
            let (listener, at) = bind("xcat.xcatd", xcatd.listen)?;
            bound.xcatd = Some((tls, listener));
            bound.addresses.xcatd = Some(at);
        }
        Ok(bound)
    }

    /// Serves each listener in a task of its own.
    fn serve(
        self,
        app: &Arc<App>,
        dns: bool,
        connections: ConnectionLimits,
        tasks: &mut JoinSet<()>,
    ) {
        let stop = || app.stop.clone();
        let nodes = self.nodes.tap_io(listener::tune);
        let router = nodes_api::router(Arc::clone(app));
        tasks.spawn(listener::serve(nodes, router.clone(), connections, stop()));
        if let Some(listener) = self.nodes_tls {
            tasks.spawn(listener::serve(listener, router, connections, stop()));
        }
        if let Some((listener, at)) = self.admin {
            let router = admin_api::read_only(Arc::clone(app), at);
            let listener = listener.tap_io(listener::tune);
            tasks.spawn(listener::serve(listener, router, ADMIN_CONNECTIONS, stop()));
        }
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

fn bind(key: &'static str, address: SocketAddr) -> Result<(TcpListener, SocketAddr), DaemonError> {
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
fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut json = serde_json::to_vec(value)?;
    json.push(b'\n');
    provost_fs::replace(path, &json, Durability::Crash)
}

/// The connections of each of the nodes' `listeners` that `files` file descriptors are enough for.
fn node_connections(files: u64, listeners: u64) -> ConnectionLimits {
    let enough = files.saturating_sub(OTHER_FILES.min(files / 2)) / 2 / listeners;
    ConnectionLimits::shared(NODE_CONNECTIONS.min(enough as usize).max(1))
}

/// Asks for as many file descriptors as the connection limits need. Returns how many there are.
fn raise_file_limit() -> u64 {
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

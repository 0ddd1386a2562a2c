pub(crate) mod check;
pub(crate) mod parts;
pub(crate) mod prepare;
pub(crate) mod startup;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::serve::ListenerExt;
use provost_steplog::wording::error_chain;
use provost_store::location::StoreKind;
use provost_store::{Postgres, Sqlite, Store};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::admin;
use crate::config::Config;
use crate::error::DaemonError;
use crate::listener;
use crate::listener::Stop;
use crate::listener::connections::{ConnectionLimits, Connections};
use crate::listener::proxy_protocol::ProxiedListener;
use crate::listener::serving::Serving;
use crate::listener::socket::AdminSockets;
use crate::listener::tls;
use crate::listener::tls::{CertificateValidity, IdentityError, NodesTls, Pair, TlsListener};
use crate::nodes::program_file;
use crate::xcat;
use parts::Parts;
use startup::{ADMIN_CONNECTIONS, bind, lock, node_connections, raise_file_limit, write_json};

/// How many connections the admins' listener over TLS serves at once, which strangers reach.
const ADMIN_TLS_CONNECTIONS: ConnectionLimits = ConnectionLimits::shared(256, 256);
/// Where the daemon listens: `DATA/listen.json`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Addresses {
    /// The nodes' listener.
    pub nodes: SocketAddr,
    /// The nodes' listener over TLS, unless it is off.
    #[serde(rename = "nodesTls", skip_serializing_if = "Option::is_none")]
    pub nodes_tls: Option<SocketAddr>,
    /// The admins' listener over TCP, if it is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin: Option<SocketAddr>,
    /// The admins' listener over TLS, if it is configured.
    #[serde(rename = "adminTls", skip_serializing_if = "Option::is_none")]
    pub admin_tls: Option<SocketAddr>,
    /// Where xCAT's nodes report their status, if it is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitor: Option<SocketAddr>,
    /// Where xCAT's nodes get their `mypostscript` over TLS, if it is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xcatd: Option<SocketAddr>,
}

impl Addresses {
    /// Those that there are.
    pub(crate) fn all(&self) -> impl Iterator<Item = SocketAddr> {
        let Self { nodes, nodes_tls, admin, admin_tls, monitor, xcatd } = *self;
        [Some(nodes), nodes_tls, admin, admin_tls, monitor, xcatd].into_iter().flatten()
    }

    /// Of a daemon that serves nodes at one address, and nobody else yet.
    pub(crate) fn of(nodes: SocketAddr) -> Self {
        Self { nodes, nodes_tls: None, admin: None, admin_tls: None, monitor: None, xcatd: None }
    }
}

/// A daemon that serves.
pub struct Daemon {
    addresses: Addresses,
    serving: Serving,
}

impl Daemon {
    /// Opens the store and the listeners. When this returns, all of them answer.
    pub async fn start(config: &Config) -> Result<Self, DaemonError> {
        let data = &config.data;
        // A node must not run what was built for another architecture.
        if let Some(mistake) = program_file::mistakes(&config.node).pop() {
            return Err(DaemonError::Program(mistake));
        }
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
        let has_tls = bound.nodes_tls.is_some();
        let authority = has_tls.then(|| tls::authority(config)).transpose();
        let authority = authority.map_err(IdentityError::from)?;
        let nodes_tls = match addresses.nodes_tls.zip(authority.as_ref()) {
            Some((at, authority)) => NodesTls::at(at.port(), config, authority)?,
            None => NodesTls::default(),
        };
        let AdminSockets { operate, read } =
            AdminSockets::bind(data, &config.operators, &config.readers)?;

        let (stop, stopped) = Stop::new();
        let certificates = bound.certificates.clone();
        let nodes_at = (addresses.nodes, nodes_tls);
        let mut parts =
            Parts::new(config, store, (authority, certificates), nodes_at, stopped.clone())?;
        parts.metrics.timings.name(config.metrics.steps.clone());
        bound.serve(&mut parts, node_connections(files), &stopped);
        let sockets = [
            (operate.listener, admin::over_socket(parts.admin.clone()), "admin_socket"),
            (read.listener, admin::over_read_socket(parts.admin.clone()), "read_socket"),
        ];
        for (socket, router, name) in sockets {
            let (counts, stop) = (parts.metrics.listeners.of(name), stopped.clone());
            let open = Connections::within(ADMIN_CONNECTIONS);
            parts.tasks.spawn(listener::serve(socket, router, open, counts, stop));
        }

        let listen_file = data.join("listen.json");
        if let Err(error) = write_json(&listen_file, &addresses) {
            // On a full disk nodes still get what is published.
            let hint = format!("make room on the file system of {}", data.display());
            tracing::warn!(hint, "writing {}: {error}", listen_file.display());
        }
        let files = [listen_file, operate.path, read.path];
        let serving = Serving { files, tasks: parts.tasks, stop, _lock: lock };
        Ok(Self { addresses, serving })
    }

    /// Where it listens.
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// Ends in order: accepts nothing new, answers running requests for a while, and closes the
    /// connections of the others.
    pub async fn stop(self) {
        self.serving.stop().await;
    }
}

/// The TCP listeners that the configuration names.
struct Bound {
    nodes: TcpListener,
    nodes_tls: Option<TlsListener>,
    admin: Option<(TcpListener, SocketAddr)>,
    admin_tls: Option<TlsListener>,
    monitor: Option<TcpListener>,
    xcatd: Option<(TlsAcceptor, TcpListener)>,
    addresses: Addresses,
    certificates: Vec<CertificateValidity>,
}

impl Bound {
    fn all(config: &Config) -> Result<Self, DaemonError> {
        let (nodes, nodes_at) = bind("listen", config.listen)?;
        let admin = config.admin.map(|address| bind("admin", address)).transpose()?;
        let admin_at = admin.as_ref().map(|(_, at)| *at);
        let addresses = Addresses { admin: admin_at, ..Addresses::of(nodes_at) };
        let mut bound = Self {
            nodes,
            nodes_tls: None,
            admin,
            admin_tls: None,
            monitor: None,
            xcatd: None,
            addresses,
            certificates: Vec::new(),
        };
        bound.add_tls(config)?;
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

    /// The listeners over TLS, of nodes and of admins.
    fn add_tls(&mut self, config: &Config) -> Result<(), DaemonError> {
        let (nodes, admins) = (config.tls.address(config.listen), config.tls.admin);
        if nodes.is_none() && admins.is_none() {
            return Ok(());
        }
        let pair = match tls::identity(config) {
            Ok(pair) => pair,
            // Nodes still get what is published, and none knows an authority yet.
            Err(error) if error.is_full_disk() => {
                let hint = format!("make room on the file system of {}", config.data.display());
                tracing::error!(hint, "starting without TLS: {}", error_chain(&error));
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        self.certificates = pair.validity();
        let listen = |key, address, acceptor| {
            let (tcp, at) = bind(key, address)?;
            let tcp = ProxiedListener::new(tcp, config.tls.proxies.clone());
            Ok::<_, DaemonError>((TlsListener { tcp, acceptor }, at))
        };
        let (of_keys, of_admins) = (pair.acceptor_of_keys()?, pair.acceptor()?);
        let nodes = nodes.map(|address| listen("tls.listen", address, of_keys)).transpose()?;
        let admins = admins.map(|address| listen("tls.admin", address, of_admins)).transpose()?;
        (self.nodes_tls, self.addresses.nodes_tls) = nodes.unzip();
        (self.admin_tls, self.addresses.admin_tls) = admins.unzip();
        Ok(())
    }

    /// Serves each listener in a task of its own.
    fn serve(self, parts: &mut Parts, limits: ConnectionLimits, stop: &Stop) {
        let Parts { nodes: router, admin, admin_tls, xcat, metrics, tasks } = parts;
        let stop = || stop.clone();
        let count = |listener| metrics.listeners.of(listener);
        let nodes = self.nodes.tap_io(listener::tune);
        let (open, counts) = (Connections::within(limits), count("nodes"));
        let serving = listener::serve(nodes, router.clone(), Arc::clone(&open), counts, stop());
        tasks.spawn(serving);
        if let Some(listener) = self.nodes_tls {
            let counts = count("nodes_tls");
            tasks.spawn(listener::serve(listener, router.clone(), open, counts, stop()));
        }
        if let Some((listener, at)) = self.admin {
            let router = admin::read_only(admin.clone(), at);
            let (listener, counts) = (listener.tap_io(listener::tune), count("admin"));
            let open = Connections::within(ADMIN_CONNECTIONS);
            tasks.spawn(listener::serve(listener, router, open, counts, stop()));
        }
        if let Some(listener) = self.admin_tls {
            let router = admin_tls.clone();
            let (open, counts) = (Connections::within(ADMIN_TLS_CONNECTIONS), count("admin_tls"));
            tasks.spawn(listener::serve(listener, router, open, counts, stop()));
        }
        if let Some(listener) = self.monitor {
            let xcat = Arc::clone(xcat);
            let answer = move |stream| xcat::monitor(Arc::clone(&xcat), stream);
            tasks.spawn(xcat::serve(listener, stop(), answer));
        }
        if let Some((tls, listener)) = self.xcatd {
            let xcat = Arc::clone(xcat);
            let answer = move |stream| xcat::xcatd(Arc::clone(&xcat), tls.clone(), stream);
            tasks.spawn(xcat::serve(listener, stop(), answer));
        }
    }
}

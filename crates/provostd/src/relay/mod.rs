//! A relay: a daemon between nodes and the management node, for a rack or a service node. It caches what
//! is published, takes nodes' reports, keeps them on its disk and forwards them.
//!
//! Nobody trusts it with what is published, which is signed. It knows no tokens: upstreams decide about
//! them, and a relay remembers for each node the last one that was accepted, so that the node can report
//! while no upstream can be reached.

mod cache;
mod config;
mod files;
mod forward;
mod guard;
mod known;
mod metrics;
mod pass;
mod queues;
mod reports;
mod shared;
mod spool;
mod status;
mod tunnel;
mod upstream;
mod verdict;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post, put};
use axum::serve::ListenerExt;
use jiff::{SignedDuration, Timestamp};
use provost_bundle::Limit;
use provost_node::http::{Client, ClientOptions};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, spawn_blocking};

use crate::bodies::Bodies;
use crate::connections::Connections;
use crate::daemon::Addresses;
use crate::error::DaemonError;
use crate::host;
use crate::listener::{self, Stop};
use crate::refusal;
use crate::serving::Serving;
use crate::socket::AdminSockets;
use crate::startup::{
    ADMIN_CONNECTIONS, bind, lock, node_connections, raise_file_limit, write_json,
};
use crate::tls::{Pair, TlsListener};
pub use config::RelayConfig;
use files::Cache;
use known::Known;
use metrics::Metrics;
use queues::Queues;
use shared::Relay;
use spool::Spool;
use upstream::Upstreams;

/// How long an upstream may take to accept a connection, and for how long no byte may come.
const CONNECT: u32 = 3;
const STALL: u32 = 15;
/// How many nodes' reports are forwarded at once.
const FORWARDING: usize = 16;
/// The time between two removals of what nobody needs any more.
const CLEANING: Duration = Duration::from_secs(24 * 3600);
/// For how long what the management node has refused stays here.
const REFUSED: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A relay that serves.
pub struct RelayDaemon {
    addresses: Addresses,
    serving: Serving,
}

impl RelayDaemon {
    /// Opens the spool and the listeners. When this returns, all of them answer.
    pub async fn start(config: &RelayConfig) -> Result<Self, DaemonError> {
        let data = &config.data;
        let lock = lock(data)?;
        let spool = Spool::open(data)?;
        let urls = config.urls().map_err(DaemonError::Upstream)?;
        let known = Known::of(spool.known().await?);
        let relay = Arc::new(Relay {
            upstreams: Upstreams::new(client(config)?, urls.clone()),
            cache: Cache::new(data),
            known,
            queues: Queues::default(),
            forwarding: Semaphore::new(FORWARDING),
            bodies: Bodies::default(),
            metrics: Metrics::default(),
            data: data.clone(),
            budget: config.guard.max_attempts,
            spool,
        });
        let files = raise_file_limit();
        let (nodes, nodes_at) = bind("listen", config.listen)?;
        let mut addresses = Addresses::of(nodes_at);
        let AdminSockets { operate, read } = AdminSockets::bind(data, &None, &None)?;
        let (stop, stopped) = Stop::new();
        let mut tasks = JoinSet::new();
        let open = Connections::within(node_connections(files));
        let router = router(Arc::clone(&relay));
        let nodes = nodes.tap_io(listener::tune);
        let count = |listener| relay.metrics.listeners.of(listener);
        let (counts, until) = (count("nodes"), stopped.clone());
        let serving = listener::serve(nodes, router.clone(), Arc::clone(&open), counts, until);
        tasks.spawn(serving);
        if let Some(address) = config.tls.address(config.listen) {
            let (tcp, at) = bind("tls.listen", address)?;
            addresses.nodes_tls = Some(at);
            match &config.tls.files {
                Some(files) => {
                    let acceptor = Pair::read(&files.cert, &files.key)?.acceptor()?;
                    let tls = TlsListener { tcp, acceptor };
                    let (counts, until) = (count("nodes_tls"), stopped.clone());
                    tasks.spawn(listener::serve(tls, router, open, counts, until));
                }
                None => {
                    let targets = urls.iter().map(|url| tunnel::target(url, at.port())).collect();
                    tasks.spawn(tunnel::serve(tcp, targets, stopped.clone()));
                }
            }
        }
        let admin = status::router(Arc::clone(&relay));
        for (socket, name) in [(operate.listener, "admin_socket"), (read.listener, "read_socket")] {
            let (admin, counts, until) = (admin.clone(), count(name), stopped.clone());
            let open = Connections::within(ADMIN_CONNECTIONS);
            tasks.spawn(listener::serve(socket, admin, open, counts, until));
        }
        if let Some(address) = config.admin {
            let (tcp, at): (TcpListener, _) = bind("admin", address)?;
            addresses.admin = Some(at);
            let admin = admin.layer(axum::middleware::from_fn_with_state(at, host::check));
            let tcp = tcp.tap_io(listener::tune);
            let (counts, until) = (count("admin"), stopped.clone());
            let open = Connections::within(ADMIN_CONNECTIONS);
            tasks.spawn(listener::serve(tcp, admin, open, counts, until));
        }
        tasks.spawn(clean(Arc::clone(&relay), stopped));
        forward_what_is_left(&relay).await?;
        let listen_file = data.join("listen.json");
        write_json(&listen_file, &addresses).map_err(DaemonError::file("writing", &listen_file))?;
        let files = [listen_file, operate.path, read.path];
        Ok(Self { addresses, serving: Serving { files, tasks, stop, _lock: lock } })
    }

    /// Where it listens.
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// Ends in order. What is spooled is forwarded by the next relay.
    pub async fn stop(self) {
        self.serving.stop().await;
    }
}

/// Begins to forward what an earlier relay of this folder has left.
async fn forward_what_is_left(relay: &Arc<Relay>) -> Result<(), DaemonError> {
    for (node, bytes) in relay.spool.nodes().await? {
        let queue = relay.queues.of(&node);
        queue.reserve(bytes);
        queue.hurry();
        if queue.begins() {
            tokio::spawn(forward::work(Arc::clone(relay), node, queue));
        }
    }
    Ok(())
}

fn router(relay: Arc<Relay>) -> Router {
    Router::new()
        .route("/manifest.toml", get(cache::published))
        .route("/manifest.toml.minisig", get(cache::published))
        .route("/manifests/{name}", get(cache::published))
        .route("/refresh.toml", get(cache::published))
        .route("/refresh.toml.minisig", get(cache::published))
        .route("/objects/{folder}/{name}", get(cache::published))
        .route("/packs/{name}", get(cache::published))
        .route("/bin/{sha256}/provost", get(cache::published))
        .route("/v1/nodes/{node}/records", post(reports::records))
        .route("/v1/nodes/{node}/runs/{run}/logs/{name}", put(reports::log))
        .fallback(pass::pass)
        .with_state(relay)
        .layer(axum::middleware::map_response(refusal::in_json))
}

/// The client by which upstreams are asked.
fn client(config: &RelayConfig) -> Result<Client, DaemonError> {
    let ca = match &config.upstream_ca {
        Some(path) => Pair::certificates(path)?,
        None => Vec::new(),
    };
    let client = Client::new(ClientOptions {
        connect: Limit::seconds(CONNECT),
        stall: Limit::seconds(STALL),
        proxy: None,
        ca: &ca,
    });
    let client = client.map_err(|failure| DaemonError::Upstream(failure.text()))?;
    if let Some(tls) = &config.upstream_tls {
        client.way().learn(Some(tls.clone()));
    }
    Ok(client)
}

/// Removes now and then what nobody needs any more.
async fn clean(relay: Arc<Relay>, mut stop: Stop) {
    loop {
        let own = Arc::clone(&relay);
        if let Ok(removed) = spawn_blocking(move || own.cache.clean()).await
            && removed > 0
        {
            tracing::info!(
                "removed {removed} bytes of files that no node has asked for in 30 days"
            );
        }
        let before = Timestamp::now().saturating_sub(REFUSED).unwrap_or(Timestamp::MIN);
        if let Err(error) = relay.spool.forget_refused(before).await {
            tracing::warn!(hint = error.hint(), "removing old reports: {error}");
        }
        tokio::select! {
            () = tokio::time::sleep(CLEANING) => {}
            () = stop.wait() => return,
        }
    }
}

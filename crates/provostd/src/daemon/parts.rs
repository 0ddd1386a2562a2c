//! The parts of the daemon. They are made here alone, and each room is given those that it uses.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use provost_store::Store;
use tokio::task::JoinSet;

use crate::admin::retention::Pruner;
use crate::app::App;
use crate::config::Config;
use crate::error::DaemonError;
use crate::fleet::Fleet;
use crate::fleet::recent::Recent;
use crate::listener::Stop;
use crate::listener::bodies::Bodies;
use crate::listener::tls::Authority;
use crate::metrics::Metrics;
use crate::nodes::beats::Beats;
use crate::nodes::caller::Callers;
use crate::nodes::enrolment::{Enroller, Enrolment};
use crate::nodes::guard::AttemptGuard;
use crate::nodes::history::KnownNodes;
use crate::nodes::ingest::Reports;
use crate::nodes::installer::Installer;
use crate::nodes::node_program::NodeProgram;
use crate::nodes::over_quota::OverQuota;
use crate::nodes::pending::Pending;
use crate::nodes::silence::Silence;
use crate::nodes::{self, NodesState};
use crate::notify::program::Hook;
use crate::notify::{Deliveries, Queues};
use crate::published::PublishedFolder;
use crate::published::refresher::Refresher;
use crate::xcat::Xcat;

/// What the listeners serve, and what goes on beside them.
pub(super) struct Parts {
    /// The nodes' API.
    pub(super) nodes: Router,
    pub(super) app: Arc<App>,
    pub(super) xcat: Arc<Xcat>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) tasks: JoinSet<()>,
}

impl Parts {
    /// Those of a daemon whose listener for nodes is at `nodes_at`. What goes on beside begins.
    pub(super) fn new(
        config: &Config,
        store: Arc<dyn Store>,
        authority: Option<Authority>,
        nodes_at: SocketAddr,
        stop: &Stop,
    ) -> Result<Self, DaemonError> {
        let (deliveries, pending_nodes) = Deliveries::new(config)?;
        store.subscribe(deliveries.subscriptions());

        let www = PublishedFolder::new(&config.www);
        let metrics = Arc::new(Metrics::default());
        let bodies = Arc::new(Bodies::default());
        let beats = Arc::new(Beats::default());
        let over_quota = Arc::new(OverQuota::default());
        let fleet = Arc::new(Fleet::default());
        let recent = Arc::new(Recent::default());
        let pending = Arc::new(Pending::new(pending_nodes));
        let enrolment = Enrolment::new(authority, config.enroll.valid_for.duration());
        let enrolment = Arc::new(enrolment);
        let silence = Arc::new(Silence::new(store.clone(), config.lost_after.duration()));
        let program = Arc::new(NodeProgram::new(config.node.binary.clone()));
        let known = KnownNodes::new(store.clone(), beats.clone(), over_quota.clone());
        let known = Arc::new(known);
        let guard = AttemptGuard { store: store.clone(), budget: config.guard.max_attempts };
        let pruner = Arc::new(Pruner {
            store: store.clone(),
            metrics: metrics.clone(),
            retention: config.retention.retention(),
        });

        let nodes = nodes::router(NodesState {
            callers: Arc::new(Callers {
                store: store.clone(),
                enrolment: enrolment.clone(),
                pending: pending.clone(),
                bodies: bodies.clone(),
                plain_tokens: config.tokens.allowed,
            }),
            reports: Arc::new(Reports {
                store: store.clone(),
                guard: guard.clone(),
                metrics: metrics.clone(),
                over_quota: over_quota.clone(),
                silence: silence.clone(),
                places: Default::default(),
            }),
            enroller: Arc::new(Enroller {
                store: store.clone(),
                www: www.clone(),
                pending: pending.clone(),
                enrolment: enrolment.clone(),
            }),
            refresher: Arc::new(Refresher::new(&config.data, www.clone())),
            www: www.clone(),
            program: program.clone(),
            guard,
            beats: beats.clone(),
            bodies: bodies.clone(),
        });
        let app = Arc::new(App {
            store: store.clone(),
            data: config.data.as_path().into(),
            www: www.clone(),
            installer: Installer { www: www.clone(), program, nodes_at },
            beats,
            bodies,
            nodes: known,
            over_quota,
            pruner: pruner.clone(),
            enrolment,
            pending,
            on_continue: Hook::continues(&config.hooks).map(Arc::new),
            sessions: Default::default(),
            metrics: metrics.clone(),
            fleet: fleet.clone(),
            recent: recent.clone(),
            open_pages: Default::default(),
            stop: stop.clone(),
        });
        let xcat = Arc::new(Xcat::new(store.clone(), www, stop.clone(), config.xcat.dns));

        let mut tasks = JoinSet::new();
        tasks.spawn(pruner.keep(stop.clone()));
        tasks.spawn(silence.watch(stop.clone()));
        tasks.spawn(recent.watch(store.clone(), fleet.clone(), stop.clone()));
        tasks.spawn(fleet.keep(store.clone(), stop.clone()));
        let queues = Arc::new(Queues { store, metrics: metrics.clone() });
        tasks.spawn(deliveries.keep(queues, stop.clone()));
        Ok(Self { nodes, app, xcat, metrics, tasks })
    }
}

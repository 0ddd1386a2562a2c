//! The parts of the daemon. They are made here alone, and each room is given those that it uses.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn_with_state, map_response};
use provost_store::Store;
use tokio::task::JoinSet;

use crate::admin::accounts::{AuditLog, Logins};
use crate::admin::health::DataFolder;
use crate::admin::jobs::carried::Jobs;
use crate::admin::jobs::order::OrderHooks;
use crate::admin::retention::Pruner;
use crate::admin::{self, AdminState};
use crate::config::Config;
use crate::error::DaemonError;
use crate::fleet::Fleet;
use crate::fleet::expiry::Expiry;
use crate::fleet::history::{History, Range};
use crate::fleet::layout::Layouts;
use crate::fleet::reasons::Reasons;
use crate::fleet::recent::Recent;
use crate::listener::Stop;
use crate::listener::bodies::Bodies;
use crate::listener::refusal;
use crate::listener::tls::{Authority, CertificateValidity, NodesTls};
use crate::metrics::Metrics;
use crate::nodes::addresses::Addresses;
use crate::nodes::beats::Beats;
use crate::nodes::caller::Callers;
use crate::nodes::enrolment::Enrolment;
use crate::nodes::guard::AttemptGuard;
use crate::nodes::history::KnownNodes;
use crate::nodes::ingest::Reports;
use crate::nodes::installer::Installer;
use crate::nodes::node_programs::NodePrograms;
use crate::nodes::over_quota::OverQuota;
use crate::nodes::pending::Pending;
use crate::nodes::silence::Silence;
use crate::nodes::slow::SlowSteps;
use crate::nodes::{self, NodesState};
use crate::notify::{Deliveries, Queues};
use crate::published::expiry::PublishedExpiry;
use crate::published::node_plans::NodePlans;
use crate::published::refresher::Refresher;
use crate::published::site_groups::SiteGroups;
use crate::published::{PublishedFolder, SiteNodes};
use crate::web::assets::Assets;
use crate::web::events::Events;
use crate::web::jobs::JobList;
use crate::web::live::Pages;
use crate::web::node_about::NodeSources;
use crate::web::overview::Overview;
use crate::web::published::PublicationsPage;
use crate::web::running::RunningNow;
use crate::web::scripts::Scripts;
use crate::web::source::Sources;
use crate::web::{self, WebState};
use crate::xcat::Xcat;

/// What the listeners serve, and what goes on beside them.
pub(super) struct Parts {
    /// The nodes' API.
    pub(super) nodes: Router,
    /// The admin API with the web page, of an actor whom a listener knows …
    pub(super) admin: Router,
    /// … and of one who says it.
    pub(super) admin_tls: Router,
    pub(super) xcat: Arc<Xcat>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) tasks: JoinSet<()>,
}

impl Parts {
    /// Those of a daemon whose listener for nodes is at `nodes_at`. What goes on beside begins.
    pub(super) fn new(
        config: &Config,
        store: Arc<dyn Store>,
        (authority, certificates): (Option<Authority>, Vec<CertificateValidity>),
        (nodes_at, tls): (SocketAddr, NodesTls),
        stop: Stop,
    ) -> Result<Self, DaemonError> {
        let (deliveries, pending) = Deliveries::new(config)?;
        store.subscribe(deliveries.subscriptions());

        let (www, pending) = (PublishedFolder::new(&config.www), Arc::new(Pending::new(pending)));
        let (metrics, beats, over_quota) =
            (Arc::<Metrics>::default(), Arc::<Beats>::default(), Arc::<OverQuota>::default());
        let refresher = Arc::new(Refresher::new(&config.data, www.clone()));
        let published = PublishedExpiry::new(www.clone(), refresher.clone());
        let (store_of_it, valid_for) = (store.clone(), config.enroll.valid_for.duration());
        let expiry = Arc::new(Expiry { store: store_of_it, published, certificates, valid_for });
        let enrolment =
            Enrolment::new(store.clone(), www.clone(), pending.clone(), authority, valid_for);
        let enrolment = Arc::new(enrolment);
        let site = SiteNodes { store: store.clone(), www: www.clone() };
        let slow = Arc::new(SlowSteps::new(store.clone()));
        let known = KnownNodes::new(
            site.clone(),
            beats.clone(),
            over_quota.clone(),
            enrolment.clone(),
            expiry.clone(),
            slow.clone(),
        );
        let retention = config.retention.retention();
        let pruner = Pruner { store: store.clone(), metrics: metrics.clone(), retention };
        let recent = Arc::<Recent>::default();
        let shared = SharedParts {
            history: Arc::new(History::new(site.clone(), recent.clone())),
            bodies: Default::default(),
            known: Arc::new(known),
            enrolment,
            silence: Arc::new(Silence::new(store.clone(), config.lost_after.duration())),
            programs: Arc::new(NodePrograms::new(config)),
            pruner: Arc::new(pruner),
            fleet: Default::default(),
            reasons: Arc::new(Reasons::new(www.clone())),
            addresses: Default::default(),
            layouts: Arc::new(Layouts::new(
                SiteGroups::new(www.clone()),
                config.page.machine_room(),
            )),
            assets: Arc::new(Assets::new(&config.page)),
            recent,
            refresher,
            expiry,
            orders: Arc::new(OrderHooks::new(&config.hooks)),
            jobs: Arc::new(Jobs::new(store.clone())),
            store,
            www,
            metrics,
            beats,
            over_quota,
            slow,
            pending,
            tls,
            stop,
        };
        let nodes = nodes::router(shared.nodes(config, nodes_at));
        let state = shared.admin(config, nodes_at);
        let api = admin::router(state.clone()).merge(web::router(shared.web(), state));

        let SharedParts { store, bodies, stop, fleet, metrics, www, assets, reasons, .. } = shared;
        let logins = Logins { store: store.clone(), sessions: Default::default(), bodies };
        let admin_tls = admin::over_tls(Arc::new(logins), api.clone(), web::before_login(&assets))
            .layer(from_fn_with_state(assets.clone(), web::refused::in_pages));
        let admin = api
            .merge(web::files(&assets))
            .layer(map_response(refusal::in_json))
            .layer(from_fn_with_state(assets.clone(), web::refused::in_pages));
        let mut tasks = JoinSet::new();
        tasks.spawn(shared.pruner.keep(stop.clone()));
        tasks.spawn(shared.silence.watch(stop.clone()));
        tasks.spawn(shared.programs.maintain(stop.clone()));
        tasks.spawn(shared.recent.clone().watch(store.clone(), fleet.clone(), stop.clone()));
        tasks.spawn(shared.slow.keep(shared.recent.clone(), stop.clone()));
        tasks.spawn(shared.history.keep(stop.clone()));
        tasks.spawn(fleet.keep(site, stop.clone()));
        tasks.spawn(shared.jobs.keep(stop.clone()));
        let queues = Queues { store: store.clone(), metrics: metrics.clone(), reasons };
        tasks.spawn(deliveries.keep(Arc::new(queues), stop.clone()));
        let xcat = Arc::new(Xcat::new(store, www, stop, config.xcat.dns));
        Ok(Self { nodes, admin, admin_tls, xcat, metrics, tasks })
    }
}

/// What more than one room uses; none is given all of it.
struct SharedParts {
    store: Arc<dyn Store>,
    www: PublishedFolder,
    bodies: Arc<Bodies>,
    metrics: Arc<Metrics>,
    beats: Arc<Beats>,
    over_quota: Arc<OverQuota>,
    slow: Arc<SlowSteps>,
    known: Arc<KnownNodes>,
    pending: Arc<Pending>,
    enrolment: Arc<Enrolment>,
    silence: Arc<Silence>,
    programs: Arc<NodePrograms>,
    pruner: Arc<Pruner>,
    fleet: Arc<Fleet>,
    reasons: Arc<Reasons>,
    layouts: Arc<Layouts>,
    addresses: Arc<Addresses>,
    assets: Arc<Assets>,
    recent: Arc<Recent>,
    history: Arc<History>,
    refresher: Arc<Refresher>,
    expiry: Arc<Expiry>,
    orders: Arc<OrderHooks>,
    jobs: Arc<Jobs>,
    tls: NodesTls,
    stop: Stop,
}

impl SharedParts {
    fn installer(&self, config: &Config, nodes_at: SocketAddr) -> Installer {
        let (www, programs) = (self.www.clone(), self.programs.clone());
        Installer { www, programs, nodes_at, servers: config.node.servers.clone() }
    }

    fn nodes(&self, config: &Config, nodes_at: SocketAddr) -> NodesState {
        let budget = config.guard.max_attempts;
        let guard = AttemptGuard { store: self.store.clone(), budget };
        NodesState {
            www: self.www.clone(),
            refresher: self.refresher.clone(),
            programs: self.programs.clone(),
            installer: self.installer(config, nodes_at),
            callers: Arc::new(Callers {
                store: self.store.clone(),
                enrolment: self.enrolment.clone(),
                pending: self.pending.clone(),
                bodies: self.bodies.clone(),
                plain_tokens: config.tokens.allowed,
                www: self.www.clone(),
                addresses: self.addresses.clone(),
            }),
            guard: guard.clone(),
            reports: Arc::new(Reports {
                store: self.store.clone(),
                guard,
                metrics: self.metrics.clone(),
                over_quota: self.over_quota.clone(),
                silence: self.silence.clone(),
                places: Default::default(),
            }),
            beats: self.beats.clone(),
            enrolment: self.enrolment.clone(),
            bodies: self.bodies.clone(),
            data: DataFolder(config.data.as_path().into()),
        }
    }

    fn admin(&self, config: &Config, nodes_at: SocketAddr) -> AdminState {
        AdminState {
            store: self.store.clone(),
            known: self.known.clone(),
            beats: self.beats.clone(),
            pending: self.pending.clone(),
            enrolment: self.enrolment.clone(),
            fleet: self.fleet.clone(),
            history: self.history.clone(),
            expiry: self.expiry.clone(),
            metrics: self.metrics.clone(),
            pruner: self.pruner.clone(),
            installer: self.installer(config, nodes_at),
            www: self.www.clone(),
            data: DataFolder(config.data.as_path().into()),
            tls: self.tls.clone(),
            orders: self.orders.clone(),
            jobs: self.jobs.clone(),
            audit: AuditLog { store: self.store.clone(), bodies: self.bodies.clone() },
            stop: self.stop.clone(),
        }
    }

    fn web(&self) -> WebState {
        WebState {
            assets: self.assets.clone(),
            about: NodeSources {
                store: self.store.clone(),
                layouts: self.layouts.clone(),
                plans: Arc::new(NodePlans::new(self.www.clone())),
                addresses: self.addresses.clone(),
                fleet: self.fleet.clone(),
                reasons: self.reasons.clone(),
                www: self.www.clone(),
            },
            pages: Arc::new(Pages {
                open: Default::default(),
                fleet: self.fleet.clone(),
                beats: self.beats.clone(),
                stop: self.stop.clone(),
            }),
            overview: Overview {
                fleet: self.fleet.clone(),
                history: self.history.clone(),
                range: Range::default(),
                running: RunningNow { beats: self.beats.clone(), slow: self.slow.clone() },
                layouts: self.layouts.clone(),
                beats: self.beats.clone(),
                over_quota: self.over_quota.clone(),
                enrolment: self.enrolment.clone(),
                expiry: self.expiry.clone(),
                reasons: self.reasons.clone(),
            },
            scripts: Scripts { store: self.store.clone() },
            published: PublicationsPage {
                fleet: self.fleet.clone(),
                www: self.www.clone(),
                expiry: self.expiry.clone(),
            },
            events: Events { recent: self.recent.clone() },
            job_list: JobList { store: self.store.clone() },
            store: self.store.clone(),
            known: self.known.clone(),
            fleet: self.fleet.clone(),
            beats: self.beats.clone(),
            jobs: self.jobs.clone(),
            enrolment: self.enrolment.clone(),
            sources: Arc::new(Sources::new(self.www.clone())),
        }
    }
}

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use provost_store::{Store, StoreError};
use tokio::sync::Semaphore;

use crate::admin::accounts::Sessions;
use crate::admin::retention::Pruner;
use crate::config::Guard;
use crate::fleet::Fleet;
use crate::fleet::open_pages::OpenPages;
use crate::fleet::recent::Recent;
use crate::listener::Stop;
use crate::listener::bodies::Bodies;
use crate::listener::refusal::Refusal;
use crate::listener::report_places::ReportPlaces;
use crate::metrics::Metrics;
use crate::nodes::beats::Beats;
use crate::nodes::enrolment::Enrolment;
use crate::nodes::node_program::NodeProgram;
use crate::nodes::over_quota::OverQuota;
use crate::nodes::pending::Pending;
use crate::nodes::silence::Silence;
use crate::notify::program::Hook;
use crate::published::PublishedFolder;
use crate::published::refresher::Refresher;

/// What the handlers of all listeners share.
pub(crate) struct App {
    pub(crate) store: Arc<dyn Store>,
    /// The daemon's own folder.
    pub(crate) data: Arc<Path>,
    pub(crate) www: PublishedFolder,
    pub(crate) refresher: Arc<Refresher>,
    pub(crate) node_program: Arc<NodeProgram>,
    /// The address of the nodes' listener.
    pub(crate) nodes_at: SocketAddr,
    pub(crate) guard: Guard,
    pub(crate) silence: Arc<Silence>,
    pub(crate) beats: Arc<Beats>,
    pub(crate) bodies: Arc<Bodies>,
    pub(crate) report_places: Arc<ReportPlaces>,
    /// How many histories of nodes are read and sent at once: each may be 8 MiB.
    pub(crate) histories: Arc<Semaphore>,
    pub(crate) over_quota: Arc<OverQuota>,
    pub(crate) pruner: Arc<Pruner>,
    /// Whether nodes' tokens count by plain HTTP.
    pub(crate) plain_tokens: bool,
    pub(crate) enrolment: Arc<Enrolment>,
    /// The nodes that have no valid token and no identity.
    pub(crate) pending: Arc<Pending>,
    /// By what nodes are continued on the web page.
    pub(crate) on_continue: Option<Arc<Hook>>,
    /// The browsers that have logged in.
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) metrics: Arc<Metrics>,
    /// The nodes, while somebody looks at the web page.
    pub(crate) fleet: Arc<Fleet>,
    /// What came in of late.
    pub(crate) recent: Arc<Recent>,
    /// The pages that are open.
    pub(crate) open_pages: Arc<OpenPages>,
    pub(crate) stop: Stop,
}

impl App {
    /// The answer to a node whose report the store refuses.
    pub(crate) fn refused_by_store(&self, node: &str, error: StoreError) -> Refusal {
        self.over_quota.note(node, &error);
        error.into()
    }
}

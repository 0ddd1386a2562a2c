use std::sync::Arc;

use axum::extract::FromRef;
use provost_store::Store;

use super::accounts::AuditLog;
use super::health::DataFolder;
use super::jobs::carried::Jobs;
use super::jobs::order::OrderHooks;
use super::retention::Pruner;
use crate::fleet::Fleet;
use crate::fleet::expiry::Expiry;
use crate::fleet::history::History;
use crate::listener::Stop;
use crate::listener::tls::NodesTls;
use crate::metrics::Metrics;
use crate::nodes::beats::Beats;
use crate::nodes::enrolment::Enrolment;
use crate::nodes::history::KnownNodes;
use crate::nodes::installer::Installer;
use crate::nodes::pending::Pending;
use crate::published::PublishedFolder;

/// What handlers of the admin API use.
#[derive(Clone, FromRef)]
pub(crate) struct AdminState {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) known: Arc<KnownNodes>,
    pub(crate) beats: Arc<Beats>,
    pub(crate) pending: Arc<Pending>,
    pub(crate) enrolment: Arc<Enrolment>,
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) history: Arc<History>,
    pub(crate) expiry: Arc<Expiry>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) pruner: Arc<Pruner>,
    pub(crate) installer: Installer,
    pub(crate) www: PublishedFolder,
    pub(crate) data: DataFolder,
    pub(crate) tls: NodesTls,
    pub(crate) orders: Arc<OrderHooks>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) audit: AuditLog,
    pub(crate) stop: Stop,
}

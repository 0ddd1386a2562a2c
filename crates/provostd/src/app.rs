use std::sync::Arc;

use provost_store::Store;

use crate::fleet::Fleet;
use crate::fleet::open_pages::OpenPages;
use crate::fleet::recent::Recent;
use crate::listener::Stop;
use crate::nodes::beats::Beats;
use crate::nodes::history::KnownNodes;
use crate::nodes::over_quota::OverQuota;
use crate::nodes::pending::Pending;
use crate::notify::program::Hook;
use crate::published::PublishedFolder;

/// What the handlers of all listeners share.
pub(crate) struct App {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) www: PublishedFolder,
    pub(crate) beats: Arc<Beats>,
    pub(crate) nodes: Arc<KnownNodes>,
    pub(crate) over_quota: Arc<OverQuota>,
    /// The nodes that have no valid token and no identity.
    pub(crate) pending: Arc<Pending>,
    /// By what nodes are continued on the web page.
    pub(crate) on_continue: Option<Arc<Hook>>,
    /// The nodes, while somebody looks at the web page.
    pub(crate) fleet: Arc<Fleet>,
    /// What came in of late.
    pub(crate) recent: Arc<Recent>,
    /// The pages that are open.
    pub(crate) open_pages: Arc<OpenPages>,
    pub(crate) stop: Stop,
}

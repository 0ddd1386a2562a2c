use std::net::IpAddr;
use std::sync::Arc;

use provost_plan::{Plan, mypostscript};
use provost_store::Store;
use tokio::net::TcpStream;

use super::peers::{Peer, Peers};
use super::request::RequestError;
use crate::listener::Stop;
use crate::published::PublishedFolder;

/// What both listeners need.
pub(crate) struct Xcat {
    pub(super) store: Arc<dyn Store>,
    pub(super) stop: Stop,
    www: PublishedFolder,
    peers: Peers,
}

impl Xcat {
    /// With `dns`, an address that no plan has is looked up.
    pub(crate) fn new(store: Arc<dyn Store>, www: PublishedFolder, stop: Stop, dns: bool) -> Self {
        Self { peers: Peers::new(www.join("plans"), dns), store, stop, www }
    }

    /// The node at the other end; none if the address isn't a node's.
    pub(super) async fn peer(&self, stream: &TcpStream) -> Option<Peer> {
        // A connection that is closed already has no address.
        let address = stream.peer_addr().ok()?.ip().to_canonical();
        Some(Peer { node: self.peers.node(address).await?, address })
    }

    /// What `node` runs, if it has never reported with a token: any of its users can ask from its
    /// address. It is written as xCAT would have written it for a node that reaches it at `master`.
    pub(super) async fn mypostscript(
        &self,
        node: &str,
        master: IpAddr,
    ) -> Result<String, RequestError> {
        if self.store.has_reported(node).await? {
            return Err(RequestError::HasToken);
        }
        let path = self.www.join(provost_api::published::plan(node));
        let bytes = tokio::fs::read(&path).await.map_err(|e| RequestError::Plan(e.into()))?;
        let plan = Plan::parse(&bytes).map_err(|e| RequestError::Plan(e.into()))?;
        Ok(mypostscript::write(&plan, master.to_canonical()))
    }
}

use provost_exec::Orders;
use provost_record::Service;
use tokio::sync::watch;

use super::root::Root;
use crate::report::Reporter;
use crate::settings::{Paths, Settings};
use crate::xcat::{self, Status};

/// Who hears of a run while it goes on.
pub(super) enum Outbox {
    /// provostd hears of its records.
    Records(Reporter),
    /// xCAT's monitor hears of this node's status.
    Status(Status),
    /// An admin wants nobody to hear of it.
    Nobody,
}

impl Outbox {
    /// To xCAT's monitor, where the management node is xCAT's.
    pub(super) async fn to_xcat(
        settings: &Settings,
        paths: &Paths,
        service: Service,
        root: Root,
    ) -> Option<Self> {
        let xcat = settings.xcat.as_ref()?;
        let words = xcat::beginning(service, root != Root::Other);
        let status = Status::begin(settings, xcat, paths, words).await;
        Some(status.map_or(Self::Nobody, Self::Status))
    }

    /// Whether logs of failed steps are wanted.
    pub(super) fn takes_logs(&self) -> bool {
        matches!(self, Self::Records(_))
    }

    /// Tells how the run ended. When this returns it is on the disk.
    pub(super) async fn ended(&self, service: Service, well: bool) {
        // Of records the last one tells that.
        if let Self::Status(status) = self {
            status.tell(xcat::end(service, well)).await;
        }
    }

    /// Gives what is left its time. Returns what there is to say about it.
    pub(super) async fn finish(self, orders: &mut watch::Receiver<Orders>) -> Vec<String> {
        match self {
            Self::Records(reporter) => reporter.finish(orders).await,
            Self::Status(status) => status.finish(orders).await,
            Self::Nobody => vec![
                "nonodestatus is on the kernel's command line: xCAT is told nothing".to_owned(),
            ],
        }
    }
}

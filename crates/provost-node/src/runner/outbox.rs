use provost_exec::Orders;
use provost_record::Service;
use tokio::sync::watch;

use crate::observe::console::Console;
use crate::observe::report::Reporter;
use crate::settings::{Paths, Settings};
use crate::xcat::{self, Status};

/// Who hears of a run while it goes on.
pub(crate) enum Outbox {
    /// provostd hears of its records.
    Records(Reporter),
    /// xCAT's monitor hears of this node's status.
    Status(Status),
}

impl Outbox {
    /// To xCAT's monitor, where the management node is xCAT's; `words` to begin with.
    pub(crate) async fn to_xcat(
        settings: &Settings,
        paths: &Paths,
        service: Service,
        words: &[&'static str],
    ) -> Option<Self> {
        let xcat = settings.xcat.as_ref()?;
        Some(Self::Status(Status::begin(settings, xcat, paths, service, words).await))
    }

    /// Whether logs of failed steps are wanted.
    pub(crate) fn takes_logs(&self) -> bool {
        matches!(self, Self::Records(_))
    }

    /// Tells how the run ended. When this returns it is on the disk.
    pub(crate) async fn ended(&self, service: Service, well: bool) {
        // Of records the last one tells that.
        if let Self::Status(status) = self {
            status.tell(xcat::end(service, well)).await;
        }
    }

    /// Gives what is left its time. Says what there is to say about it.
    pub(crate) async fn finish(self, orders: &mut watch::Receiver<Orders>, console: &mut Console) {
        match self {
            Self::Records(reporter) => {
                reporter.finish(orders).await.iter().for_each(|text| console.say(text));
            }
            Self::Status(status) => status.finish(orders, &mut |text| console.say(text)).await,
        }
    }
}

//! What listeners count.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::running::Running;

/// The name of a listener.
type Name = [(&'static str, &'static str); 1];

/// The connections of each listener, by its name.
#[derive(Default)]
pub(crate) struct Listeners {
    accepted: Family<Name, Counter>,
    refused: Family<Name, Counter>,
    open: Family<Name, Gauge>,
}

impl Listeners {
    pub(crate) fn register(&self, registry: &mut Registry) {
        let help = "Connections that a listener has accepted";
        registry.register("connections", help, self.accepted.clone());
        let help = "Those of them that it had no room for";
        registry.register("connections_refused", help, self.refused.clone());
        let help = "Connections of a listener that are open";
        registry.register("open_connections", help, self.open.clone());
    }

    /// What this listener counts.
    pub(crate) fn of(&self, listener: &'static str) -> ListenerCounts {
        let label = [("listener", listener)];
        ListenerCounts {
            accepted: self.accepted.get_or_create(&label).clone(),
            refused: self.refused.get_or_create(&label).clone(),
            open: self.open.get_or_create(&label).clone(),
        }
    }
}

/// What one listener counts.
#[derive(Clone, Default)]
pub(crate) struct ListenerCounts {
    accepted: Counter,
    refused: Counter,
    open: Gauge,
}

impl ListenerCounts {
    /// A connection is accepted. It is open until what this returns is dropped.
    pub(crate) fn accepted(&self) -> Running {
        self.accepted.inc();
        Running::begin(&self.open)
    }

    /// There was no room for it.
    pub(crate) fn refused(&self) {
        self.refused.inc();
    }
}

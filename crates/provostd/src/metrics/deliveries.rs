//! What receivers were told. Their names are those of the configuration.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

type OfReceiver = Family<[(&'static str, String); 1], Counter>;

/// What receivers were told. Their names are those of the configuration.
#[derive(Default)]
pub(crate) struct DeliveryCounters {
    delivered: OfReceiver,
    failed: OfReceiver,
    dropped: OfReceiver,
    queue: Family<[(&'static str, String); 1], Gauge>,
    configured: OnceLock<BTreeSet<String>>,
}

impl DeliveryCounters {
    pub(super) fn register(&self, registry: &mut Registry) {
        let all = [
            ("notices_delivered", "Events delivered to a receiver", &self.delivered),
            ("notice_failures", "Tries that failed", &self.failed),
            ("notices_dropped", "Events that were dropped", &self.dropped),
        ];
        for (name, help, counters) in all {
            registry.register(name, help, counters.clone());
        }
        let help = "Events that wait for a receiver";
        registry.register("notice_queue", help, self.queue.clone());
    }

    /// The receivers that are configured. Each has its counters before there is something to count:
    /// that a new series begins with 1 is no increase for Prometheus.
    pub(crate) fn configured(&self, receivers: BTreeSet<String>) {
        for receiver in &receivers {
            for counters in [&self.delivered, &self.failed, &self.dropped] {
                drop(counters.get_or_create(&of(receiver)));
            }
        }
        // Set once: the configuration is read at the start.
        let _ = self.configured.set(receivers);
    }

    pub(crate) fn delivered(&self, receiver: &str, count: u64) {
        self.delivered.get_or_create(&of(receiver)).inc_by(count);
    }

    pub(crate) fn failed(&self, receiver: &str) {
        self.failed.get_or_create(&of(receiver)).inc();
    }

    pub(crate) fn dropped(&self, receiver: &str, count: u64) {
        self.dropped.get_or_create(&of(receiver)).inc_by(count);
    }

    /// How many events wait now.
    pub(crate) fn queued(&self, lengths: Vec<(String, u64)>) {
        self.queue.clear();
        for receiver in self.configured.get().into_iter().flatten() {
            self.queue.get_or_create(&of(receiver)).set(0);
        }
        for (receiver, length) in lengths {
            self.queue.get_or_create(&of(&receiver)).set(length.cast_signed());
        }
    }
}

fn of(receiver: &str) -> [(&'static str, String); 1] {
    [("receiver", receiver.to_owned())]
}

use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use provost_store::{Ingested, Node, Pruned, Status};

/// What the daemon counts. No label has a node's name: ten thousand series of each would be useless.
pub(crate) struct Metrics {
    registry: Registry,
    nodes: Family<[(&'static str, &'static str); 1], Gauge>,
    records: Counter,
    repeats: Counter,
    batch_time: Histogram,
    logs: Counter,
    pruned: [Counter; 4],
    pub(crate) deliveries: Deliveries,
}

type OfReceiver = Family<[(&'static str, String); 1], Counter>;

/// What receivers were told. Their names are those of the configuration.
#[derive(Default)]
pub(crate) struct Deliveries {
    delivered: OfReceiver,
    failed: OfReceiver,
    dropped: OfReceiver,
    queue: Family<[(&'static str, String); 1], Gauge>,
}

impl Deliveries {
    fn register(&self, registry: &mut Registry) {
        let all = [
            ("notices_delivered", "Events that a receiver was told", &self.delivered),
            ("notice_failures", "Tries that failed", &self.failed),
            ("notices_dropped", "Events that a receiver wasn't told", &self.dropped),
        ];
        for (name, help, counters) in all {
            registry.register(name, help, counters.clone());
        }
        let help = "Events that wait for a receiver";
        registry.register("notice_queue", help, self.queue.clone());
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
        for (receiver, length) in lengths {
            self.queue.get_or_create(&of(&receiver)).set(length.cast_signed());
        }
    }
}

fn of(receiver: &str) -> [(&'static str, String); 1] {
    [("receiver", receiver.to_owned())]
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("provost");
        let (nodes, records, repeats) = (Family::default(), Counter::default(), Counter::default());
        // From 1 ms to 16 s.
        let batch_time = Histogram::new(exponential_buckets(0.001, 2.0, 15));
        let logs = Counter::default();
        registry.register("nodes", "Nodes by status", nodes.clone());
        registry.register("records", "Records stored", records.clone());
        registry.register("record_repeats", "Records that were there already", repeats.clone());
        registry.register("logs", "Logs stored", logs.clone());
        let pruned = [
            ("pruned_runs", "Runs removed because of [retention]"),
            ("pruned_records", "Records of these"),
            ("pruned_logs", "Logs removed because of [retention]"),
            ("pruned_bytes", "Bytes of these records and logs"),
        ];
        let pruned = pruned.map(|(name, help)| {
            let counter = Counter::default();
            registry.register(name, help, counter.clone());
            counter
        });
        let help = "Time from a whole batch of records to its being durable";
        registry.register_with_unit("ingest_batch", help, Unit::Seconds, batch_time.clone());
        let deliveries = Deliveries::default();
        deliveries.register(&mut registry);
        Self { registry, nodes, records, repeats, batch_time, logs, pruned, deliveries }
    }
}

impl Metrics {
    pub(crate) fn ingested(&self, ingested: &Ingested, took: Duration) {
        self.records.inc_by(ingested.fresh as u64);
        self.repeats.inc_by(ingested.repeats as u64);
        self.batch_time.observe(took.as_secs_f64());
    }

    pub(crate) fn log_stored(&self) {
        self.logs.inc();
    }

    pub(crate) fn pruned(&self, pruned: &Pruned) {
        let bytes = pruned.record_bytes + pruned.log_bytes;
        let counts: [u64; 4] = [pruned.runs, pruned.records, pruned.logs, bytes];
        for (counter, n) in self.pruned.iter().zip(counts) {
            counter.inc_by(n);
        }
    }

    /// The page that Prometheus reads.
    pub(crate) fn page(&self, nodes: &[Node]) -> Result<String, std::fmt::Error> {
        for status in Status::ALL {
            let count = nodes.iter().filter(|node| node.status == status).count();
            self.nodes.get_or_create(&[("status", status.as_str())]).set(count as i64);
        }
        let mut page = String::new();
        encode(&mut page, &self.registry)?;
        Ok(page)
    }
}

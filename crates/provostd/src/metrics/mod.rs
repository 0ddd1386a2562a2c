pub(crate) mod deliveries;
pub(crate) mod expiry;
pub(crate) mod listeners;
pub(crate) mod running;
pub(crate) mod timings;

use std::collections::BTreeMap;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use provost_store::{Ingested, Pruned, Status};

use deliveries::DeliveryCounters;
use expiry::ExpiryGauges;
pub(crate) use listeners::{ListenerCounts, Listeners};
pub(crate) use running::Running;
pub(crate) use timings::Timings;

/// A label and its value.
type Label = [(&'static str, &'static str); 1];

/// What the daemon counts. No label has a node's name: ten thousand series of each would be useless.
pub(crate) struct Metrics {
    registry: Registry,
    nodes: Family<[(&'static str, String); 1], Gauge>,
    records: Counter,
    repeats: Counter,
    batch_time: Histogram,
    logs: Counter,
    pruned: [Counter; 4],
    pub(crate) deliveries: DeliveryCounters,
    pub(crate) timings: Timings,
    log_bytes: Counter,
    acked: Counter,
    store_time: Family<Label, Histogram, fn() -> Histogram>,
    store_waiting: Gauge,
    pub(crate) listeners: Listeners,
    pending: Gauge,
    over_quota: Gauge,
    /// Nodes with a step that is slow.
    pub(crate) slow: Gauge,
    pub(crate) expiry: ExpiryGauges,
}

/// From 1 ms to 16 s.
fn short() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 15))
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("provost");
        let (nodes, records, repeats) = (Family::default(), Counter::default(), Counter::default());
        let batch_time = short();
        let logs = Counter::default();
        registry.register("nodes", "Nodes by status", nodes.clone());
        registry.register("records", "Records stored", records.clone());
        registry.register("record_repeats", "Records that were there already", repeats.clone());
        registry.register("logs", "Logs stored", logs.clone());
        let pruned = [
            ("pruned_runs", "Runs removed because of [retention]"),
            ("pruned_records", "Records of these"),
            ("pruned_logs", "Logs removed because of [retention], or for others within [quota]"),
            ("pruned_bytes", "Bytes of these records and logs"),
        ];
        let pruned = pruned.map(|(name, help)| {
            let counter = Counter::default();
            registry.register(name, help, counter.clone());
            counter
        });
        let help = "Time from a whole batch of records to its being durable";
        registry.register_with_unit("ingest_batch", help, Unit::Seconds, batch_time.clone());
        let deliveries = DeliveryCounters::default();
        deliveries.register(&mut registry);
        let timings = Timings::default();
        timings.register(&mut registry);
        let (log_bytes, acked, pending) =
            (Counter::default(), Counter::default(), Gauge::default());
        registry.register("log_bytes", "Bytes of logs stored", log_bytes.clone());
        let help = "Records acknowledged to nodes, also those that were there already";
        registry.register("records_acked", help, acked.clone());
        let help = "Nodes that try to report without a valid token or identity";
        registry.register("pending_nodes", help, pending.clone());
        let over_quota = Gauge::default();
        let help = "Nodes of which nothing more is stored, because they are over their quota";
        registry.register("nodes_over_quota", help, over_quota.clone());
        let slow = Gauge::default();
        let help = "Nodes with a step that takes, or took when it last ran, over three times as long as usual";
        registry.register("nodes_slow", help, slow.clone());
        let store_time = Family::new_with_constructor(short as fn() -> Histogram);
        let help = "Time that the store took, by what it did";
        registry.register_with_unit("store", help, Unit::Seconds, store_time.clone());
        let store_waiting = Gauge::default();
        let help = "Reports and logs that wait for the store to make them durable";
        registry.register("store_waiting", help, store_waiting.clone());
        let listeners = Listeners::default();
        listeners.register(&mut registry);
        let expiry = ExpiryGauges::default();
        expiry.register(&mut registry);
        Self {
            registry,
            nodes,
            records,
            repeats,
            batch_time,
            logs,
            pruned,
            deliveries,
            timings,
            log_bytes,
            acked,
            store_time,
            store_waiting,
            listeners,
            pending,
            over_quota,
            slow,
            expiry,
        }
    }
}

impl Metrics {
    pub(crate) fn ingested(&self, ingested: &Ingested, took: Duration) {
        self.records.inc_by(ingested.fresh as u64);
        self.repeats.inc_by(ingested.repeats as u64);
        self.acked.inc_by((ingested.fresh + ingested.repeats) as u64);
        self.batch_time.observe(took.as_secs_f64());
    }

    /// A log of so many bytes was stored.
    pub(crate) fn log_stored(&self, bytes: usize, took: Duration) {
        self.logs.inc();
        self.log_bytes.inc_by(bytes as u64);
        self.store_took("log", took);
    }

    /// How long the store took for `operation`.
    pub(crate) fn store_took(&self, operation: &'static str, took: Duration) {
        self.store_time.get_or_create(&[("operation", operation)]).observe(took.as_secs_f64());
    }

    /// A report or a log waits for the store until what this returns is dropped.
    pub(crate) fn waits_for_store(&self) -> Running {
        Running::begin(&self.store_waiting)
    }

    pub(crate) fn pruned(&self, pruned: &Pruned) {
        let bytes = pruned.record_bytes + pruned.log_bytes;
        let counts: [u64; 4] = [pruned.runs, pruned.records, pruned.logs, bytes];
        for (counter, n) in self.pruned.iter().zip(counts) {
            counter.inc_by(n);
        }
    }

    /// The page that Prometheus reads.
    pub(crate) fn page(
        &self,
        nodes: &BTreeMap<Status, u64>,
        pending: usize,
        over_quota: usize,
    ) -> Result<String, std::fmt::Error> {
        self.pending.set(pending as i64);
        self.over_quota.set(over_quota as i64);
        // Words of other programs share a label, or they would make series without end.
        let known = Status::ALL.map(|status| nodes.get(&status).copied().unwrap_or_default());
        let others = nodes.values().sum::<u64>() - known.iter().sum::<u64>();
        for (status, count) in Status::ALL.iter().map(Status::to_string).zip(known) {
            self.nodes.get_or_create(&[("status", status)]).set(count as i64);
        }
        if others > 0 {
            self.nodes.get_or_create(&[("status", "other".to_owned())]).set(others as i64);
        }
        let mut page = String::new();
        encode(&mut page, &self.registry)?;
        Ok(page)
    }
}

/// Fails unless the manual's page has a row for each metric that is `printed`, and for no other one.
#[cfg(test)]
#[track_caller]
pub(crate) fn documents(page: &str, printed: &str) {
    use std::collections::BTreeSet;
    let types = printed.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let name = |line: &str| {
        let (name, kind) = line.split_once(' ').unwrap();
        let suffix = if kind == "counter" { "_total" } else { "" };
        (format!("{name}{suffix}"), kind.to_owned())
    };
    let row = |row: &str| {
        let (name, rest) = row.split_once('`').unwrap();
        let kind = rest.split('|').nth(1).unwrap().trim();
        let name = name.split('{').next().unwrap();
        (format!("provost_{name}"), kind.to_owned())
    };
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `provost_"));
    let printed: BTreeSet<(String, String)> = types.map(name).collect();
    assert_eq!(printed, rows.map(row).collect());
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jiff::Timestamp;
    use provost_api::Expires;
    use provost_api::admins::Expiring;
    use provost_store::Report;
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn report(seq: u64, more: serde_json::Value) -> Report {
        let mut record = json!({"timestamp": "2026-11-20T17:00:00Z", "service": "boot",
            "node": "cn001", "run": "a", "seq": seq, "durationMs": 1500, "result": "success"});
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Report::parse(&to_raw_value(&record).unwrap()).unwrap()
    }

    /// Metrics, each of which has a value.
    fn all() -> String {
        let metrics = Metrics::default();
        let end = |seq, stage| report(seq, json!({"phase": "stage end", "stage": stage}));
        metrics.timings.name(["mount_scratch".to_owned()].into());
        let batch = [
            end(1, "fetch"),
            end(2, "syslog"),
            end(3, "mount_scratch"),
            end(4, "x1"),
            end(5, "x2"),
            report(6, json!({"phase": "service end"})),
        ];
        let timings = metrics.timings.of(&batch);
        metrics.timings.observe(timings, 0);
        // Sent again with one more.
        let timings = metrics.timings.of(&[end(5, "x2"), end(6, "x3")]);
        metrics.timings.observe(timings, 1);
        metrics.ingested(&Ingested { fresh: 6, repeats: 1, ..Ingested::default() }, Duration::ZERO);
        metrics.log_stored(100, Duration::ZERO);
        drop(metrics.listeners.of("nodes").accepted());
        let expiring = |what, name: &str| Expiring {
            what,
            name: name.to_owned(),
            expires: Timestamp::UNIX_EPOCH,
            soon: true,
            hint: String::new(),
        };
        metrics.expiry.show(&[
            expiring(Expires::Publication, "all"),
            expiring(Expires::Certificate, "server"),
        ]);
        metrics.deliveries.delivered("ops", 1);
        metrics.deliveries.failed("ops");
        metrics.deliveries.dropped("ops", 1);
        metrics.deliveries.queued(vec![("ops".to_owned(), 3)]);
        metrics.page(&BTreeMap::new(), 0, 0).unwrap()
    }

    #[test]
    fn every_metric_is_documented_and_every_documented_one_is_printed() {
        documents(include_str!("../../../../docs/reference/metrics.md"), &all());
    }

    #[test]
    fn only_known_steps_have_series_of_their_own_and_what_was_repeated_counts_once() {
        let page = all();
        let count = |labels: &str| {
            let line = format!("provost_step_seconds_count{{{labels},result=\"success\"}} ");
            page.lines().find_map(|found| found.strip_prefix(&*line).map(str::to_owned))
        };
        assert_eq!(count("step=\"syslog\"").as_deref(), Some("1"), "{page}");
        assert_eq!(count("step=\"mount_scratch\"").as_deref(), Some("1"), "{page}");
        assert_eq!(count("step=\"other\"").as_deref(), Some("3"), "{page}");
        assert_eq!(page.matches("provost_step_seconds_count{").count(), 3, "{page}");
    }

    #[test]
    fn the_default_scripts_are_those_that_are_shipped() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../postscripts");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap());
        // Those with a suffix are what others source.
        let scripts: BTreeSet<String> = names.filter(|name| !name.contains('.')).collect();
        assert_eq!(scripts, timings::DEFAULT.map(str::to_owned).into());
    }
}

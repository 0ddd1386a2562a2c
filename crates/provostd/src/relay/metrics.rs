//! What a relay counts.

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::spool::Spooled;
use super::verdict::Verdict;
use crate::metrics::Listeners;

/// What a relay counts.
pub(super) struct Metrics {
    registry: Registry,
    requests: Counter,
    spooled: Counter,
    forwarded: Counter,
    refused: Counter,
    files: Counter,
    fetched: Counter,
    waiting: [Gauge; 4],
    unreachable: Gauge,
    pub(super) listeners: Listeners,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("provost_relay");
        let counter = |registry: &mut Registry, name: &str, help: &str| {
            let counter = Counter::<u64>::default();
            registry.register(name, help, counter.clone());
            counter
        };
        let requests = counter(&mut registry, "requests", "Reports, plans and beats of nodes");
        let spooled = counter(&mut registry, "spooled", "Reports that were spooled");
        let forwarded = counter(&mut registry, "forwarded", "Reports that an upstream has taken");
        let refused = counter(&mut registry, "refused", "Reports that an upstream has refused");
        let files = counter(&mut registry, "files", "Requests for published files");
        let fetched = counter(&mut registry, "files_fetched", "Requests for these to upstreams");
        let gauge = |registry: &mut Registry, name: &str, help: &str| {
            let gauge = Gauge::<i64>::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        let waiting = [
            ("waiting_nodes", "Nodes of which something waits for an upstream"),
            ("waiting_records", "Records that wait for an upstream"),
            ("waiting_logs", "Logs that wait for an upstream"),
            ("waiting_bytes", "Bytes of these"),
        ];
        let waiting = waiting.map(|(name, help)| gauge(&mut registry, name, help));
        let help = "Upstreams that can't be reached";
        let unreachable = gauge(&mut registry, "upstreams_unreachable", help);
        let listeners = Listeners::default();
        listeners.register(&mut registry);
        Self {
            registry,
            requests,
            spooled,
            forwarded,
            refused,
            files,
            fetched,
            waiting,
            unreachable,
            listeners,
        }
    }
}

impl Metrics {
    pub(super) fn asked(&self) {
        self.requests.inc();
    }

    pub(super) fn spooled(&self) {
        self.spooled.inc();
    }

    pub(super) fn file(&self) {
        self.files.inc();
    }

    pub(super) fn fetched(&self) {
        self.fetched.inc();
    }

    pub(super) fn forwarded(&self, verdict: &Verdict) {
        match verdict {
            Verdict::Taken(_) => self.forwarded.inc(),
            Verdict::NotTheNode | Verdict::Never | Verdict::Later => self.refused.inc(),
        };
    }

    /// The page that Prometheus reads.
    pub(super) fn page(
        &self,
        spooled: &Spooled,
        unreachable: usize,
    ) -> Result<String, std::fmt::Error> {
        let values = [spooled.nodes, spooled.records, spooled.logs, spooled.bytes];
        for (gauge, value) in self.waiting.iter().zip(values) {
            gauge.set(value);
        }
        self.unreachable.set(unreachable as i64);
        let mut page = String::new();
        encode(&mut page, &self.registry)?;
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_documented_and_every_documented_one_is_printed() {
        let metrics = Metrics::default();
        drop(metrics.listeners.of("nodes"));
        let printed = metrics.page(&Spooled::default(), 0).unwrap();
        crate::metrics::documents(include_str!("../../../../docs/relay.md"), &printed);
    }
}

//! How long nodes took, by their own clocks.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use provost_record::{Outcome, Phase, Record};
use provost_store::Report;

/// The default scripts (postscripts/), by whose names steps are told apart. Those of a site have no
/// series of their own unless it names them: there may be thousands, and a node can make names up.
pub(super) const DEFAULT: [&str; 22] = [
    "addsiterepo",
    "configboot",
    "configfirewall",
    "confignetwork",
    "enablekdump",
    "hostkeys",
    "hostname",
    "mkresolvconf",
    "motd",
    "mountinstall",
    "ospkgs",
    "otherpkgs",
    "remoteshell",
    "serialconsole",
    "setroute",
    "setsysctl",
    "setupldap",
    "setupntp",
    "setupscratch",
    "sudoer",
    "syncfiles",
    "syslog",
];
/// All other steps.
const OTHER: &str = "other";

type Histograms<const N: usize> = Family<[(&'static str, String); N], Histogram, fn() -> Histogram>;

/// How long fetches, steps and runs took.
pub(crate) struct Timings {
    fetch: Histograms<1>,
    step: Histograms<2>,
    run: Histograms<2>,
    /// The site's own scripts that are told apart.
    named: OnceLock<BTreeSet<String>>,
}

/// From 10 ms to 45 min.
fn long() -> Histogram {
    Histogram::new(exponential_buckets(0.01, 2.0, 19))
}

impl Default for Timings {
    fn default() -> Self {
        let new = long as fn() -> Histogram;
        Self {
            fetch: Family::new_with_constructor(new),
            step: Family::new_with_constructor(new),
            run: Family::new_with_constructor(new),
            named: OnceLock::new(),
        }
    }
}

/// What is kept of a record until it is known whether it is new.
pub(crate) enum Timing {
    Fetch(&'static str, f64),
    Step(String, &'static str, f64),
    Run(String, &'static str, f64),
}

impl Timings {
    pub(super) fn register(&self, registry: &mut Registry) {
        let seconds = || Unit::Seconds;
        let help = "Time of a fetch of scripts and plan, on the node";
        registry.register_with_unit("fetch", help, seconds(), self.fetch.clone());
        let help = "Time of a step, on the node";
        registry.register_with_unit("step", help, seconds(), self.step.clone());
        let help = "Time of a run, on the node";
        registry.register_with_unit("run", help, seconds(), self.run.clone());
    }

    /// Names scripts of the site that are told apart, besides the default ones.
    pub(crate) fn name(&self, steps: BTreeSet<String>) {
        // Those who came first stay.
        let _ = self.named.set(steps);
    }

    /// What the records of a batch tell, of each.
    pub(crate) fn of(&self, batch: &[Report]) -> Vec<Option<Timing>> {
        batch.iter().map(|report| self.of_record(&report.record)).collect()
    }

    fn of_record(&self, record: &Record) -> Option<Timing> {
        let seconds = record.duration_ms? as f64 / 1000.0;
        let result = match record.result {
            Some(Outcome::Success) => "success",
            _ => "failure",
        };
        match (record.phase, record.stage.as_deref()) {
            // What needn't run took no time.
            (Phase::StageEnd, _) if record.skipped.is_some() => None,
            (Phase::StageEnd, Some("fetch")) => Some(Timing::Fetch(result, seconds)),
            (Phase::StageEnd, Some(stage)) => {
                let is_named = || self.named.get().is_some_and(|named| named.contains(stage));
                let is_known = DEFAULT.contains(&stage) || is_named();
                let stage = if is_known { stage } else { OTHER };
                Some(Timing::Step(stage.to_owned(), result, seconds))
            }
            (Phase::ServiceEnd, _) => {
                let known = ["kickstart", "boot", "run"];
                let service = known.into_iter().find(|known| *known == record.service)?;
                Some(Timing::Run(service.to_owned(), result, seconds))
            }
            _ => None,
        }
    }

    /// Observes what the new records of a batch told: what was repeated comes first.
    pub(crate) fn observe(&self, timings: Vec<Option<Timing>>, repeats: usize) {
        for timing in timings.into_iter().skip(repeats).flatten() {
            let result = |result: &'static str| ("result", result.to_owned());
            match timing {
                Timing::Fetch(ended, seconds) => {
                    self.fetch.get_or_create(&[result(ended)]).observe(seconds);
                }
                Timing::Step(step, ended, seconds) => {
                    self.step.get_or_create(&[("step", step), result(ended)]).observe(seconds);
                }
                Timing::Run(service, ended, seconds) => {
                    self.run.get_or_create(&[("service", service), result(ended)]).observe(seconds);
                }
            }
        }
    }
}

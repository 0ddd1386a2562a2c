//! Nodes that report their boots, without the node's program.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use provost_tests::processes;
use provost_tests::reporters::{Reporters, Wire, begins, ends, fetched};
use serde_json::{Value, json};

/// Records of a boot, …
pub(crate) const RECORDS: usize = 60;
/// … and of one that is short, for many nodes.
pub(crate) const FEW: usize = 6;
/// Those of one report.
const BATCH: usize = 20;
/// How many connections report.
const CONNECTIONS: usize = 4;
/// One node in so many fails …
const FAILS: usize = 10;
/// … for one of so many causes.
const CAUSES: usize = 7;
/// What stands for the node and for its run.
const NODE: &str = "@node";
const RUN: &str = "@run";

/// Nodes with tokens, and what each reports.
pub(crate) struct Load {
    pub(crate) nodes: Reporters,
    pub(crate) count: usize,
    whole: Boots,
    short: Boots,
}

/// The reports of a boot that succeeds, and of one that fails for each cause.
type Boots = Vec<Vec<String>>;

impl Load {
    pub(crate) fn new(nodes: Reporters, count: usize) -> Self {
        let boots = |records| (0..=CAUSES).map(|cause| reports(cause, records)).collect();
        Self { nodes, count, whole: boots(RECORDS), short: boots(FEW) }
    }

    /// Boots these nodes as fast as the daemon acknowledges it; `run` is the number of their runs.
    pub(crate) fn boot(&self, numbers: Range<usize>, run: usize) {
        self.boot_as(&self.whole, numbers, run);
    }

    /// Boots all nodes, with few records each.
    pub(crate) fn boot_all(&self, run: usize) {
        self.boot_as(&self.short, 0..self.count, run);
    }

    fn boot_as(&self, boots: &Boots, numbers: Range<usize>, run: usize) {
        let next = AtomicUsize::new(numbers.start);
        thread::scope(|scope| {
            for _ in 0..CONNECTIONS {
                scope.spawn(|| {
                    let mut wire = self.nodes.connect();
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= numbers.end {
                            return;
                        }
                        self.reports(boots, number, run).for_each(|body| wire.post(number, &body));
                    }
                });
            }
        });
    }

    /// Sends so many records a second, of one node after the other, until `is_over`.
    pub(crate) fn trickle(&self, per_second: usize, run: usize, is_over: impl Fn() -> bool) {
        let pause = Duration::from_secs(1) * BATCH as u32 / per_second as u32;
        let mut wire: Wire<'_> = self.nodes.connect();
        let mut at = Instant::now();
        for number in 0..self.count {
            for body in self.reports(&self.whole, number, run) {
                wire.post(number, &body);
                at += pause;
                if processes::until(at.saturating_duration_since(Instant::now()), &is_over) {
                    return;
                }
            }
        }
    }

    fn reports<'a>(
        &'a self,
        boots: &'a Boots,
        number: usize,
        run: usize,
    ) -> impl Iterator<Item = String> + 'a {
        let cause = if number.is_multiple_of(FAILS) { number / FAILS % CAUSES + 1 } else { 0 };
        let (name, run) = (self.nodes.name(number), Reporters::run(number, run));
        boots[cause].iter().map(move |body| body.replace(NODE, name).replace(RUN, &run))
    }
}

/// The reports of a boot that fails for a cause, or succeeds if that is 0.
fn reports(cause: usize, records: usize) -> Vec<String> {
    let stage = |n: usize| format!("s{n:02}");
    let steps = (1..=(records - 4) / 2).flat_map(|n| {
        [
            json!({"phase": "stage start", "stage": stage(n)}),
            json!({"phase": "stage end", "stage": stage(n), "result": "success", "durationMs": 210}),
        ]
    });
    let mut records = vec![begins(), json!({"phase": "stage start", "stage": "fetch"}), fetched()];
    records.extend(steps);
    if cause > 0 {
        let message = format!("mount.nfs: Connection timed out for server-{cause}:/scratch");
        let last = records.len() - 1;
        records[last] = json!({"phase": "stage end", "stage": format!("mount_{cause}"),
            "result": "failure", "cause": "exit", "exitCode": 32, "errorMessage": message,
            "durationMs": 4000, "hint": "check the file server"});
        records.push(ends("failure", &message));
    } else {
        records.push(ends("success", ""));
    }
    let all: Vec<Value> =
        (1..).zip(records).map(|(seq, r)| Reporters::record(NODE, RUN, seq, r)).collect();
    all.chunks(BATCH).map(|batch| json!(batch).to_string()).collect()
}

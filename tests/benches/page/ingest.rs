//! What open tabs cost those who report.

use std::time::{Duration, Instant};

use provost_tests::Cluster;

use crate::common::median;
use crate::common::table::{Table, Target};
use crate::load::{Load, RECORDS};
use crate::tabs::Tab;
use crate::usage::Usage;

/// How many tabs are open.
const TABS: usize = 20;
/// How many nodes boot in a measurement.
const NODES: usize = 4_000;
/// How often each is measured; odd.
const ROUNDS: usize = 5;

/// What ingest took.
struct Ingest {
    took: Duration,
    /// Of the daemon.
    processor: Duration,
}

/// Nodes report with no tab, with tabs that show the overview, and with tabs of which each shows another
/// page; in turn, so that whatever else the machine does is done to each.
pub(crate) fn beside_tabs(cluster: &Cluster, load: &Load) -> Table {
    let mut table = Table::new();
    let one: Vec<String> = (0..TABS).map(|_| "/".to_owned()).collect();
    let each = pages(load);
    let kinds: [&[String]; 3] = [&[], &one, &each];
    let mut measured: [Vec<Ingest>; 3] = Default::default();
    let mut run = 1_000;
    for round in 0..ROUNDS {
        // Each kind comes first once.
        for turn in 0..kinds.len() {
            let kind = (round + turn) % kinds.len();
            let tabs: Vec<Tab> = kinds[kind].iter().map(|path| Tab::open(cluster, path)).collect();
            run += 1;
            measured[kind].push(ingest(cluster, load, run));
            drop(tabs);
        }
    }
    let records = (NODES.min(load.count) * RECORDS) as f64;
    let processor = |kind: usize| {
        let of = |m: &Ingest| m.processor.as_secs_f64() * 1e6 / records;
        median(measured[kind].iter().map(of).collect())
    };
    let rate = |kind: usize| {
        median(measured[kind].iter().map(|m| records / m.took.as_secs_f64()).collect())
    };
    for (kind, what) in [(1, "20 tabs of the overview"), (2, "20 tabs, each another page")] {
        let what = |unit: &str| format!("{unit}, {what} beside none");
        let (more, less) = (Target::AtMost(1.05), Target::AtLeast(0.95));
        table.compare(&what("processor a record"), "us", processor(kind), processor(0), more);
        table.compare(&what("records a second"), "", rate(kind), rate(0), less);
    }
    table
}

fn ingest(cluster: &Cluster, load: &Load, run: usize) -> Ingest {
    let daemon = cluster.daemon().pid();
    let (before, began) = (Usage::of_all(&[daemon]), Instant::now());
    load.boot(0..NODES.min(load.count), run);
    Ingest { took: began.elapsed(), processor: Usage::of_all(&[daemon]).since(&before).processor }
}

/// Addresses of as many different pages as there are tabs.
fn pages(load: &Load) -> Vec<String> {
    let mut pages: Vec<String> = [
        "/",
        "/nodes",
        "/nodes?failed=true",
        "/nodes?sort=since&down=true",
        "/nodes?sort=stage",
        "/nodes?status=booted",
        "/nodes?status=failed",
        "/nodes?q=0099",
        "/nodes?cause=exit",
        "/scripts",
        "/scripts/s01",
        "/published",
        "/events",
    ]
    .map(str::to_owned)
    .to_vec();
    let nodes = (0..).map(|number| format!("/nodes/{}", load.nodes.name(number)));
    pages.extend(nodes.take(TABS - pages.len()));
    pages
}

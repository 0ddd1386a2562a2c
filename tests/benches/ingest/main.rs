//! How many records a second a real provostd takes over HTTP, in reports of several sizes, beside the floor of
//! its store: the same records as rows with two indexes, which one client puts into a table by the store's fastest
//! way, with nothing else to do.
//!
//! `cargo xtask bench ingest` runs it. Reporters, daemon and store share the machine: compare what a record costs
//! of the processor.
#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]
#![expect(clippy::print_stdout, reason = "printing is what it does")]

#[path = "../common/usage.rs"]
mod usage;

mod floor;
mod reporters;

use std::time::{Duration, Instant};

use floor::Rows;
use provost_tests::{Cluster, Postgres};
use reporters::Reports;
use usage::{Usage, with_children};

/// Nodes that report, and the runs of each.
const NODES: usize = 600;
const RUNS: usize = 8;
/// Records of a run: the most that a node puts into a report.
const RECORDS: usize = 500;
/// How many of them come at once: a second of a node with quick scripts, a boot's, the most of a report.
const BATCHES: [usize; 3] = [10, 60, RECORDS];

/// What it took to take all records.
struct Taken {
    records: usize,
    time: Duration,
    /// The processor's, of all that the server has.
    processor: Duration,
}

fn main() {
    println!("{:<34}{:>12}{:>16}{:>16}", "", "records/s", "us a record", "of the floor");
    let records = Reports::new(NODES / BATCHES.len(), 0).records();
    let floor = floor::sqlite(&records, Rows::Indexed);
    floor.print("SQLite: rows, two indexes", &floor);
    floor::sqlite(&records, Rows::Plain).print("SQLite: rows, no index", &floor);
    compare("SQLite", None, &floor);
    if let Some(missing) = Postgres::missing() {
        return println!("PostgreSQL isn't measured: {missing}");
    }
    let server = Postgres::start_synced();
    let floor = floor::postgres(&server, &records, Rows::Indexed);
    floor.print("PostgreSQL: COPY, two indexes", &floor);
    floor::postgres(&server, &records, Rows::Plain).print("PostgreSQL: COPY, no index", &floor);
    compare("PostgreSQL", Some(&server), &floor);
}

/// Prints what a provostd takes with each size of reports.
fn compare(store: &str, server: Option<&Postgres>, floor: &Taken) {
    let mut cluster = Cluster::new();
    cluster.script("s", "#!/bin/sh\n");
    cluster.site(&format!("[groups.all]\nnodes = \"n[0001-{NODES:04}]\"\npostscripts = [\"s\"]\n"));
    cluster.publish().expect(0);
    if let Some(server) = server {
        cluster.configure_daemon(&format!("store = {:?}\n", server.database("site")));
    }
    cluster.start();
    let lines = cluster.ctl(&["token", &format!("n[0001-{NODES:04}]")]).expect(0).stdout;
    let tokens: Vec<&str> = lines.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    let of_each = NODES / BATCHES.len();
    for (nth, batch) in BATCHES.into_iter().enumerate() {
        let reports = Reports::new(of_each, nth * of_each);
        let requests = reports.requests(batch, &tokens);
        let pids = || {
            let database = server.map(|server| with_children(server.pid()));
            [vec![cluster.daemon().pid()], database.unwrap_or_default()].concat()
        };
        let taken = Taken::measured(of_each * RUNS * RECORDS, pids, || {
            reporters::send_all(&cluster.daemon().nodes(), requests);
        });
        taken.print(&format!("{store}: {batch} records a report"), floor);
    }
}

impl Taken {
    /// What the processes that `pids` names use while `work` has them take so many records.
    fn measured(records: usize, pids: impl Fn() -> Vec<u32>, work: impl FnOnce()) -> Self {
        let (before, begun) = (Usage::of_all(&pids()), Instant::now());
        work();
        let time = begun.elapsed();
        Self { records, time, processor: Usage::of_all(&pids()).since(&before).processor }
    }

    fn print(&self, what: &str, floor: &Self) {
        let a_second = |taken: &Self| taken.records as f64 / taken.time.as_secs_f64();
        let of_processor = self.processor.as_secs_f64() * 1e6 / self.records as f64;
        let (rate, ratio) = (a_second(self), a_second(self) / a_second(floor));
        println!("{what:<34}{rate:>12.0}{of_processor:>16.2}{ratio:>16.2}");
    }
}

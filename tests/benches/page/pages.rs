//! How long a page takes the server.

use std::time::Instant;

use provost_tests::Cluster;

use crate::common::median;
use crate::common::table::{Table, Target};

/// How often each page is asked for; odd.
const ROUNDS: usize = 11;
/// The longest that the overview may take, in milliseconds.
const GOAL: Target = Target::AtMost(300.0);

/// The largest that it may be, in kilobytes.
const SIZE: Target = Target::AtMost(400.0);

/// The first overview after `what`, and what else reads all steps.
pub(crate) fn first(what: &str, cluster: &Cluster) -> Table {
    let mut table = Table::new();
    table.hold(&format!("first overview after {what}"), "ms", time(cluster, "/"), GOAL);
    table.hold("first metrics", "ms", time(cluster, "/metrics"), Target::None);
    table.hold("first list of the API", "ms", time(cluster, "/v1/nodes"), Target::None);
    table
}

/// Pages of nodes that the daemon has in memory.
pub(crate) fn again(cluster: &Cluster, nodes: usize) -> Table {
    let mut table = Table::new();
    let set = format!("/nodes?q=n%5B000001-{nodes:06}%5D&page=500");
    for (what, path, goal) in [
        ("overview", "/", GOAL),
        ("nodes", "/nodes", Target::None),
        ("nodes, a part of the name", "/nodes?q=0099", Target::None),
        ("nodes, a set of all names", &set, Target::None),
        ("nodes, failed", "/nodes?failed=true", Target::None),
        ("nodes, of a cause", "/nodes?cause=exit", Target::None),
        ("nodes by time, down", "/nodes?sort=since&down=true", Target::None),
        ("nodes by stage, the last part", "/nodes?sort=stage&page=100000", Target::None),
        ("scripts", "/scripts", Target::None),
        ("a script", "/scripts/s01", Target::None),
        ("a node", "/nodes/n000001", Target::None),
        ("published", "/published", Target::None),
        ("events", "/events", Target::None),
        ("metrics", "/metrics", Target::None),
    ] {
        let times = (0..ROUNDS).map(|_| time(cluster, path)).collect();
        table.hold(what, "ms", median(times), goal);
    }
    let kilobytes = cluster.daemon().get("/").len() as f64 / 1e3;
    table.hold("overview with the map", "KB", kilobytes, SIZE);
    table
}

fn time(cluster: &Cluster, path: &str) -> f64 {
    let began = Instant::now();
    cluster.daemon().get(path);
    began.elapsed().as_secs_f64() * 1e3
}

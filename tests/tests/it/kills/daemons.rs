//! The management node's daemon is killed while nodes report. What it acknowledged is there, once,
//! and in the end so is all the rest.

use std::time::Duration;

use fastrand::Rng;
use provost_tests::faults::{Exchange, Faulty};
use provost_tests::killing::{self, UNGUARDED, all_report, boot_while};
use provost_tests::{Node, accounts, processes, repeats, seed};
use serde_json::Value;

/// How many nodes report at once.
const NODES: usize = 4;
/// How often the daemon is killed.
const KILLS: usize = 40;
/// How long it lives at most.
const LIFE: Duration = Duration::from_millis(300);

/// How many records the daemon has acknowledged.
fn acknowledged(exchanges: &[Exchange]) -> usize {
    let reports = exchanges.iter().filter(|e| e.request.path.ends_with("/records"));
    let taken = reports.filter(|e| e.answer.as_ref().is_some_and(|answer| answer.status == 200));
    taken.map(|e| serde_json::from_slice::<Vec<Value>>(&e.request.body).unwrap().len()).sum()
}

#[test]
fn a_daemon_that_is_killed_again_and_again_keeps_what_it_acknowledged_once() {
    let mut rng = Rng::with_seed(seed());
    for _ in 0..repeats(1, 25) {
        all_of_a_daemon_that_is_killed_is_kept(&mut rng);
    }
}

fn all_of_a_daemon_that_is_killed_is_kept(rng: &mut Rng) {
    let mut cluster = killing::cluster(&format!("cn[1-{NODES}]"), UNGUARDED);
    // Between the nodes and the daemon, to see what is acknowledged.
    let address = cluster.daemon().nodes();
    let server = Faulty::before(&address);
    let nodes: Vec<Node> = (1..=NODES).map(|n| cluster.node(&format!("cn{n}"))).collect();
    for node in &nodes {
        node.configure(&format!(
            "{}[fetch]\ndeadline = \"60s\"\n[report]\ndeadline = \"100ms\"\n{UNGUARDED}",
            cluster.settings_for(&[server.address()])
        ));
    }
    let boots = boot_while(&nodes, || {
        for _ in 0..KILLS {
            processes::until(LIFE.mul_f64(rng.f64()), || false);
            cluster.kill_daemon();
            cluster.start_at(&address);
        }
    });
    let taken = acknowledged(&server.exchanges());
    eprintln!("{boots} boots, {taken} records taken while it was killed");
    assert!(taken > KILLS);
    all_report(&nodes);
    nodes.iter().for_each(|node| accounts::all_is_told(&cluster, node, "boot"));
}

//! The management node's daemon is killed while nodes report. What it acknowledged is there, once,
//! and in the end so is all the rest.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fastrand::Rng;
use provost_tests::faults::{Exchange, Faulty};
use provost_tests::{Cluster, Node, accounts, processes, seed};
use serde_json::Value;

/// How many nodes report at once.
const NODES: usize = 4;
/// How often the daemon is killed.
const KILLS: usize = 40;
/// How long it lives at most.
const LIFE: Duration = Duration::from_millis(300);
/// How often nodes may fail.
const UNGUARDED: &str = "[guard]\nmax_attempts = 1000000\n";

fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    for script in ["one", "two", "three"] {
        cluster.script(script, "#!/bin/sh\necho \"$0\"\n");
    }
    let site = format!(
        "[groups.all]\nnodes = \"cn[1-{NODES}]\"\npostscripts = [\"one\", \"two\", \"three\"]\n"
    );
    cluster.site(&site).publish().expect(0);
    cluster.configure_daemon(UNGUARDED);
    cluster.start();
    cluster
}

/// How many records the daemon has acknowledged.
fn acknowledged(exchanges: &[Exchange]) -> usize {
    let reports = exchanges.iter().filter(|e| e.request.path.ends_with("/records"));
    let taken = reports.filter(|e| e.answer.as_ref().is_some_and(|answer| answer.status == 200));
    taken.map(|e| serde_json::from_slice::<Vec<Value>>(&e.request.body).unwrap().len()).sum()
}

/// Ends what goes on elsewhere, also when this test fails.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_daemon_that_is_killed_again_and_again_keeps_what_it_acknowledged_once() {
    let mut rng = Rng::with_seed(seed());
    let mut cluster = cluster();
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
    let (done, codes) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for node in &nodes {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let out = node.provost(&["boot"]);
                    codes.lock().unwrap().push(out.code);
                }
            });
        }
        let _done = Done(&done);
        for _ in 0..KILLS {
            processes::until(LIFE.mul_f64(rng.f64()), || false);
            cluster.kill_daemon();
            cluster.start_at(&address);
        }
    });
    let codes = codes.into_inner().unwrap();
    assert!(codes.iter().all(|code| *code == Some(0)), "{codes:?}");
    let taken = acknowledged(&server.exchanges());
    eprintln!("{} boots, {taken} records taken while it was killed", codes.len());
    assert!(taken > KILLS);
    for node in &nodes {
        node.provost(&["report"]).expect(0);
        accounts::all_is_told(&cluster, node, "boot");
    }
}

//! What tests have in common that kill something again and again while nodes boot.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Cluster, Node, SOON, processes};

/// How often nodes may fail.
pub const UNGUARDED: &str = "[guard]\nmax_attempts = 1000000\n";

/// A management node with three short scripts for `nodes`, published and running; `daemon` is added to its
/// configuration.
pub fn cluster(nodes: &str, daemon: &str) -> Cluster {
    let mut cluster = Cluster::new();
    for script in ["one", "two", "three"] {
        cluster.script(script, "#!/bin/sh\necho \"$0\"\n");
    }
    let site =
        format!("[groups.all]\nnodes = {nodes:?}\npostscripts = [\"one\", \"two\", \"three\"]\n");
    cluster.site(&site).publish().expect(0);
    cluster.configure_daemon(daemon);
    cluster.start();
    cluster
}

/// Ends what goes on elsewhere, also when the test fails.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Boots each of `nodes` again and again while `kill` goes on. Each boot succeeds. Returns how many there were.
#[track_caller]
pub fn boot_while(nodes: &[Node], kill: impl FnOnce()) -> usize {
    let (done, codes) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for node in nodes {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let out = node.provost(&["boot"]);
                    codes.lock().unwrap().push(out.code);
                }
            });
        }
        let _done = Done(&done);
        kill();
    });
    let codes = codes.into_inner().unwrap();
    assert!(codes.iter().all(|code| *code == Some(0)), "{codes:?}");
    codes.len()
}

/// Waits until each of `nodes` has sent what is left, of which a try may take no longer than its deadline.
#[track_caller]
pub fn all_report(nodes: &[Node]) {
    for node in nodes {
        let is_sent = || node.provost(&["report"]).code == Some(0);
        assert!(processes::until(10 * SOON, is_sent), "{}", node.provost(&["report"]).stderr);
    }
}

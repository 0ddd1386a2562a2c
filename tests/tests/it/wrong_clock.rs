//! A run whose clock was wrong is shown where it stood, not where its clock says.

use provost_tests::{Cluster, Faketime, Node, Out};

fn node() -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    let what = cluster.path("what");
    cluster.script("step", &format!("#!/bin/sh\n. '{}'\n", what.display()));
    cluster.site("[nodes.cn001]\npostscripts = [\"step\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

fn does(cluster: &Cluster, what: &str) {
    std::fs::write(cluster.path("what"), what).unwrap();
}

/// Two years ahead of what the test's own clock says.
fn ahead(node: &Node, faketime: &Faketime, args: &[&str]) -> Out {
    let mut command = node.command(args);
    faketime.load(&mut command).env("FAKETIME", "+2y").output().unwrap().into()
}

/// What each view calls the last run.
fn last_is(node: &Node, service: &str, printed: &str, code: i32) {
    let status = node.status();
    assert_eq!(status["service"], service, "{status:#}");
    node.provost(&["status", "--wait"]).expect(code);
    for args in [&["log"][..], &["log", "step"]] {
        let log = node.provost(args).expect(0).stdout;
        assert!(log.contains(printed), "{args:?}: {log}");
    }
    let analysis = node.provost(&["analyze"]).stdout;
    assert!(analysis.starts_with(&format!("cn001: {service} of ")), "{analysis}");
}

#[test]
fn a_run_of_a_clock_that_was_ahead_is_not_the_last_for_ever() {
    let faketime = Faketime::new();
    let (cluster, node) = node();
    does(&cluster, "echo first");
    node.provost(&["boot"]).expect(0);
    does(&cluster, "echo future");
    ahead(&node, &faketime, &["run", "step"]).expect(0);
    last_is(&node, "run", "future", 0);
    // In its own journal, and in another one.
    does(&cluster, "echo second; exit 1");
    node.provost(&["run", "step"]).expect(1);
    last_is(&node, "run", "second", 1);
    does(&cluster, "echo future");
    ahead(&node, &faketime, &["run", "step"]).expect(0);
    does(&cluster, "echo third; exit 1");
    node.provost(&["boot"]).expect(1);
    last_is(&node, "boot", "third", 1);
    // A run that is refused changes nothing.
    std::fs::rename(node.path("log/services/run.json"), node.path("run.json")).unwrap();
    std::fs::create_dir(node.path("log/services/run.json")).unwrap();
    std::fs::write(node.path("log/services/run.damaged"), "").unwrap();
    node.provost(&["run", "step"]).expect(2);
    std::fs::remove_dir(node.path("log/services/run.json")).unwrap();
    std::fs::rename(node.path("run.json"), node.path("log/services/run.json")).unwrap();
    last_is(&node, "boot", "third", 1);
}

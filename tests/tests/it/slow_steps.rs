//! Steps that take much longer than usual, on their node or in the fleet, and what runs now beside its usual time.

use provost_tests::reporters::{Reporters, begins, ends, fetched};
use provost_tests::{Cluster, processes};
use serde_json::{Value, json};
use std::time::Duration;

/// The longest that a page may take to show what has come in.
const SOON: Duration = Duration::from_secs(60);

fn step(ms: u64) -> Value {
    json!({"phase": "stage end", "stage": "mount_scratch", "result": "success", "durationMs": ms})
}

fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("mount_scratch", "#!/bin/sh\ntrue\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"mount_scratch\"]\n").publish().expect(0);
    cluster.start();
    cluster
}

/// The nodes with a slow step, each with it.
fn slow(cluster: &Cluster) -> Vec<(String, Value)> {
    let nodes = cluster.ctl_json(&["nodes", "--slow"]);
    let pair = |node: &Value| (node["name"].as_str().unwrap().to_owned(), node["slow"].clone());
    nodes.as_array().unwrap().iter().map(pair).collect()
}

#[test]
fn a_step_that_took_over_thrice_its_usual_time_is_named() {
    let cluster = cluster();
    let nodes = Reporters::new(&cluster, "n[1-8]");
    let mut wire = nodes.connect();
    let boot = |ms| [begins(), fetched(), step(ms), ends("success", "")];
    for number in 0..6 {
        for run in 0..3 {
            wire.send(number, run, 1, &boot(20_000));
        }
    }
    assert_eq!(slow(&cluster), []);
    // One slower than before, one that ran for the first time, and one that took twice as long.
    wire.send(0, 3, 1, &boot(100_000));
    wire.send(6, 0, 1, &boot(70_000));
    wire.send(1, 3, 1, &boot(40_000));
    let of = |ms: u64, of: &str| json!({"stage": "mount_scratch", "ms": ms, "usualMs": 20_000, "of": of});
    let expected = [("n1".to_owned(), of(100_000, "node")), ("n7".to_owned(), of(70_000, "fleet"))];
    assert!(processes::until(SOON, || slow(&cluster) == expected), "{:?}", slow(&cluster));
    let text = cluster.ctl(&["nodes", "--slow", "--long"]).expect(0).stdout;
    assert!(text.contains("mount_scratch took 1 min 40 s, usually 20.0 s on this node"), "{text}");
    assert!(
        text.contains("mount_scratch took 1 min 10 s, usually 20.0 s on half of the nodes"),
        "{text}"
    );
    let page = cluster.daemon().get("/");
    assert!(page.contains("Slower than usual"), "{page}");
    assert!(page.contains("mount_scratch took 1 min 40 s, usually 20.0 s on this node"), "{page}");
    assert!(cluster.metrics().contains("provost_nodes_slow 2\n"));
    // It is as usual again.
    wire.send(0, 4, 1, &boot(21_000));
    let one = || slow(&cluster).into_iter().map(|(node, _)| node).collect::<Vec<_>>();
    assert!(processes::until(SOON, || one() == ["n7"]), "{:?}", one());
}

#[test]
fn what_runs_for_longer_than_usual_comes_first() {
    let cluster = cluster();
    let nodes = Reporters::new(&cluster, "n[1-3]");
    let mut wire = nodes.connect();
    let starts = json!({"phase": "stage start", "stage": "mount_scratch"});
    for (number, usual) in [(0, 20_000), (1, 120_000)] {
        wire.send(number, 0, 1, &[begins(), fetched(), step(usual), ends("success", "")]);
    }
    for (number, elapsed) in [(0, 80_000), (1, 150_000), (2, 30_000)] {
        wire.send(number, 1, 1, &[begins(), fetched(), starts.clone()]);
        let beat = json!({"stage": "mount_scratch", "log": "01-mount_scratch", "elapsedMs": elapsed,
            "line": format!("line of {number}")});
        let path = format!("runs/{}/beat", Reporters::run(number, 1));
        let answer = wire.try_post_to(&path, number, &beat.to_string()).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    let shown = || -> String {
        let page = cluster.daemon().get("/");
        page.split_once("What runs now").map(|(_, rest)| rest.to_owned()).unwrap_or_default()
    };
    let at = |part: &str| shown().find(part);
    assert!(processes::until(SOON, || at("line of 2").is_some()), "{}", shown());
    let order = [at("line of 0"), at("line of 1"), at("line of 2")];
    assert!(order.is_sorted() && order[0].is_some(), "{}", shown());
    assert!(
        shown().contains("(usually 20 s)") && shown().contains("(usually 2 min)"),
        "{}",
        shown()
    );
    let slow = slow(&cluster);
    let [(name, step)] = &*slow else { panic!("{slow:?}") };
    assert_eq!((&**name, &step["running"], &step["of"]), ("n1", &json!(true), &json!("node")));
    let text = cluster.ctl(&["nodes", "--slow", "--long"]).expect(0).stdout;
    assert!(text.contains("slow, usually 20.0 s on this node, for"), "{text}");
    assert!(cluster.metrics().contains("provost_nodes_slow 1\n"));
}

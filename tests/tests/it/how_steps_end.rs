//! What the record of a step says of its end.

use provost_tests::{Cluster, Node};
use serde_json::Value;

fn run(script: &str) -> (Cluster, Node, Value) {
    let mut cluster = Cluster::new();
    cluster.script("step", script);
    cluster.site("[nodes.cn001]\npostscripts = [\"step\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let config = std::fs::read_to_string(node.path("provost.toml")).unwrap();
    std::fs::write(node.path("provost.toml"), format!("{config}[run]\ngrace = \"1s\"\n")).unwrap();
    node.provost(&["boot"]).expect(1);
    let is_end = |r: &Value| r["phase"] == "stage end" && r["stage"] == "step";
    let end = node.journal("boot").into_iter().find(is_end).unwrap();
    (cluster, node, end)
}

#[test]
fn a_time_out_has_the_signal_that_ended_the_step() {
    for (body, signal) in
        [("exec sleep 600", "SIGTERM"), ("trap '' TERM\nwhile :; do sleep 1; done", "SIGKILL")]
    {
        let header = "#!/bin/sh\n# /// provost\n# timeout = \"1s\"\n# ///\n";
        let (cluster, node, end) = run(&format!("{header}{body}\n"));
        assert_eq!((&end["cause"], &end["signal"]), (&"timeout".into(), &signal.into()), "{end:#}");
        let status = node.provost(&["status"]).expect(0).stdout;
        assert!(status.contains("\nstep: time-out\n"), "{status}");
        let shown = cluster.ctl(&["nodes"]).expect(0).stdout;
        assert!(shown.contains("time-out"), "{shown}");
    }
}

#[test]
fn a_script_that_printed_its_hint_alone_has_printed_something() {
    let (_cluster, _node, end) = run("#!/bin/sh\necho 'hint: mount it first'\nexit 3\n");
    assert_eq!(end["hint"], "mount it first");
    assert_eq!(end["errorMessage"], "hint: mount it first");
}

//! The logs of runs don't fill the disk in time, and none goes that somebody still needs; and what
//! shows them tells where it can't.

use std::collections::BTreeSet;

use provost_tests::{Cluster, Node, Out};

/// How many runs' logs are kept.
const KEPT: usize = 20;

fn runs(node: &Node) -> BTreeSet<String> {
    let folder = std::fs::read_dir(node.path("log/scripts")).unwrap();
    folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn the_logs_of_old_runs_go_but_for_those_that_are_needed() {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\necho one\n").script("bad", "#!/bin/sh\nexit 3\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let config = std::fs::read_to_string(node.path("provost.toml")).unwrap();
    let configure = |more: &str| {
        std::fs::write(node.path("provost.toml"), config.clone() + more).unwrap();
    };
    let last = || node.status()["run"].as_str().unwrap().to_owned();

    node.provost(&["run", "one"]).expect(0);
    let first = last();
    node.provost(&["boot"]).expect(0);
    let boot = last();
    let address = cluster.kill_daemon();
    configure(
        "[report]\ndeadline = \"10ms\"\n[fetch]\noffline = \"last-good\"\ndeadline = \"100ms\"\n",
    );
    node.provost(&["run", "bad"]).expect(1);
    let failed = last();
    std::fs::create_dir(node.path("log/scripts/somebody's")).unwrap();
    // With these the first one is none of the newest.
    for _ in 0..KEPT {
        node.provost(&["run", "one"]).expect(0);
    }

    // A reader of a journal leaves it as it is: what a run reserved there is gone.
    for service in ["boot", "run"] {
        let text = std::fs::read(node.path(&format!("log/services/{service}.json"))).unwrap();
        assert!(text.ends_with(b"}\n]\n"), "{service}: {} bytes", text.len());
    }
    let kept = runs(&node);
    assert_eq!(kept.len(), KEPT + 3, "{kept:?}");
    for needed in [&boot, &failed, &last(), "somebody's"] {
        assert!(kept.contains(needed), "{needed} of {kept:?}");
    }
    assert!(!kept.contains(&first));
    cluster.start_at(&address);
    configure("");
    node.provost(&["run", "one"]).expect(0);
    assert!(!runs(&node).contains(&failed), "its log has been uploaded");
    cluster.ctl(&["log", "cn001", "bad"]).expect(0);
}

#[test]
fn what_can_not_be_printed_is_told() {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\necho one\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    let log = node.status()["stages"][1]["log"].as_str().unwrap().to_owned();
    for command in
        ["status", "status --format json", "log", "log --format json", "check", "analyze"]
    {
        let words: Vec<&str> = command.split(' ').collect();
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let out = Out::from(node.command(&words).stdout(full).output().unwrap());
        let told = &out.expect(2).stderr;
        assert!(told.contains("writing the output: No space left"), "{command}: {told}");
        assert!(told.contains("hint: "), "{command}: {told}");
    }

    // A script can do that.
    std::fs::remove_file(&log).unwrap();
    provost_tests::pipe(log.as_ref());
    node.provost(&["log", "one"]).expect(2).says(&["log of \"one\"", "there is none", "hint: "]);
}

/// Its log is made before it begins.
#[test]
fn a_script_that_never_ran_has_none() {
    let mut cluster = Cluster::new();
    for name in ["one", "two", "four", "five"] {
        cluster.script(name, "#!/bin/sh\necho well\n");
    }
    cluster.script("three", "#!/bin/sh\nexit 3\n");
    cluster
        .site("[nodes.cn001]\npostscripts = [\"one\", \"two\", \"three\", \"four\", \"five\"]\n")
        .publish()
        .expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(1);
    let run = runs(&node).pop_last().unwrap();
    let logs = std::fs::read_dir(node.path("log/scripts").join(run)).unwrap();
    let logs: BTreeSet<_> = logs.map(|log| log.unwrap().file_name()).collect();
    let logs: Vec<_> = logs.iter().map(|log| log.to_str().unwrap()).collect();
    assert_eq!(logs, ["01-one.log", "02-two.log", "03-three.log"]);
}

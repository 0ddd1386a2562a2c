//! `provost run --dry-run` on a node: with its own plan, and nobody is notified.

use std::fs;

use provost_tests::{Cluster, missing, skip_if, skip_part};

#[test]
fn a_node_tries_a_script_with_its_plan_and_tells_nobody() {
    skip_if(missing::mounts());
    skip_if(missing::process_namespaces());
    let mut cluster = Cluster::new();
    let text = "#!/bin/sh\necho \"$NODE has $COLOUR\"\necho two >>\"$MARKER\"\n";
    cluster.script("show", text);
    let marker = cluster.path("nodes/cn001/marker");
    let env = format!("env = {{ COLOUR = \"blue\", MARKER = {:?} }}", marker.to_str().unwrap());
    cluster.site(&format!("[nodes.cn001]\npostscripts = [\"show\"]\n{env}\n"));
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let marker = node.path("marker");
    fs::write(&marker, "one\n").unwrap();
    let out = node.provost(&["run", "--dry-run", "show"]).expect(0);
    assert!(out.stderr.contains("dry run of show: nothing on this machine changes"), "{out:?}");
    assert!(out.stdout.contains("| cn001 has blue\n"), "{out:?}");
    assert!(out.stdout.contains("@@ -1 +1,2 @@\n one\n+two\n"), "{out:?}");
    assert_eq!(fs::read_to_string(&marker).unwrap(), "one\n");
    assert!(!node.path("log/services/run.json").exists());
    let runs = || cluster.ctl_json(&["show", "cn001"])["runs"].as_array().unwrap().len();
    assert_eq!(runs(), 0);

    // Without a network it has what the node fetched last: nothing of this publication.
    let offline = ["run", "--dry-run", "--network", "none", "show"];
    let begun = std::time::Instant::now();
    let out = node.provost(&offline).expect(3);
    assert!(begun.elapsed() < std::time::Duration::from_secs(60), "{out:?}");
    assert!(out.stderr.contains("hint: "), "{out:?}");

    // Also where people write it last.
    node.provost(&["run", "show", "--dry-run"]).expect(0);
    assert_eq!(fs::read_to_string(&marker).unwrap(), "one\n");

    // By a file that is named from where its admin is.
    let line = "provost --config provost.toml run --dry-run show";
    let from_there = format!("cd {} && {line}", node.path("").display());
    let out = node.shell(&from_there, &cluster).expect(0);
    assert!(out.stdout.contains("| cn001 has blue\n"), "{out:?}");

    // On a disk, where there is more room than in memory.
    let scratch = cluster.path("scratch");
    fs::create_dir(&scratch).unwrap();
    match missing::program("mkfs.ext4", "e2fsprogs").or_else(|| {
        let is_there = std::path::Path::new("/dev/loop-control").exists();
        (!is_there).then(|| "no loop devices".to_owned())
    }) {
        None => {
            let options = ["run", "--dry-run", "--scratch", scratch.to_str().unwrap()];
            let out = node.provost(&[&options[..], &["--format", "json", "show"]].concat());
            assert_eq!(out.expect(0).json()["changes"][0]["path"], marker.to_str().unwrap());
            assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
        }
        Some(missing) => skip_part(&missing),
    }

    node.provost(&["run", "show"]).expect(0);
    assert_eq!(fs::read_to_string(&marker).unwrap(), "one\ntwo\n");
    assert_eq!(runs(), 1);
    let out = node.provost(&offline).expect(0);
    assert!(out.stdout.contains("| cn001 has blue\n"), "{out:?}");
    assert!(out.stdout.contains("@@ -1,2 +1,3 @@\n one\n two\n+two\n"), "{out:?}");
    assert!(out.stderr.contains("no server responded: using the last good"), "{out:?}");
}

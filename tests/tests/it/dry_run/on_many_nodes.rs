//! `provostctl rerun --dry-run`, over a real sshd: equal results stand together, and nothing changes.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use provost_tests::{Cluster, Network, Node, missing, skip_if};

use super::super::json_page::page::Page;

/// Changes a file that each node has for itself, and fails on one.
const CONF: &str = "#!/bin/bash\nsed -i \"s/two/2 of $NODE/\" \"$NODES/$NODE/conf\"\n\
    [ \"$NODE\" != cn003 ]\n";

fn cluster() -> Cluster {
    skip_if(missing::mounts());
    skip_if(missing::process_namespaces());
    let mut cluster = Cluster::new();
    cluster.script("conf", CONF).script("nothing", "#!/bin/sh\necho \"$*\"\n");
    cluster.script("foreign", "#!/nonexistent/ksh\n");
    let nodes = cluster.path("nodes");
    let site = format!("[nodes.\"cn[001-005]\"]\nenv = {{ NODES = {nodes:?} }}\n");
    cluster.site(&site).publish().expect(0);
    cluster.start();
    cluster
}

fn conf(node: &Node) -> String {
    fs::read_to_string(node.path("conf")).unwrap()
}

#[test]
fn equal_results_stand_together_and_nothing_changes() {
    let mut network = Network::new();
    let cluster = cluster();
    let nodes = ["cn001", "cn002", "cn003"].map(|name| cluster.node(name));
    for node in &nodes {
        fs::write(node.path("conf"), "one\ntwo\n").unwrap();
        network.join(node);
    }
    network.join_dead("cn004");
    let old = cluster.node("cn005");
    let program = old.path("fakes/provost");
    let refuses = "#!/bin/sh\necho \"error: unexpected argument '$2' found\" >&2\nexit 2\n";
    fs::write(&program, refuses).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    network.join(&old);
    let config = network.config();
    let rerun = |args: &[&str]| cluster.ctl(&[&["rerun", "--ssh-config", &config], args].concat());

    let out = rerun(&["cn[001-005]", "conf", "--dry-run"]).expect(1);
    let path = |node: &str| cluster.path("nodes").join(node).join("conf").display().to_string();
    let first = path("cn001");
    let begin = format!(
        "2 nodes cn[001-002]: {first} +1 -1
    as on cn001; the others differ only in the name
    changed {first}
    --- {first}
    +++ {first}
    @@ -1,2 +1,2 @@
     one
    -two
    +2 of cn001
1 node cn003: FAILED conf: exit status 1 at line 3 of "
    );
    assert!(out.stdout.starts_with(&begin), "{}\n{}", out.stdout, out.stderr);
    assert!(out.stdout.contains(&format!("; {} +1 -1\n", path("cn003"))), "{}", out.stdout);
    assert!(out.stdout.contains("1 node cn004: unreachable "), "{}", out.stdout);
    let too_old = "1 node cn005: FAILED its provost is too old for a dry run\n    hint: install";
    assert!(out.stdout.contains(too_old), "{}", out.stdout);
    assert!(!out.stdout.contains("provost log"), "{}", out.stdout);
    assert!(out.stderr.contains("cn[003,005] failed; cn004 unreachable"), "{}", out.stderr);
    for node in &nodes {
        assert_eq!(conf(node), "one\ntwo\n");
        assert!(!node.path("log/services/run.json").exists());
    }

    let out = rerun(&["--dry-run", "cn[001-003]", "-P", "nothing --dry-run"]).expect(0);
    assert_eq!(out.stdout, "3 nodes cn[001-003]: nothing\n");

    let json = rerun(&["--dry-run", "--format", "json", "cn[001-003]", "conf"]).expect(1).json();
    Page::read().check("nodes-of-a-dry-run[]", &json);
    assert_eq!((&json[0]["count"], &json[0]["nodes"]), (&2.into(), &"cn[001-002]".into()));
    assert_eq!(json[0]["dryRun"]["changes"][0]["path"], first);
    assert_eq!((&json[1]["result"], &json[1]["exitCode"]), (&"failed".into(), &1.into()));
    assert_eq!(json[1]["dryRun"]["failure"]["stage"], "conf");

    // What to do about it, but not that it is to be run.
    let out = rerun(&["--dry-run", "cn[001-002]", "foreign"]).expect(1);
    let hint =
        "\n    hint: install /nonexistent/ksh on the node, or change the script's first line\n";
    assert!(out.stdout.starts_with("2 nodes cn[001-002]: FAILED foreign: "), "{}", out.stdout);
    assert!(out.stdout.contains(hint), "{}", out.stdout);
    let json = rerun(&["--dry-run", "--format", "json", "cn001", "foreign"]).expect(1).json();
    assert_eq!(json[0]["hint"], hint.trim().strip_prefix("hint: ").unwrap());

    // Whoever means it.
    rerun(&["cn001", "conf"]).expect(0);
    assert_eq!(conf(&nodes[0]), "one\n2 of cn001\n");
}

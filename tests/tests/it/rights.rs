//! `provost status` and `provost log` of a user who may not read what they show: they say so, and
//! nothing that isn't true. A group may read it: `[paths] group`.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use provost_tests::{Cluster, Node, Out, missing, skip_if};

/// A user without any rights.
const NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
/// The same in the group that may read what the node keeps.
const MEMBER: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--groups=54321"];

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

/// A node that has booted, as another user may look at it.
fn node() -> (Cluster, Node) {
    skip_if(missing::other_users());
    let mut cluster = Cluster::new();
    cluster.script("hello", "#!/bin/sh\necho hello\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"hello\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let config = std::fs::read_to_string(node.path("provost.toml")).unwrap();
    std::fs::write(node.path("provost.toml"), config + "group = \"54321\"\n").unwrap();
    node.provost(&["boot"]).expect(0);
    for path in [cluster.path(""), cluster.path("nodes"), node.path("")] {
        mode(&path, 0o755);
    }
    (cluster, node)
}

fn by(who: &[&str], node: &Node, args: &[&str]) -> Out {
    node.command_by(who, args).output().unwrap().into()
}

#[track_caller]
fn refused(who: &[&str], node: &Node, args: &[&str], what: &str) {
    let out = by(who, node, args).expect(2);
    assert_eq!(out.stdout, "", "{args:?} {what}");
    let error = format!("reading {}: Permission denied", node.path(what).display());
    out.says(&[&error, "hint: run it as root"]);
}

#[test]
fn what_a_user_may_not_read_is_said_and_not_guessed() {
    let (_cluster, node) = node();
    for args in [&["status"][..], &["status", "--format", "json"], &["log"], &["log", "hello"]] {
        refused(&NOBODY, &node, args, "log/services/kickstart.json");
    }
    let out = by(&MEMBER, &node, &["log", "hello"]).expect(0);
    assert!(out.stdout.contains("hello"), "{}", out.stdout);
    by(&MEMBER, &node, &["status"]).expect(0);
    mode(&node.path("state/report/boot.json"), 0o600);
    refused(&MEMBER, &node, &["status"], "state/report/boot.json");
    for (path, hides) in [
        ("log/scripts", "log/scripts/"),
        ("log/services", "log/services/kickstart.json"),
        ("log/services/boot.json", "log/services/boot.json"),
        ("log", "log/services/kickstart.json"),
    ] {
        let before = std::fs::metadata(node.path(path)).unwrap().permissions().mode();
        mode(&node.path(path), 0o600);
        let run = node.status()["run"].as_str().unwrap().to_owned();
        let hides = if path == "log/scripts" { format!("{hides}{run}") } else { hides.to_owned() };
        refused(&MEMBER, &node, &["log"], &hides);
        refused(&MEMBER, &node, &["log", "hello"], &hides);
        by(&MEMBER, &node, &["status"]).expect(2);
        mode(&node.path(path), before);
    }
}

/// Without its configuration it would look at other folders.
#[test]
fn a_configuration_that_a_user_may_not_read_is_an_error() {
    let (_cluster, node) = node();
    mode(&node.path("provost.toml"), 0o600);
    for args in [&["status"][..], &["log", "hello"], &["analyze"]] {
        let out = by(&NOBODY, &node, args).expect(2);
        assert_eq!(out.stdout, "", "{args:?}");
        out.says(&["provost.toml", "Permission denied"]);
    }
}

//! What is published, what nodes have seen of it, and what the management node knows of them.

use std::process::Command;

use provost_tests::{Cluster, Node, Out, skip};
use rustix::fs::{XattrFlags, getxattr, setxattr};

const HELLO: &str = "#!/bin/sh\necho hello\n";

fn cluster() -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("hello", HELLO).site("[nodes.cn001]\npostscripts = [\"hello\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

/// The management node was restored from an older backup: the folder, and what stands beside the key.
fn lose(cluster: &Cluster) {
    std::fs::remove_dir_all(cluster.www()).unwrap();
    std::fs::remove_file(cluster.path("key/provost.published.toml")).unwrap();
}

#[test]
fn a_node_says_beforehand_that_a_run_would_refuse_an_older_generation() {
    let (mut cluster, node) = cluster();
    cluster.script("hello", "#!/bin/sh\necho two\n").publish().expect(0);
    node.provost(&["boot"]).expect(0);
    node.provost(&["check"]).expect(0);
    lose(&cluster);
    // Without the daemon nothing knows what nodes have seen.
    let address = cluster.kill_daemon();
    let out = cluster.publish().expect(0);
    assert!(out.stdout.contains("published generation 1 "), "{}", out.stdout);
    cluster.start_at(&address);
    let why = ["is generation 1, older than 2", "--generation-above 2"];
    let checked = node.provost(&["check"]).expect(3).stdout;
    assert!(why.iter().all(|text| checked.contains(text)), "{checked}");
    node.provost(&["boot"]).expect(3).says(&why);
}

#[test]
fn the_daemon_knows_what_nodes_have_seen() {
    let (cluster, node) = cluster();
    cluster.script("hello", "#!/bin/sh\necho two\n").publish().expect(0);
    node.provost(&["boot"]).expect(0);
    lose(&cluster);
    let out = cluster.publish().expect(0).says(&["2 was published before"]);
    assert!(out.stdout.contains("published generation 3 "), "{}", out.stdout);
    node.provost(&["boot"]).expect(0);
}

#[test]
fn nodes_of_the_site_that_have_never_reported_are_listed() {
    let (cluster, node) = cluster();
    cluster.site("[nodes.\"cn[001-003]\"]\npostscripts = [\"hello\"]\n").publish().expect(0);
    node.provost(&["boot"]).expect(0);
    let out = cluster.ctl(&["nodes"]).expect(0).stdout;
    assert!(out.contains("3 nodes: 2 defined, 1 booted\n"), "{out}");
    let names = |set: &str| cluster.ctl(&["nodes", "-o", "NODES", set]).expect(0).stdout;
    assert_eq!(names("@status:defined"), "cn[002-003]\n");
    assert_eq!(names("cn[001-009]"), "cn[001-003]\n");
    assert_eq!(cluster.status("cn003")["status"], "defined");
    let metrics = cluster.metrics();
    assert!(metrics.contains("provost_nodes{status=\"defined\"} 2\n"), "{metrics}");
    assert!(metrics.contains("provost_nodes{status=\"booted\"} 1\n"), "{metrics}");
    let shown = |node: &str| cluster.ctl(&["show", node]).expect(0).stdout;
    assert_eq!(shown("cn003"), "cn003: defined\nno reports yet\n");
    for other in ["cn004", "..%2Fmanifest", "../manifest"] {
        cluster.ctl(&["show", other]).expect(if other == "cn004" { 1 } else { 2 });
    }
    let wait = ["wait-for", "cn[001-002]", "--status", "booted", "--timeout", "1s"];
    cluster.ctl(&wait).expect(124).says(&["cn002 defined"]);
    let shown = cluster.ctl(&["remove", "--dry-run", "cn002"]).expect(0).stdout;
    assert_eq!(shown, "cn002: defined, would be removed\n");
    let removed = cluster.ctl(&["remove", "--yes", "cn002"]).expect(0);
    assert_eq!(removed.stdout, "cn002: removed\n");
    assert!(removed.stderr.starts_with("note: cn002 is published, and listed as defined\n"));
    for how in ["--dry-run", "--yes"] {
        cluster.ctl(&["remove", how, "cn[002,009]"]).expect(1).says(&["unknown cn009"]);
    }
    cluster.site("[nodes.cn001]\npostscripts = [\"hello\"]\n").publish().expect(0);
    assert_eq!(names("cn[001-009]"), "cn001\n");
}

#[test]
fn the_page_of_a_node_that_has_never_reported_offers_nothing_to_remove() {
    let (cluster, node) = cluster();
    cluster.site("[nodes.\"cn[001-002]\"]\npostscripts = [\"hello\"]\n").publish().expect(0);
    node.provost(&["boot"]).expect(0);
    let page = |node: &str| {
        let mut curl = Command::new("curl");
        curl.args(["-sf", "--unix-socket"]).arg(cluster.path("provostd/admin.sock"));
        let out = curl.arg(format!("http://localhost/nodes/{node}")).output().unwrap();
        Out::from(out).expect(0).stdout
    };
    assert!(page("cn001").contains("/nodes/cn001/remove"), "{}", page("cn001"));
    assert!(!page("cn002").contains("/nodes/cn002/"), "{}", page("cn002"));
}

#[test]
fn a_node_that_was_mistyped_can_be_removed() {
    let (cluster, node) = cluster();
    cluster.script("hello", "#!/bin/sh\nexit 7\n").publish().expect(0);
    node.provost(&["boot"]).expect(1);
    cluster.ctl(&["token", "--force", "typo1"]).expect(0);
    cluster.ctl(&["remove", "--yes", "typo1,cn001,cn999"]).expect(1).says(&["unknown cn999"]);
    assert_eq!(cluster.status("cn001")["status"], "failed");
    cluster.ctl(&["remove", "typo1,cn001"]).expect(2).says(&["--yes is missing"]);
    let out = cluster.ctl(&["remove", "--yes", "typo1,cn001"]).expect(0);
    assert_eq!(out.stdout, "typo1: removed\ncn001: removed\n");
    // It is published still.
    let shown = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
    assert_eq!(shown, "cn001: defined\nno reports yet\n");
    assert!(!cluster.path("provostd/logs/cn001").exists());

    // It isn't told what was known of it, and starts anew with a new token.
    node.provost(&["boot"]).says(&["401"]);
    let token = cluster.ctl(&["token", "cn001"]).expect(0).stdout;
    std::fs::write(node.path("token"), token).unwrap();
    cluster.script("hello", HELLO).publish().expect(0);
    node.provost(&["boot"]).expect(0);
    assert_eq!(cluster.status("cn001")["status"], "booted");
}

#[test]
fn a_long_publish_shows_on_a_terminal_how_far_it_is() {
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).site("[nodes.\"cn[001-250]\"]\npostscripts = [\"hello\"]\n");
    let [site, scripts, key, www] = ["site.toml", "scripts", "key/provost.key", "www"]
        .map(|name| cluster.path(name).display().to_string());
    let program = provost_tests::program("provostctl").display().to_string();
    let command = format!(
        "{program} publish --site {site} --scripts {scripts} --key {key} --to {www} </dev/null"
    );
    let log = cluster.path("typescript");
    let status = std::process::Command::new("script")
        .args(["-qec", &command])
        .arg(&log)
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.unwrap().success());
    let text = String::from_utf8(std::fs::read(log).unwrap()).unwrap();
    for step in ["signed 0 of 250 plans", "signed 200 of 250 plans"] {
        assert!(text.contains(&format!("\r{step}\x1b[K")), "{step}: {text:?}");
    }
    // The line is gone before anything else is there.
    let (_, told) = text.split_once("\rwriting and syncing\x1b[K\r\x1b[K").unwrap();
    assert!(told.contains("published generation 1 ") && !told.contains('\x1b'), "{text:?}");
    cluster.script("hello", "#!/bin/sh\n");
    let told = cluster.publish().expect(0).stderr;
    assert!(
        !told.contains("signed") && !told.contains("writing"),
        "a pipe gets none of it: {told}"
    );
}

/// nginx may read it by that label, which is the policy's or an admin's.
#[test]
fn the_published_folder_keeps_its_selinux_label() {
    let (cluster, _node) = cluster();
    let (name, label) = ("security.selinux", b"system_u:object_r:httpd_sys_content_t:s0\0");
    if setxattr(cluster.www(), name, label, XattrFlags::empty()).is_err() {
        skip("no SELinux label can be set here")
    }
    cluster.script("hello", "#!/bin/sh\necho two\n").publish().expect(0);
    let mut found = [0; 100];
    let length = getxattr(cluster.www(), name, &mut found).unwrap();
    assert_eq!(found[..length], label[..]);
}

//! The node's side.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;

use provost_tests::faults::Faulty;
use provost_tests::{Cluster, Faketime, Node, Out};
use serde_json::json;

use crate::enrolment::client::Client;
use crate::enrolment::{cluster, cluster_with};

/// A node without a token, behind a proxy which sees all that is plain.
pub(crate) fn node(cluster: &Cluster, name: &str, deadline: &str) -> (Node, Faulty) {
    let node = cluster.node(name);
    let proxy = Faulty::before(cluster.daemon().nodes());
    let settings = cluster.settings_for(&[proxy.address()]);
    let limits = format!("[fetch]\ndeadline = \"{deadline}\"\n[report]\ndeadline = \"3s\"\n");
    node.configure(&format!("{settings}{limits}"));
    without_token(&node);
    (node, proxy)
}

/// The node's configuration names no token.
pub(crate) fn without_token(node: &Node) {
    let config = node.path("provost.toml");
    let text = fs::read_to_string(&config).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("token_file")).collect();
    fs::write(config, lines.join("\n")).unwrap();
}

/// What went by plain HTTP and is for nobody else.
fn private(proxy: &Faulty) -> Vec<String> {
    let paths = proxy.exchanges().into_iter().map(|exchange| exchange.request.path);
    paths.filter(|path| path.starts_with("/plans/") || path.starts_with("/v1/")).collect()
}

pub(crate) fn boot_with(node: &Node, join: &str) -> Out {
    node.command(&["boot"]).env("PROVOST_JOIN", join).output().unwrap().into()
}

fn join(cluster: &Cluster, node: &Node) -> Out {
    boot_with(node, &crate::enrolment::client::join_token(cluster, node.name(), &[]))
}

fn identity(cluster: &Cluster) -> serde_json::Value {
    cluster.ctl_json(&["show", "cn001"])["identity"].clone()
}

#[test]
fn a_join_token_is_all_that_a_node_needs_and_its_key_stays_with_it() {
    let cluster = cluster();
    let (node, proxy) = node(&cluster, "cn001", "60s");
    let out = join(&cluster, &node).expect(0);
    assert!(!out.stderr.contains("not sent yet"), "{}", out.stderr);
    assert_eq!(cluster.status("cn001")["status"], "booted");
    assert_eq!(private(&proxy), [""; 0]);
    let key = node.path("state/id");
    assert_eq!(fs::metadata(&key).unwrap().mode() & 0o777, 0o600);
    let first = identity(&cluster);
    assert!(out.stderr.contains(first["key"].as_str().unwrap()), "{}", out.stderr);
    let before = fs::read(&key).unwrap();
    for _ in 0..2 {
        node.provost(&["boot"]).expect(0);
    }
    assert_eq!(fs::read(&key).unwrap(), before);
    assert_eq!(identity(&cluster), first);
    // Installed anew, or diskless and booted again.
    fs::remove_dir_all(node.path("state")).unwrap();
    join(&cluster, &node).expect(0);
    assert_ne!(identity(&cluster)["key"], first["key"]);
    assert_eq!(private(&proxy), [""; 0]);
}

#[test]
fn a_node_that_has_its_identity_spends_the_join_token_of_its_command_line() {
    let cluster = cluster();
    let (node, proxy) = node(&cluster, "cn001", "60s");
    join(&cluster, &node).expect(0);
    let first = identity(&cluster);
    let token = crate::enrolment::client::join_token(&cluster, "cn001", &[]);
    for _ in 0..2 {
        boot_with(&node, &token).expect(0);
    }
    // A user of the node, who has read it in /proc/cmdline.
    let user = Client::new(&cluster, "user");
    let (status, refusal) = user.join("cn001", &token);
    assert!(status == 403 && refusal.contains("was used at"), "{status} {refusal}");
    assert_eq!(identity(&cluster)["key"], first["key"]);
    node.provost(&["boot"]).expect(0);
    assert_eq!(private(&proxy), [""; 0]);
}

#[test]
fn a_window_gives_a_node_its_identity_once() {
    let cluster = cluster();
    let (node, proxy) = node(&cluster, "cn001", "3s");
    cluster.ctl(&["enroll", "open", "cn001", "--for", "1h"]).expect(0);
    node.provost(&["boot"]).expect(0);
    assert_eq!(cluster.status("cn001")["status"], "booted");
    // Who takes its place now has another key.
    fs::remove_dir_all(node.path("state")).unwrap();
    let out = node.provost(&["boot"]).expect(3);
    assert!(out.stderr.contains("no admin has approved this node's key"), "{}", out.stderr);
    assert_eq!(cluster.ctl_json(&["pending"])[0]["why"], "second-key");
    assert_eq!(private(&proxy), [""; 0]);
    let noted = cluster.ctl(&["nodes"]).expect(0).stderr;
    let other = "1 other key asks in the name of cn001, which has an identity: provostctl pending";
    assert!(noted.contains(other) && !noted.contains("without a valid"), "{noted}");
    // Another window wouldn't help, and nobody says that it would.
    assert!(!out.stderr.contains("enroll open"), "{}", out.stderr);
    let opened = cluster.ctl(&["enroll", "open", "cn[001-002]"]).expect(0);
    opened.says(&["note: the window has no effect on cn001: ", "provostctl approve NODE KEY"]);
    node.provost(&["boot"]).expect(3);
    let key = cluster.ctl_json(&["pending"])[0]["key"].as_str().unwrap().to_owned();
    cluster.ctl(&["approve", "cn001", &key]).expect(0);
    node.provost(&["boot"]).expect(0);
}

#[test]
fn a_check_says_that_a_run_would_work_while_a_window_is_open() {
    let cluster = cluster();
    let (node, _proxy) = node(&cluster, "cn001", "3s");
    let check = || node.provost(&["check"]);
    assert!(check().expect(3).stdout.contains("there is no identity yet"));
    cluster.ctl(&["enroll", "open", "cn001"]).expect(0);
    let checked = check().expect(0).stdout;
    assert!(checked.contains("there is none yet: the next run gets it"), "{checked}");
    cluster.ctl(&["enroll", "close"]).expect(0);
    check().expect(3);
    cluster.ctl(&["enroll", "open", "cn001"]).expect(0);
    node.provost(&["boot"]).expect(0);
    check().expect(0);
}

#[test]
fn a_node_waits_for_an_admin_and_says_by_which_key() {
    let cluster = cluster();
    let (node, proxy) = node(&cluster, "cn001", "60s");
    let mut boot = node.spawn(&["boot"]);
    let mut stderr = BufReader::new(boot.stderr.take().unwrap());
    let mut line = String::new();
    let waits = "enrolment: waiting for provostctl approve cn001 ";
    while !line.contains(waits) {
        line.clear();
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "it doesn't say that it waits");
    }
    let (fingerprint, other) = line.split_once(waits).unwrap().1.split_once(", or ").unwrap();
    assert_eq!(other.trim(), "provostctl enroll open cn001");
    let pending = &cluster.ctl_json(&["pending"])[0];
    assert_eq!((&pending["key"], &pending["why"]), (&json!(fingerprint), &json!("not-approved")));
    cluster.ctl(&["approve", "cn001", fingerprint]).expect(0);
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(boot.wait().unwrap().code(), Some(0), "{rest}");
    assert!(!rest.contains("not sent yet"), "{rest}");
    assert_eq!(cluster.status("cn001")["status"], "booted");
    assert_eq!(private(&proxy), [""; 0]);
}

#[test]
fn a_node_that_nobody_approves_fails_in_its_time_and_reports_it_later() {
    let cluster = cluster();
    let (node, proxy) = node(&cluster, "cn001", "3s");
    let out = node.provost(&["boot"]).expect(3);
    assert!(out.stderr.contains("hint: provostctl approve cn001 SHA256:"), "{}", out.stderr);
    cluster.ctl(&["reject", "cn001"]).expect(0);
    let out = node.provost(&["boot"]).expect(3);
    assert!(out.stderr.contains("an admin has rejected the key"), "{}", out.stderr);
    assert_eq!(cluster.status("cn001")["status"], "defined");
    join(&cluster, &node).expect(0);
    let shown = cluster.ctl_json(&["show", "cn001"]);
    assert_eq!(shown["runs"].as_array().unwrap().len(), 3, "the others as well");
    assert_eq!(private(&proxy), [""; 0]);
}

#[test]
fn a_node_whose_identity_is_revoked_runs_nothing_and_says_why() {
    let cluster = cluster();
    let (node, proxy) = node(&cluster, "cn001", "60s");
    join(&cluster, &node).expect(0);
    cluster.ctl(&["revoke", "cn001"]).expect(0);
    let out = node.provost(&["boot"]).expect(3);
    assert!(out.stderr.contains("was revoked"), "{}", out.stderr);
    assert!(out.stderr.contains("hint: if cn001 may come back, remove"), "{}", out.stderr);
    let out = join(&cluster, &node).expect(3);
    assert!(out.stderr.contains("was revoked"), "{}", out.stderr);
    for name in ["id", "id.crt"] {
        fs::remove_file(node.path("state").join(name)).unwrap();
    }
    join(&cluster, &node).expect(0);
    let out = boot_with(&node, "spent-or-wrong").expect(0);
    assert!(!out.stderr.contains("join token"), "it has an identity: {}", out.stderr);
    assert_eq!(private(&proxy), [""; 0]);
}

#[test]
fn a_node_renews_its_identity_when_half_of_its_time_is_over() {
    let mut cluster = cluster_with("[enroll]\nvalid_for = \"1h\"\n");
    let (node, _proxy) = node(&cluster, "cn001", "60s");
    join(&cluster, &node).expect(0);
    let first = identity(&cluster);
    node.provost(&["boot"]).expect(0);
    assert_eq!(identity(&cluster), first, "it isn't yet");
    let certificate = || fs::read_to_string(node.path("state/id.crt")).unwrap();
    let before = certificate();
    // Half of ninety days is over.
    cluster.configure_daemon("[enroll]\nvalid_for = \"90d\"\n");
    let at = cluster.kill_daemon();
    cluster.start_at(&at);
    let out = node.provost(&["boot"]).expect(0);
    assert!(out.stderr.contains("enrolment: renewed the identity"), "{}", out.stderr);
    let renewed = identity(&cluster);
    assert_eq!(renewed["key"], first["key"]);
    assert!(renewed["until"].as_str() > first["until"].as_str(), "{renewed} {first}");
    assert_ne!(certificate(), before);
    let out = node.provost(&["boot"]).expect(0);
    assert!(!out.stderr.contains("enrolment"), "{}", out.stderr);

    // Without a run, as its timer does.
    node.provost(&["report"]).expect(0);
    assert_eq!(identity(&cluster), renewed, "it isn't yet");
    cluster.configure_daemon("[enroll]\nvalid_for = \"360d\"\n");
    let at = cluster.kill_daemon();
    cluster.start_at(&at);
    let runs = || cluster.ctl_json(&["show", "cn001"])["runs"].as_array().unwrap().len();
    let before = runs();
    node.provost(&["report"]).expect(0);
    assert!(identity(&cluster)["until"].as_str() > renewed["until"].as_str());
    assert_eq!(runs(), before);
}

#[test]
fn an_identity_is_given_though_the_nodes_clock_is_behind_and_not_where_it_is_ahead() {
    let faketime = Faketime::new();
    let cluster = cluster();
    // What is published has expired by a clock that is ahead, whatever a server's clock says: the authority that it names
    // isn't believed, either, and nothing is said to anybody.
    for (name, clock, code) in [("cn001", "-20y", 0), ("cn003", "+20y", 3)] {
        let (node, _proxy) = node(&cluster, name, "60s");
        let token = crate::enrolment::client::join_token(&cluster, name, &[]);
        for _ in 0..2 {
            let mut boot = node.command(&["boot"]);
            let boot = faketime.load(&mut boot).env("FAKETIME", clock);
            let out: Out = boot.env("PROVOST_JOIN", &token).output().unwrap().into();
            let out = out.expect(code);
            assert!(code == 0 || out.stderr.contains("has expired"), "{}", out.stderr);
        }
        let (status, identity) =
            (cluster.status(name), cluster.ctl_json(&["show", name])["identity"].clone());
        assert_eq!(status["status"], if code == 0 { "booted" } else { "defined" }, "{clock}");
        assert_eq!(identity["key"].is_string(), code == 0, "{clock}: {identity}");
    }
}

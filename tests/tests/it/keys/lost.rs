//! What is known of keys is in what is published, with provostd, beside the key, and on nodes: where some of it is
//! lost, no node is locked out, and none trusts a key again that it trusted no more.

use std::fs;

use provost_tests::reporters::{Reporters, begins, fetched};
use provost_tests::{Cluster, web_group};
use serde_json::json;

use crate::keys::revoked::{path, revoke, stolen};
use crate::keys::rotations::{configure, node, rotate};
use crate::keys::{cluster, line, publish};

/// The first key was replaced, then revoked.
fn site() -> Cluster {
    let cluster = cluster();
    publish(&cluster, "key/provost.key", &[]).expect(0);
    rotate(&cluster, "key", "new").expect(0);
    revoke(&cluster, &cluster.key()).expect(0);
    cluster
}

#[test]
fn a_key_without_what_was_beside_it_locks_no_node_out() {
    let cluster = site();
    let nodes = ["cn1", "cn2"].map(|name| node(&cluster, name, &["key"]));
    nodes[0].provost(&["boot"]).expect(0);
    let beside = ["new/provost.succession", "new/provost.published.toml"];
    let lose_beside =
        || beside.iter().for_each(|name| fs::remove_file(cluster.path(name)).unwrap());
    // What is published has it.
    lose_beside();
    cluster.script("hello", "#!/bin/sh\necho again\n");
    publish(&cluster, "new/provost.key", &[]).expect(0);
    nodes[0].provost(&["boot"]).expect(0);
    // So has provostd.
    lose_beside();
    fs::remove_dir_all(cluster.www()).unwrap();
    publish(&cluster, "new/provost.key", &[]).expect(0);
    nodes[0].provost(&["boot"]).expect(0);
    // And the key's folder, written again.
    fs::remove_dir_all(cluster.www()).unwrap();
    fs::remove_file(cluster.path("provostd/keys.toml")).unwrap();
    publish(&cluster, "new/provost.key", &[]).expect(0);
    for node in &nodes {
        node.provost(&["boot"]).expect(0);
    }
    stolen(&cluster);
    for node in &nodes {
        node.provost(&["boot"]).expect(3).says(&["which was revoked"]);
    }
}

#[test]
fn a_node_forgets_no_key_and_no_revocation_that_it_has_accepted() {
    let cluster = site();
    let node = node(&cluster, "cn1", &["key"]);
    node.provost(&["boot"]).expect(0);
    for name in ["new/provost.succession", "provostd/keys.toml", "nodes/cn1/state/published.json"] {
        fs::remove_file(cluster.path(name)).unwrap();
    }
    fs::remove_dir_all(cluster.www()).unwrap();
    publish(&cluster, "new/provost.key", &[]).expect(0);
    let manifest = fs::read_to_string(cluster.www().join("manifest.toml")).unwrap();
    assert!(!manifest.contains("key_link") && !manifest.contains("revoked"), "{manifest}");
    node.provost(&["boot"]).expect(0);
    stolen(&cluster);
    for command in ["boot", "check"] {
        let out = node.provost(&[command]).expect(3);
        assert!((out.stdout + &out.stderr).contains("which was revoked"));
    }
    // Without that it would trust what it was told.
    for damaged in ["[", ""] {
        fs::write(node.path("state/keys.toml"), damaged).unwrap();
        node.provost(&["boot"]).expect(2).says(&["keys.toml", "hint: if it is damaged, remove it"]);
    }
}

#[test]
fn a_key_that_nodes_have_said_they_do_not_trust_publishes_nothing() {
    let cluster = cluster();
    publish(&cluster, "key/provost.key", &[]).expect(0);
    let nodes = ["cn1", "cn2"].map(|name| node(&cluster, name, &["key"]));
    nodes.iter().for_each(|node| drop(node.provost(&["boot"]).expect(0)));
    cluster.ctl(&["key", "new", "--out", &path(&cluster, "other")]).expect(0);
    let id = |name: &str| {
        let key = line(&cluster, &format!("{name}/provost.pub"));
        provost_bundle::PublicKey::from_line(&key).unwrap().id()
    };
    let publish = || publish(&cluster, "other/provost.key", &[]);
    let refused = format!(
        "publishing with key {}: nodes would refuse it: cn[1-2] trust key {}",
        id("other"),
        id("key")
    );
    publish().expect(1).says(&[&refused, "hint: publish with the key that they trust"]);
    // Those that are told of it say so, too.
    configure(&cluster, &nodes[0], &["key", "other"], &cluster.daemon().nodes());
    nodes[0].provost(&["boot"]).expect(0);
    publish().expect(1).says(&["cn2 trusts key"]);
    configure(&cluster, &nodes[1], &["other"], &cluster.daemon().nodes());
    nodes[1].provost(&["boot"]).expect(3);
    publish().expect(0);
    nodes.iter().for_each(|node| drop(node.provost(&["boot"]).expect(0)));
}

#[test]
fn what_a_node_names_as_keys_and_are_none_keeps_no_one_from_publishing() {
    let cluster = cluster();
    publish(&cluster, "key/provost.key", &[]).expect(0);
    let nodes = Reporters::new(&cluster, "cn[1-2]");
    let keys = json!(["E\u{1b}[31m\u{202e}\r\n", "0123456789abcdef", "0123456789ABCDEF0"]);
    let mut fetch = fetched();
    fetch["keys"] = keys;
    nodes.send(0, 1, &[begins(), fetch.clone()]);
    cluster.script("hello", "#!/bin/sh\necho again\n");
    publish(&cluster, "key/provost.key", &[]).expect(0);
    let www = path(&cluster, "www");
    let shown = cluster.ctl(&["key", "show", "--to", &www]).expect(0).stdout;
    assert_eq!(shown.lines().count(), 1, "{shown}");
    // What could be a key's id counts, and the hint says how to remove it.
    fetch["keys"] = json!(["0123456789ABCDEF"]);
    nodes.send(1, 1, &[begins(), fetch]);
    cluster.script("hello", "#!/bin/sh\necho once more\n");
    let refused = ["cn2 trusts key 0123456789ABCDEF", "provostctl remove NODE"];
    publish(&cluster, "key/provost.key", &[]).expect(1).says(&refused);
    cluster.ctl(&["remove", "cn2", "--yes"]).expect(0);
    publish(&cluster, "key/provost.key", &[]).expect(0);
}

#[test]
fn without_provostd_what_is_published_and_the_keys_folder_are_enough() {
    let mut cluster = site();
    let node = node(&cluster, "cn1", &["key"]);
    let address = cluster.kill_daemon();
    cluster.script("hello", "#!/bin/sh\necho again\n");
    let note = "note: provostd wasn't asked what nodes have seen, and which keys they trust: ";
    publish(&cluster, "new/provost.key", &[]).expect(0).says(&[note]);
    publish(&cluster, "key/provost.key", &[]).expect(1).says(&["it was revoked"]);
    cluster.start_at(&address);
    let out = publish(&cluster, "new/provost.key", &[]).expect(0);
    assert!(!out.stderr.contains("note:"), "{}", out.stderr);
    node.provost(&["boot"]).expect(0);
}

#[test]
fn a_folder_with_nothing_in_it_is_published_to_with_a_note_where_provostd_was_not_asked() {
    let mut cluster = site();
    cluster.kill_daemon();
    for name in ["key/provost.succession", "key/provost.published.toml"] {
        let _ = fs::remove_file(cluster.path(name));
    }
    fs::remove_dir_all(cluster.www()).unwrap();
    let out = publish(&cluster, "key/provost.key", &[]).expect(0);
    out.says(&["note: provostd wasn't asked what nodes have seen, and which keys they trust: "]);
}

#[test]
fn what_nodes_would_refuse_is_published_to_no_other_folder() {
    let cluster = site();
    let node = node(&cluster, "cn1", &["key"]);
    node.provost(&["boot"]).expect(0);
    let other = path(&cluster, "other");
    let to = |key: &str| {
        let names = ["succession", "published.toml"].map(|end| format!("{key}/provost.{end}"));
        names.iter().for_each(|name| drop(fs::remove_file(cluster.path(name))));
        let (site, scripts) = (path(&cluster, "site.toml"), path(&cluster, "scripts"));
        let key = path(&cluster, &format!("{key}/provost.key"));
        let args = ["publish", "--site", &site, "--scripts", &scripts, "--key", &key];
        cluster.ctl(&[&args[..], &["--to", &other, "--group", web_group()]].concat())
    };
    to("key").expect(1).says(&["it was revoked", "hint: publish with key "]);
    assert!(!cluster.path("other").exists());
    let seen = cluster.status("cn1")["bundle"].as_u64().unwrap();
    let out = to("new").expect(0);
    let published = format!("published generation {} to ", seen + 1);
    assert!(out.stdout.contains(&published), "{}", out.stdout);
    // What no node trusts is for others.
    cluster.ctl(&["key", "new", "--out", &path(&cluster, "theirs")]).expect(0);
    fs::remove_dir_all(&other).unwrap();
    let out = to("theirs").expect(0);
    assert!(out.stdout.contains("published generation 1 to "), "{}", out.stdout);
}

#[test]
fn the_chain_of_keys_is_shown_with_the_nodes_that_trust_each() {
    let mut cluster = cluster();
    publish(&cluster, "key/provost.key", &[]).expect(0);
    let nodes = ["cn1", "cn2"].map(|name| node(&cluster, name, &["key"]));
    nodes.iter().for_each(|node| drop(node.provost(&["boot"]).expect(0)));
    rotate(&cluster, "key", "new").expect(0);
    nodes[0].provost(&["boot"]).expect(0);
    let [old, new] = ["key", "new"].map(|name| line(&cluster, &format!("{name}/provost.pub")));
    let shown = cluster.ctl(&["key", "show"]).expect(0).stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 2, "{shown}");
    assert!(lines[0].contains(&old) && lines[0].contains("  replaced 2"), "{shown}");
    assert!(lines[0].ends_with("; 1 node still trusts it: cn2"), "{shown}");
    assert!(lines[1].ends_with(&format!("{new}  signs; 1 node trusts it")), "{shown}");
    revoke(&cluster, &old).expect(0);
    let keys = cluster.ctl_json(&["key", "show"]);
    assert_eq!((&keys[0]["state"], &keys[1]["state"]), (&"revoked".into(), &"signs".into()));
    assert_eq!((&keys[0]["next"], &keys[0]["nodes"][0]), (&keys[1]["id"], &"cn2".into()));
    // Without provostd, what is published is shown.
    cluster.kill_daemon();
    let out = cluster.ctl(&["key", "show", "--to", &path(&cluster, "www")]).expect(0);
    assert!(out.stderr.contains("note: which nodes trust which key isn't known"), "{}", out.stderr);
    assert!(out.stdout.contains(&format!("{new}  signs\n")), "{}", out.stdout);
    cluster.ctl(&["key", "show"]).expect(1).says(&["hint: name the published folder: --to WWW"]);
}

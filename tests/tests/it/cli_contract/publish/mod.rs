//! `provostctl key new` and `provostctl publish`.

mod changes;
mod generations;
mod inputs;
mod lint;
mod scripts;

use insta::assert_snapshot;
use provost_tests::{Cluster, Out};

use crate::cli_contract::HELLO;

const SITE: &str = "[nodes.cn001]\npostscripts = [\"hello\"]\n";

/// Publishes the script `hello` for a node, and a file that something is wrong with.
fn publish_with(name: &str, text: &str) -> String {
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).script(name, text).site(SITE);
    publish(&cluster)
}

fn publish(cluster: &Cluster) -> String {
    cluster.publish().transcript()
}

fn site(text: &str) -> String {
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).site(text);
    publish(&cluster)
}

/// Publishes by hand, with further arguments.
fn publish_and(cluster: &Cluster, more: &[&str]) -> Out {
    let path = |name: &str| cluster.path(name).display().to_string();
    let (site, scripts, www) = (path("site.toml"), path("scripts"), path("www"));
    let key = path("key/provost.key");
    let args = ["publish", "--site", &site, "--scripts", &scripts, "--key", &key, "--to", &www];
    cluster.ctl(&[&args[..], more].concat())
}

#[test]
fn of_a_key() {
    let cluster = Cluster::new();
    let to = cluster.path("keys").display().to_string();
    let new = |to: &str| cluster.ctl(&["key", "new", "--out", to]).transcript();
    assert_snapshot!(new(&to), @"
    exit status 0
    ----- stdout -----
    [KEY]
    ----- stderr -----
    wrote [DIR]/keys/provost.key (keep it secret) and [DIR]/keys/provost.pub; the line for [trust] keys on the nodes:
    ");
    assert_snapshot!(new(&to), @"
    exit status 1
    ----- stderr -----
    provostctl: writing the key [DIR]/keys/provost.pub: entity already exists
      hint: name another folder with --out; a key that nodes trust is never replaced
    ");
    assert_snapshot!(new(&cluster.path("key/provost.pub/new").display().to_string()), @"
    exit status 1
    ----- stderr -----
    provostctl: creating the folder [DIR]/key/provost.pub/new: Not a directory (os error 20)
      hint: check that this user may read and write [DIR]/key/provost.pub/new
    ");
}

#[test]
fn of_publishing() {
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).site(SITE);
    assert_snapshot!(publish(&cluster), @"
    exit status 0
    ----- stdout -----
    published generation 1 to [DIR]/www: 1 file, 1 plan
      scripts: 1 added (hello); generation 1
      nodes: 1 new (cn001)
      steps: + hello (1 node)
      environment: no change
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    ");
    assert_snapshot!(publish(&cluster), @"
    exit status 0
    ----- stdout -----
    [DIR]/www is up to date: generation 1, 1 file, 1 plan
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    ");
    let tls = format!("8482:{}", "ab".repeat(32));
    assert_snapshot!(publish_and(&cluster, &["--tls", &tls]).transcript(), @"
    exit status 0
    ----- stdout -----
    published generation 1 to [DIR]/www: 1 file, 1 plan
      scripts and plans: no change; the manifest is signed anew
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    ");
    let anew = publish_and(&cluster, &["--valid-for", "90d"]).expect(0).stdout;
    assert!(anew.contains("the manifest is signed anew"), "{anew}");
    cluster.site("[nodes.\"cn[001-002]\"]\npostscripts = [\"hello\", \"hello again\"]\n");
    assert_snapshot!(publish(&cluster), @"
    exit status 0
    ----- stdout -----
    published generation 1 to [DIR]/www: 1 file, 2 plans
      scripts: no change; generation 1
      nodes: 1 changed (cn001), 1 new (cn002)
      steps: + hello again (2 nodes), + hello (1 node)
      environment: no change
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    ");
    cluster.script("hello", "#!/bin/sh\n");
    assert_snapshot!(publish(&cluster), @"
    exit status 0
    ----- stdout -----
    published generation 2 to [DIR]/www: 1 file, 2 plans
      scripts: 1 changed (hello); generation 1 -> 2
      nodes: no change
      steps: no change
      environment: no change
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    ");
}

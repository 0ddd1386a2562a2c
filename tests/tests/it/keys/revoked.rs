//! A key that counts no more: nodes refuse what it signs, though their configuration names it.

use std::fs;
use std::path::Path;
use std::process::Command;

use provost_publish::SecretKey;
use provost_tests::{Cluster, Node, Out, web_group};

use crate::keys::{cluster, line, publish};

/// The new key has published; nodes are told to trust it and the old one.
fn with_two_keys() -> (Cluster, [Node; 2]) {
    let cluster = cluster();
    cluster.ctl(&["key", "new", "--out", &path(&cluster, "new")]).expect(0);
    publish(&cluster, "new/provost.key", &[]).expect(0);
    let nodes = ["cn1", "cn2"].map(|name| cluster.node(name));
    let (old, new) = (cluster.key(), line(&cluster, "new/provost.pub"));
    let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
    let settings = settings.replace(&format!("{old:?}"), &format!("{old:?}, {new:?}"));
    for node in &nodes {
        node.configure(&format!(
            "{settings}[fetch]\ndeadline = \"5s\"\n[guard]\nmax_attempts = 99\n"
        ));
    }
    (cluster, nodes)
}

pub(super) fn path(cluster: &Cluster, name: &str) -> String {
    cluster.path(name).display().to_string()
}

pub(super) fn revoke(cluster: &Cluster, revoked: &str) -> Out {
    let (key, www) = (path(cluster, "new/provost.key"), path(cluster, "www"));
    let args = ["key", "revoke", revoked, "--key", &key, "--to", &www, "--group", web_group()];
    cluster.ctl(&args)
}

/// Serves what is in the folder `from`.
pub(super) fn serve(cluster: &Cluster, from: &Path) {
    fs::remove_dir_all(cluster.www()).unwrap();
    copy(from, &cluster.www());
}

pub(super) fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

/// What the thief of the old key publishes, as newer than all there is.
pub(super) fn stolen(cluster: &Cluster) {
    let own = cluster.path("stolen");
    let (site, scripts) = (path(cluster, "site.toml"), path(cluster, "scripts"));
    let (key, to) = (path(cluster, "key/provost.key"), own.display().to_string());
    let args = ["publish", "--site", &site, "--scripts", &scripts, "--key", &key, "--to", &to];
    // The thief doesn't ask the site's provostd, which would refuse.
    let nobody = format!("unix:{}", path(cluster, "nobody.sock"));
    let more = ["--group", web_group(), "--generation-above", "99", "--admin", &nobody];
    cluster.ctl(&[&args[..], &more].concat()).expect(0);
    serve(cluster, &own);
}

#[test]
fn a_node_refuses_what_a_revoked_key_signs_and_remembers_it() {
    let (cluster, nodes) = with_two_keys();
    let (good, before) = (cluster.path("good"), cluster.path("before"));
    nodes[0].provost(&["boot"]).expect(0);
    copy(&cluster.www(), &before);
    let out = revoke(&cluster, &cluster.key()).expect(0);
    assert!(out.stdout.contains("published generation 2"), "{}", out.stdout);
    nodes[0].provost(&["boot"]).expect(0);
    // It stays, whatever is published then.
    cluster.script("hello", "#!/bin/sh\necho again\n");
    publish(&cluster, "new/provost.key", &[]).expect(0);
    nodes[0].provost(&["boot"]).expect(0);
    copy(&cluster.www(), &good);

    stolen(&cluster);
    for command in ["boot", "check"] {
        let out = nodes[0].provost(&[command]).expect(3);
        let said = out.stdout + &out.stderr;
        assert!(said.contains("which was revoked"), "{said}");
        assert!(said.contains("hint: publish with a valid key"), "{said}");
    }
    // One that hasn't seen it trusts what its configuration says.
    nodes[1].provost(&["boot"]).expect(0);
    // What was signed before doesn't bring it back.
    serve(&cluster, &before);
    nodes[0].provost(&["boot"]).expect(3).says(&["is generation 1, older than 3"]);
    stolen(&cluster);
    nodes[0].provost(&["boot"]).expect(3).says(&["which was revoked"]);
    serve(&cluster, &good);
    cluster.ctl(&["release", "cn1"]).expect(0);
    nodes[0].provost(&["boot"]).expect(0);
}

#[test]
fn a_node_that_was_off_while_its_key_was_replaced_and_revoked_boots() {
    let cluster = cluster();
    cluster.ctl(&["key", "new", "--out", &path(&cluster, "new")]).expect(0);
    publish(&cluster, "key/provost.key", &[]).expect(0);
    let node = cluster.node("cn1");
    let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
    node.configure(&format!("{settings}[fetch]\ndeadline = \"5s\"\n"));
    node.provost(&["boot"]).expect(0);
    let (old, next) = (path(&cluster, "key/provost.key"), path(&cluster, "new/provost.key"));
    let to = ["--to", &path(&cluster, "www"), "--group", web_group()];
    cluster.ctl(&[&["key", "rotate", "--key", &old, "--next", &next][..], &to].concat()).expect(0);
    revoke(&cluster, &cluster.key()).expect(0);
    node.provost(&["boot"]).expect(0);
    stolen(&cluster);
    node.provost(&["boot"]).expect(3).says(&["which was revoked"]);
}

#[test]
fn a_plan_by_a_revoked_key_is_refused_with_the_manifest_that_says_so() {
    let (cluster, nodes) = with_two_keys();
    let thief = SecretKey::load(&cluster.path("key/provost.key")).unwrap();
    let plan = |name: &str| cluster.www().join(format!("plans/{name}.toml"));
    let sign = |name: &str| {
        let text = fs::read(plan(name)).unwrap();
        let signature = thief.sign(&text, "plan").unwrap();
        fs::write(plan(name).with_extension("toml.minisig"), signature).unwrap();
    };
    sign("cn1");
    nodes[0].provost(&["boot"]).expect(0);
    revoke(&cluster, &cluster.key()).expect(0);
    sign("cn2");
    nodes[1].provost(&["boot"]).expect(3).says(&["plans/cn2.toml", "which was revoked"]);
}

#[test]
fn a_revoked_key_publishes_no_more_and_no_key_revokes_itself() {
    let (cluster, nodes) = with_two_keys();
    let new = line(&cluster, "new/provost.pub");
    let refused = revoke(&cluster, &new).expect(1);
    refused.says(&["the key that signs it is among those that it revokes"]);
    revoke(&cluster, "RWnonsense").expect(2).says(&["hint"]);
    revoke(&cluster, &cluster.key()).expect(0);
    let refused = publish(&cluster, "key/provost.key", &[]).expect(1);
    refused.says(&["it was revoked", "hint: publish with the key that signs now"]);
    nodes[0].provost(&["boot"]).expect(0);
}

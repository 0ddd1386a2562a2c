//! Keys that take each other's place, any number of times.

use std::fs;

use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::{Cluster, Node, Out, web_group};

use crate::keys::revoked::{path, serve, stolen};
use crate::keys::{cluster, line, publish};

/// Lets the key in the folder `next`, which is made, take the place of the one in `old`.
pub(crate) fn rotate(cluster: &Cluster, old: &str, next: &str) -> Out {
    cluster.ctl(&["key", "new", "--out", &path(cluster, next)]).expect(0);
    let key = |folder: &str| path(cluster, &format!("{folder}/provost.key"));
    let (old, next, www) = (key(old), key(next), path(cluster, "www"));
    cluster.ctl(&[
        "key",
        "rotate",
        "--key",
        &old,
        "--next",
        &next,
        "--to",
        &www,
        "--group",
        web_group(),
    ])
}

/// A node that trusts these keys, by the folders that they are in.
pub(super) fn node(cluster: &Cluster, name: &str, keys: &[&str]) -> Node {
    let node = cluster.node(name);
    configure(cluster, &node, keys, &cluster.daemon().nodes());
    node
}

pub(super) fn configure(cluster: &Cluster, node: &Node, keys: &[&str], server: &str) {
    let lines: Vec<String> =
        keys.iter().map(|key| line(cluster, &format!("{key}/provost.pub"))).collect();
    let settings = cluster.settings_for(&[server]);
    let settings = settings.replace(&format!("[{:?}]", cluster.key()), &format!("{lines:?}"));
    assert!(settings.contains(&lines[0]), "{settings}");
    node.configure(&format!("{settings}[fetch]\ndeadline = \"5s\"\n[guard]\nmax_attempts = 99\n"));
}

#[test]
fn a_node_follows_any_number_of_keys_and_what_is_published_gets_no_longer() {
    let cluster = cluster();
    publish(&cluster, "key/provost.key", &[]).expect(0);
    let [first, last] = [node(&cluster, "cn1", &["key"]), node(&cluster, "cn2", &["key"])];
    first.provost(&["boot"]).expect(0);
    let sizes = || {
        ["manifest.toml.minisig", "plans/cn1.toml.minisig", "manifest.toml"]
            .map(|name| fs::metadata(cluster.www().join(name)).unwrap().len())
    };
    let mut old = "key".to_owned();
    let mut once = None;
    for n in 0..24 {
        let next = format!("key-{n}");
        rotate(&cluster, &old, &next).expect(0);
        old = next;
        // A digit more of the generation.
        let of_one = once.get_or_insert_with(sizes);
        assert!(sizes().iter().zip(of_one).all(|(now, then)| now.abs_diff(*then) < 8), "{n}");
        if n == 11 {
            first.provost(&["boot"]).expect(0);
        }
    }
    // It was off for half of them, and for all of them.
    for node in [&first, &last] {
        node.provost(&["check"]).expect(0);
        node.provost(&["boot"]).expect(0);
        node.provost(&["boot"]).expect(0);
    }
    // Each one that was replaced is refused, the first and those that no node was told of.
    for stale in ["key", "key-3", "key-22"] {
        let out = publish(&cluster, &format!("{stale}/provost.key"), &[]).expect(1);
        out.says(&["has replaced it", &line(&cluster, "key-23/provost.pub")]);
    }
    stolen(&cluster);
    for command in ["boot", "check"] {
        let out = first.provost(&[command]).expect(3);
        let said = out.stdout + &out.stderr;
        assert!(said.contains("has replaced; the node trusts key"), "{said}");
    }
}

#[test]
fn nobody_in_between_cuts_a_key_out_where_a_node_is_told_of_both() {
    let cluster = cluster();
    publish(&cluster, "key/provost.key", &[]).expect(0);
    rotate(&cluster, "key", "new").expect(0);
    rotate(&cluster, "new", "newer").expect(0);
    let node = node(&cluster, "cn1", &["key"]);
    let proxy = Faulty::before(cluster.daemon().nodes());
    configure(&cluster, &node, &["key", "newer"], proxy.address());
    proxy.fault("/objects/", Times::Always, Fault::Status(404));
    for command in ["boot", "check"] {
        let out = node.provost(&[command]).expect(3);
        let said = out.stdout + &out.stderr;
        assert!(said.contains("following the publisher's keys: fetching http"), "{said}");
    }
    proxy.fault("/objects/", Times::Always, Fault::ErrorPage);
    node.provost(&["boot"]).expect(3).says(&["following the publisher's keys"]);
    proxy.repair();
    node.provost(&["boot"]).expect(0);
    let good = cluster.path("good");
    crate::keys::revoked::copy(&cluster.www(), &good);
    stolen(&cluster);
    node.provost(&["boot"]).expect(3).says(&["has replaced; the node trusts key"]);
    // It asks for no link again that it has followed.
    serve(&cluster, &good);
    cluster.script("hello", "#!/bin/sh\necho again\n");
    publish(&cluster, "newer/provost.key", &[]).expect(0);
    let asked = || {
        let exchanges = proxy.exchanges();
        exchanges.iter().filter(|one| one.request.path.starts_with("/objects/")).count()
    };
    let before = asked();
    node.provost(&["boot"]).expect(0);
    assert_eq!(asked() - before, 1, "the script");
}

#[test]
fn a_replaced_key_publishes_nothing() {
    let cluster = cluster();
    publish(&cluster, "key/provost.key", &[]).expect(0);
    let node = node(&cluster, "cn1", &["key"]);
    rotate(&cluster, "key", "new").expect(0);
    let before = fs::read(cluster.www().join("manifest.toml")).unwrap();
    cluster.script("hello", "#!/bin/sh\necho again\n");
    let www = path(&cluster, "www");
    let key = path(&cluster, "key/provost.key");
    let refused = |out: Out| {
        out.expect(1).says(&[
            "provostctl: publishing with key",
            "has replaced it",
            "hint: publish with key",
            &line(&cluster, "new/provost.pub"),
        ]);
        assert_eq!(fs::read(cluster.www().join("manifest.toml")).unwrap(), before);
    };
    refused(publish(&cluster, "key/provost.key", &[]));
    refused(publish(&cluster, "key/provost.key", &["--check"]));
    refused(publish(&cluster, "key/provost.key", &["--refresh"]));
    // It names no other one, either.
    cluster.ctl(&["key", "new", "--out", &path(&cluster, "other")]).expect(0);
    let other = path(&cluster, "other/provost.key");
    let rotate = ["key", "rotate", "--key", &key, "--next", &other, "--to", &www];
    cluster.ctl(&rotate).expect(1).says(&["is signed by neither key"]);
    node.provost(&["boot"]).expect(0);
}

//! A node's token and the publisher's key, from the first to the next one.

use std::fs;

use provost_tests::{Cluster, Node, Out, web_group};

const SITE: &str = "[groups.all]\nnodes = \"cn[1-2]\"\npostscripts = [\"hello\"]\n";

fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("hello", "#!/bin/sh\necho hello\n").site(SITE);
    cluster.publish().expect(0);
    cluster.start();
    cluster
}

/// The only token that the command prints.
#[track_caller]
fn token(out: &Out) -> String {
    assert_eq!(out.stdout.lines().count(), 1, "{out:?}");
    out.stdout.trim().to_owned()
}

fn boot_with(node: &Node, token: &str) -> Out {
    fs::write(node.path("token"), token).unwrap();
    node.provost(&["boot"])
}

#[test]
fn only_names_that_are_published_get_a_token() {
    let cluster = cluster();
    let out = cluster.ctl(&["token", "cn[1-2],cn9"]).expect(1);
    assert_eq!(out.stdout, "");
    out.says(&["no token was created: cn9 isn't in what is published", "provostctl token --force"]);
    let given = cluster.ctl(&["token", "--missing", "cn[1-2]"]).expect(0);
    assert_eq!(given.stdout.lines().count(), 2, "the refusal has made none");
    cluster.ctl(&["token", "--force", "cn9"]).expect(0);
    let none = cluster.ctl(&["token", "--missing", "cn[1-2]"]).expect(0);
    assert_eq!(none.stdout, "");
    none.says(&["each of these nodes has a token"]);

    let mut unpublished = Cluster::new();
    unpublished.start();
    unpublished.ctl(&["token", "anything"]).expect(0);
}

#[test]
fn an_old_token_counts_until_the_new_one_is_used() {
    let cluster = cluster();
    let node = cluster.node("cn1");
    let old = fs::read_to_string(node.path("token")).unwrap();
    node.provost(&["boot"]).expect(0);
    let new = token(&cluster.ctl(&["token", "--rotate", "cn1"]).expect(0));
    boot_with(&node, &old).expect(0);
    // Once more, before the node has the new one: it isn't shut out.
    let newer = token(&cluster.ctl(&["token", "--rotate", "--overlap", "30d", "cn1"]).expect(0));
    boot_with(&node, &old).expect(0);
    boot_with(&node, &new).expect(3).says(&["token"]);
    boot_with(&node, &newer).expect(0);
    boot_with(&node, &old).expect(3).says(&["token"]);
    boot_with(&node, &newer).expect(0);
    // Without --rotate the old one ends at once.
    let last = token(&cluster.ctl(&["token", "cn1"]).expect(0));
    boot_with(&node, &newer).expect(3);
    boot_with(&node, &last).expect(0);
    cluster.ctl(&["token", "--overlap", "7d", "cn1"]).expect(2).says(&["--rotate"]);
    cluster.ctl(&["token", "--rotate", "--overlap", "5m", "cn1"]).expect(2).says(&["an hour at"]);
}

#[test]
fn show_tells_the_program_and_what_it_ran_last() {
    let mut cluster = cluster();
    let node = cluster.node("cn1");
    node.provost(&["boot"]).expect(0);
    let version = env!("CARGO_PKG_VERSION");
    let line = format!("  last ran provost {version}, bundle 1, plan 1\n");
    let shown = cluster.ctl(&["show", "cn1"]).expect(0).stdout;
    assert!(shown.contains(&line), "{shown}");
    cluster.start();
    assert_eq!(cluster.status("cn1")["program"], version, "the daemon remembers it");
}

/// A new key, and `provostctl key rotate` from the present one to it.
#[derive(Clone)]
struct Rotation {
    old: String,
    new: String,
    www: String,
}

impl Rotation {
    fn new(cluster: &Cluster) -> Self {
        let path = |name: &str| cluster.path(name).display().to_string();
        cluster.ctl(&["key", "new", "--out", &path("new")]).expect(0);
        Self { old: path("key/provost.key"), new: path("new/provost.key"), www: path("www") }
    }

    fn run(&self, cluster: &Cluster) -> Out {
        cluster.ctl(&[
            "key",
            "rotate",
            "--key",
            &self.old,
            "--next",
            &self.new,
            "--to",
            &self.www,
            "--group",
            web_group(),
        ])
    }

    /// Publishes with the new key.
    fn publish(&self, cluster: &Cluster) -> Out {
        let path = |name: &str| cluster.path(name).display().to_string();
        let (site, scripts) = (path("site.toml"), path("scripts"));
        cluster.ctl(&[
            "publish",
            "--site",
            &site,
            "--scripts",
            &scripts,
            "--key",
            &self.new,
            "--to",
            &self.www,
            "--group",
            web_group(),
        ])
    }
}

#[test]
fn a_new_key_takes_over_from_the_old_one() {
    let cluster = cluster();
    let nodes = ["cn1", "cn2"].map(|name| cluster.node(name));
    for node in &nodes {
        node.provost(&["boot"]).expect(0);
    }
    let signed_by_old = cluster.path("signed-by-old");
    let copy = |from: &std::path::Path, to: &std::path::Path| {
        let status = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status();
        assert!(status.unwrap().success());
    };
    copy(&cluster.www(), &signed_by_old);
    let rotation = Rotation::new(&cluster);
    let out = rotation.run(&cluster).expect(0);
    assert!(out.stdout.contains("published generation 2"), "{}", out.stdout);
    let missing =
        "2 of 2 nodes have not fetched what the new key signs (generation 2) yet: cn[1-2]";
    assert!(out.stdout.contains(missing), "{}", out.stdout);
    out.says(&["publish with --key"]);

    // A node with the old key in its configuration takes the new one, and all that is published later.
    nodes[0].provost(&["check"]).expect(0);
    nodes[0].provost(&["boot"]).expect(0);
    let out = rotation.run(&cluster).expect(0);
    assert!(!out.stdout.contains("published"), "{}", out.stdout);
    assert!(out.stdout.contains("1 of 2 nodes have not fetched"), "{}", out.stdout);
    cluster.script("hello", "#!/bin/sh\necho new\n");
    rotation.publish(&cluster).expect(0);
    for node in &nodes {
        node.provost(&["boot"]).expect(0);
    }
    let out = rotation.run(&cluster).expect(0);
    assert!(out.stdout.contains("all of 2 nodes have fetched"), "{}", out.stdout);

    // What was published with the old key can still be published again.
    let args =
        ["rollback", "1", "--key", &rotation.new, "--to", &rotation.www, "--group", web_group()];
    cluster.ctl(&args).expect(0);
    nodes[0].provost(&["boot"]).expect(0);

    // Who has the old key gets nothing past a node that has seen the new one.
    let old_site = cluster.path("site.toml").display().to_string();
    let (scripts, www) =
        (cluster.scripts().display().to_string(), signed_by_old.display().to_string());
    let args = ["publish", "--site", &old_site, "--scripts", &scripts, "--key", &rotation.old];
    let more = ["--to", &www, "--group", web_group(), "--generation-above", "99"];
    let publish = [&args[..], &more].concat();
    cluster.ctl(&publish).expect(1).says(&["has replaced it"]);
    // He doesn't ask the site's provostd, which knows that.
    let nobody = format!("unix:{}", cluster.path("nobody.sock").display());
    cluster.ctl(&[&publish[..], &["--admin", &nobody]].concat()).expect(0);
    fs::remove_dir_all(cluster.www()).unwrap();
    copy(&signed_by_old, &cluster.www());
    nodes[0].provost(&["boot"]).expect(3).says(&["it is signed by key", "the node trusts key"]);
    nodes[0].provost(&["check"]).expect(3);
    // One that remembers nothing trusts what its configuration says.
    fs::remove_dir_all(nodes[1].path("state")).unwrap();
    nodes[1].provost(&["boot"]).expect(0);
}

#[test]
fn a_key_takes_over_only_by_the_old_ones_word() {
    let cluster = cluster();
    let node = cluster.node("cn1");
    let rotation = Rotation::new(&cluster);
    let same = Rotation { new: rotation.old.clone(), ..rotation.clone() };
    same.run(&cluster).expect(1).says(&["the same key"]);
    let reversed =
        Rotation { old: rotation.new.clone(), new: rotation.old.clone(), ..rotation.clone() };
    reversed.run(&cluster).expect(1).says(&["doesn't follow that of --key"]);
    // A stranger's key without that word, or with another one's.
    rotation.publish(&cluster).expect(0);
    node.provost(&["boot"]).expect(3).says(&["it is signed by key"]);
    cluster.ctl(&["key", "new", "--out", &cluster.path("third").display().to_string()]).expect(0);
    let (third, aside) = (cluster.path("third/provost.key"), cluster.path("aside"));
    let (third, www) = (third.display().to_string(), aside.display().to_string());
    let with_third = Rotation { new: third.clone(), www: www.clone(), ..rotation.clone() };
    with_third.publish(&cluster).expect(0);
    Rotation { old: third, www, ..rotation }.run(&cluster).expect(0);
    fs::remove_dir_all(cluster.www()).unwrap();
    fs::rename(aside, cluster.www()).unwrap();
    node.provost(&["boot"]).expect(3).says(&["it is signed by key"]);
}

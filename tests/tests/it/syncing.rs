//! `provostctl sync`: what changed is published, then installed on nodes over a real sshd.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use provost_tests::{Cluster, Network, Node, Out};

/// Writes a file of the scripts' folder that is none of them.
fn data(cluster: &Cluster, name: &str, text: &str) {
    cluster.script(name, text);
    let path = cluster.scripts().join(name);
    fs::set_permissions(path, PermissionsExt::from_mode(0o644)).unwrap();
}

struct Site {
    cluster: Cluster,
    network: Network,
    nodes: Vec<Node>,
}

/// Three nodes, each of which installs files in a folder of its own; the third has a list of its own.
fn site() -> Site {
    let mut cluster = Cluster::new();
    cluster.script("syncfiles", include_str!("../../../postscripts/syncfiles"));
    data(&cluster, "_sync/list", "conf/motd -> /etc/motd\n");
    data(&cluster, "_sync/others", "conf/motd -> /etc/other\n");
    data(&cluster, "conf/motd", "one\n");
    let root = |n: u32| cluster.path(&format!("root{n}"));
    let section = |n: u32, steps: &str| {
        fs::create_dir_all(root(n).join("etc")).unwrap();
        let root = root(n).display().to_string();
        format!("[nodes.cn00{n}]\nenv = {{ PROVOST_ROOT = {root:?} }}\npostscripts = [{steps}]\n")
    };
    let lists = "\"syncfiles\", \"syncfiles '_sync/others'\"";
    cluster.site(&(section(1, "") + &section(2, "\"syncfiles\"") + &section(3, lists)));
    cluster.publish().expect(0);
    cluster.start();
    let mut network = Network::new();
    let nodes: Vec<Node> = (1..=3).map(|n| cluster.node(&format!("cn00{n}"))).collect();
    nodes.iter().for_each(|node| network.join(node));
    Site { cluster, network, nodes }
}

impl Site {
    fn sync(&self, more: &[&str]) -> Out {
        let path = |name: &str| self.cluster.path(name).display().to_string();
        let (site, scripts, www) = (path("site.toml"), path("scripts"), path("www"));
        let (key, config) = (path("key/provost.key"), self.network.config());
        let inputs = ["--site", &site, "--scripts", &scripts, "--key", &key, "--to", &www];
        let ssh = ["--ssh-config", config.as_str(), "--fanout", "1"];
        self.cluster.ctl(&[&["sync"][..], &inputs, &ssh, more].concat())
    }

    fn file(&self, node: u32, name: &str) -> PathBuf {
        self.cluster.path(&format!("root{node}/etc/{name}"))
    }

    fn text(&self, node: u32, name: &str) -> String {
        fs::read_to_string(self.file(node, name)).unwrap()
    }
}

#[test]
fn a_changed_file_is_published_and_installed_by_one_command() {
    let site = site();
    data(&site.cluster, "conf/motd", "two\n");
    let out = site.sync(&["cn[001-003]"]).expect(0);
    assert!(out.stdout.starts_with("published generation 2 to "), "{}", out.stdout);
    assert!(out.stdout.ends_with("    3  ok           cn[001-003]\n"), "{}", out.stdout);
    for node in 1..=3 {
        assert_eq!(site.text(node, "motd"), "two\n");
    }
    // A plan that names lists gets these, and no other node does.
    assert_eq!(site.text(3, "other"), "two\n");
    assert!(!site.file(1, "other").exists() && !site.file(2, "other").exists());
    assert_eq!(site.cluster.status("cn001")["updatestatus"], "synced");

    // With nothing new nodes still get what they lack.
    fs::remove_file(site.file(1, "motd")).unwrap();
    let out = site.sync(&["cn001"]).expect(0);
    assert!(out.stdout.contains(" is up to date: generation 2, "), "{}", out.stdout);
    assert_eq!(site.text(1, "motd"), "two\n");
    let out = site.sync(&["--format", "json", "cn001"]).expect(0);
    assert_eq!(out.json()[0]["result"], "ok");
    assert!(out.stderr.contains(" is up to date: generation 2, "), "{}", out.stderr);
}

#[test]
fn a_dry_run_shows_what_would_change_and_changes_nothing() {
    let site = site();
    data(&site.cluster, "conf/motd", "two\n");
    let out = site.sync(&["--dry-run", "cn[001-002]"]).expect(0);
    assert!(out.stdout.contains("bundle: generation 1 -> 2\n"), "{}", out.stdout);
    assert!(out.stdout.contains("\n-one\n+two\n"), "{}", out.stdout);
    assert!(out.stdout.ends_with("would sync 2 nodes: cn[001-002]\n"), "{}", out.stdout);
    let out = site.sync(&["--dry-run", "--format", "json", "cn[001-002]"]).expect(0);
    assert_eq!(out.json()[1]["node"], "cn002");
    assert_eq!(out.json()[1]["command"], "provost run -P syncfiles");
    let manifest = fs::read_to_string(site.cluster.path("www/manifest.toml")).unwrap();
    assert!(manifest.contains("generation = 1\n"), "{manifest}");
    assert!(!site.file(1, "motd").exists());
    let runs = |node: &Node| node.path("log/services/run.json").exists();
    assert!(!site.nodes.iter().any(runs));
}

#[test]
fn equal_failures_stand_together_and_nothing_runs_where_publishing_fails() {
    let mut site = site();
    site.network.join_dead("cn003");
    data(&site.cluster, "_sync/list", "conf/none -> /etc/motd\n");
    let out = site.sync(&["cn[001-003]"]).expect(1);
    let failed = "    2  failed       cn[001-002]\n                    syncfiles: exit status 1 ";
    assert!(out.stdout.contains(failed), "{}", out.stdout);
    assert!(out.stdout.contains("    1  unreachable  cn003\n"), "{}", out.stdout);
    assert!(out.stdout.contains("hint: add it to the folder that is published"), "{}", out.stdout);

    let runs = site.nodes[0].journal("run").len();
    site.cluster.script("bad", "#!/bin/bash\nif\n");
    let out = site.sync(&["cn001"]).expect(1);
    assert!(out.stderr.contains("nothing was published"), "{}", out.stderr);
    // Names that stand for nothing are refused before that.
    let out = site.sync(&["@failed&cn009"]).expect(1);
    assert!(out.stderr.contains("stands for no nodes"), "{}", out.stderr);
    fs::remove_file(site.cluster.path("scripts/syncfiles")).unwrap();
    let out = site.sync(&["cn001"]).expect(2);
    assert!(out.stderr.contains("  hint: copy it there: cp "), "{}", out.stderr);
    assert_eq!(site.nodes[0].journal("run").len(), runs);
}

/// A synclist of xCAT's names files of the management node: they are published as they are now, and as they
/// were by a rollback.
#[test]
fn files_of_the_management_node_are_published_for_a_synclist() {
    let site = site();
    let mn = site.cluster.path("mn");
    fs::create_dir_all(mn.join("conf")).unwrap();
    let write = |name: &str, text: &str| fs::write(mn.join(name), text).unwrap();
    write("motd", "of mn\n");
    write("conf/.a", "hidden\n");
    write("conf/b.conf", "b\n");
    let (mn, group) = (mn.display(), "(cn001-cn002)");
    let list = format!("{mn}/motd {mn}/conf/*.conf -> {group} /etc\n{mn}/conf/.a -> /etc/a\n");
    data(&site.cluster, "_sync/list", &list);
    site.sync(&["cn[001-002]"]).expect(0);
    for (name, text) in [("motd", "of mn\n"), ("b.conf", "b\n"), ("a", "hidden\n")] {
        assert_eq!(site.text(2, name), text);
    }
    write("motd", "new\n");
    write("conf/c.conf", "c\n");
    site.sync(&["cn[001-002]"]).expect(0);
    assert_eq!((site.text(1, "motd"), site.text(1, "c.conf")), ("new\n".into(), "c\n".into()));

    let path = |name: &str| site.cluster.path(name).display().to_string();
    let (key, www) = (path("key/provost.key"), path("www"));
    site.cluster.ctl(&["rollback", "--key", &key, "--to", &www]).expect(0);
    site.nodes[0].provost(&["run", "syncfiles"]).expect(0);
    assert_eq!((site.text(1, "motd"), site.text(1, "a")), ("of mn\n".into(), "hidden\n".into()));

    // What others can't read isn't published, nor what isn't there.
    let shadow = format!("{mn}/shadow -> /etc/shadow\n\n{mn}/none -> /x\n{mn}/conf -> /etc/conf\n");
    write("shadow", "root:secret:\n");
    fs::set_permissions(site.cluster.path("mn/shadow"), PermissionsExt::from_mode(0o640)).unwrap();
    data(&site.cluster, "_sync/other.synclist", &shadow);
    let out = site.sync(&["cn001"]).expect(1);
    for says in [
        "/mn/shadow: others can't read it, and what is published is readable by all",
        "_sync/other.synclist, line 3: there is no file ",
        "_sync/other.synclist, line 4: ",
        "/mn/conf is a folder, and files alone are installed",
    ] {
        assert!(out.stderr.contains(says), "{says}\n{}", out.stderr);
    }
    // A workstation doesn't have them.
    let args =
        ["publish", "--site", &path("site.toml"), "--scripts", &path("scripts"), "--lint-only"];
    site.cluster.ctl(&args).expect(0);
}

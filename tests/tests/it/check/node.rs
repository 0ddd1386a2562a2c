//! What is found out about the node itself.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::{Out, missing, skip_if, skip_part};

use super::{check, cluster, one, value};

/// Every file below `folder`, with its size and the time of its last change.
fn state_of(folder: &Path) -> BTreeMap<PathBuf, (u64, i64, i64)> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let metadata = folder.symlink_metadata().unwrap();
        all.insert(folder.clone(), (metadata.size(), metadata.mtime(), metadata.mtime_nsec()));
        if metadata.is_dir() {
            folders.extend(std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()));
        }
    }
    all
}

#[test]
fn a_good_node_is_told_so_and_nothing_is_changed() {
    let (_cluster, node) = cluster();
    let before = state_of(&node.path(""));
    let out = check(&node).expect(0);
    assert_eq!(state_of(&node.path("")), before, "before the first run there is no STATE");
    node.provost(&["boot"]).expect(0);
    let before = state_of(&node.path(""));
    let again = check(&node).expect(0);
    assert_eq!(state_of(&node.path("")), before);
    for out in [&out, &again] {
        assert_eq!(out.json()["node"], "cn001");
        for (what, part) in [
            ("configuration", "ok "),
            ("server", "responded in"),
            ("clock", "ok this node's clock is"),
            ("signature", "signed by key"),
            ("token", "takes it"),
            ("plan", "plan 1 of cn001 is signed by key"),
            ("state", "ok "),
            ("log", "ok "),
            ("run", "ok none"),
            ("guard", "ok 0 failed attempts"),
            ("reports", "ok none"),
        ] {
            one(out, what, &[part]);
        }
        let token = std::fs::read_to_string(node.path("token")).unwrap();
        let token = token.split_ascii_whitespace().last().unwrap().to_owned();
        assert!(!out.stdout.contains(&token) && !out.stderr.contains(&token));
        assert_eq!(out.stderr, "");
    }
}

#[test]
fn each_value_says_where_it_comes_from() {
    let (cluster, node) = cluster();
    std::fs::create_dir(node.path("provost.d")).unwrap();
    std::fs::write(node.path("provost.d/10.toml"), "[run]\nslow = \"7s\"\n").unwrap();
    let mut command = node.command(&["check", "--format", "json"]);
    command.env("PROVOST_NODE", "cn002").env("PROVOST_TOKEN", "a-secret-token");
    let out: Out = command.output().unwrap().into();
    let file = |name: &str| format!("file {}", node.path(name).display());
    assert_eq!(value(&out, "node"), ("cn002".into(), "environment PROVOST_NODE".to_owned()));
    let servers = vec![format!("http://{}", cluster.daemon().nodes())];
    assert_eq!(value(&out, "servers"), (servers.into(), file("provost.toml")));
    assert_eq!(value(&out, "run.slow"), ("7s".into(), file("provost.d/10.toml")));
    assert_eq!(value(&out, "run.grace"), ("10s".into(), "default".to_owned()));
    assert_eq!(value(&out, "guard.max_attempts"), (3.into(), "default".to_owned()));
    assert_eq!(value(&out, "config").1, "flag --config");
    assert_eq!(value(&out, "token").1, "environment PROVOST_TOKEN");
    assert!(!out.stdout.contains("a-secret-token"), "{out:?}");
    let mut command = Command::new(provost_tests::program("provost"));
    command.arg("check").env("PROVOST_CONFIG", node.path("provost.toml"));
    let out: Out = command.output().unwrap().into();
    let shown = out.expect(0).stdout;
    assert!(shown.contains("environment PROVOST_CONFIG") && shown.contains("\n0 failed, "));
    assert!(shown.lines().any(|l| l.starts_with("run.slow") && l.ends_with("10.toml")), "{shown}");
    assert!(!shown.contains('\x1b'));
}

#[test]
fn mistakes_are_all_told_and_the_rest_is_tried() {
    let (cluster, node) = cluster();
    let good = format!("http://{}", cluster.daemon().nodes());
    node.configure(&format!(
        "servers = [{good:?}, \"ftp://x\"]\n[trust]\nkeys = [\"{}\"]\n[fetch]\nca = \"/no/such\"\n\
         stall_timeout = 3\n[run]\ndeadlin = \"1h\"\n",
        cluster.key()
    ));
    let out = check(&node).expect(2);
    for part in ["provost.toml:", "stall_timeout: ", "run.deadlin: unknown", "ftp://x", "/no/such"]
    {
        one(&out, "configuration", &["failed", part]);
    }
    one(&out, "server", &["ok ", &good]);
    one(&out, "plan", &["ok "]);
    assert_eq!(value(&out, "node").0, "cn001");
    assert_eq!(value(&out, "fetch.stall_timeout").1, "default");
    node.provost(&["boot"]).expect(2).says(&["provost.toml:", "deadlin", "hint: "]);
    std::fs::write(node.path("provost.toml"), "node = [\n").unwrap();
    let out = check(&node).expect(2);
    one(&out, "configuration", &["failed", "provost.toml:"]);
    let mut command = node.command(&["check", "--format", "json"]);
    let said = command.env("PROVOST_NODE", "a/b").env("PROVOST_KEY", "RWnone").output().unwrap();
    let out = Out::from(said).expect(2);
    one(&out, "configuration", &["failed", "\"a/b\" (from environment PROVOST_NODE)"]);
    one(&out, "configuration", &["failed", "(from environment PROVOST_KEY)"]);
}

#[test]
fn what_a_file_says_in_vain_is_noted() {
    let (_cluster, node) = cluster();
    let mut command = node.command(&["check", "--format", "json"]);
    let out: Out = command.env("PROVOST_NODE", "cn9").output().unwrap().into();
    one(&out, "configuration", &["note `node` of file", "overridden by environment PROVOST_NODE"]);
    assert!(!check(&node).stdout.contains("has no effect"));
}

#[test]
fn a_state_that_can_not_be_written_is_told() {
    let (cluster, node) = cluster();
    std::fs::write(node.path("file"), "").unwrap();
    let server = format!("http://{}", cluster.daemon().nodes());
    let text = format!(
        "node = \"cn001\"\ntoken_file = {:?}\nservers = [{server:?}]\n[trust]\nkeys = [{:?}]\n\
         [paths]\nstate = \"/proc/provost\"\nlog = {:?}\n",
        node.path("token"),
        cluster.key(),
        node.path("file/log")
    );
    std::fs::write(node.path("provost.toml"), text).unwrap();
    let out = check(&node).expect(2);
    one(&out, "state", &["failed", "/proc/provost"]);
    one(&out, "log", &["failed", "writing to "]);
    one(&out, "plan", &["ok "]);
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    if !mounts.lines().any(|mount| mount.contains(" /dev/shm tmpfs ")) {
        return skip_part("a state on tmpfs: there is none at /dev/shm");
    }
    let text = std::fs::read_to_string(node.path("provost.toml")).unwrap();
    let text = text.replace("/proc/provost", "/dev/shm/no-such-folder");
    std::fs::write(node.path("provost.toml"), text).unwrap();
    one(&check(&node), "state", &["note", "/dev/shm/no-such-folder is on tmpfs"]);
}

#[test]
fn a_run_that_goes_on_and_records_that_wait_are_noted() {
    let (mut cluster, node) = cluster();
    let address = cluster.kill_daemon();
    node.configure(&format!(
        "servers = [\"http://{address}\"]\n[trust]\nkeys = [\"{}\"]\n[fetch]\ndeadline = \"1s\"\n\
         [report]\ndeadline = \"1s\"\n",
        cluster.key()
    ));
    node.provost(&["boot"]).expect(3);
    one(&check(&node).expect(3), "reports", &["note", "4 records not sent yet", "provost report"]);
    let lock = std::fs::File::open(node.path("state/lock")).unwrap();
    lock.lock().unwrap();
    one(&check(&node).expect(3), "run", &["note", "one is in progress"]);
}

#[test]
fn a_node_that_is_held_is_told_by_whom() {
    let (cluster, node) = cluster();
    cluster.script("one", "#!/bin/sh\nexit 1\n");
    cluster.publish().expect(0);
    one(&check(&node).expect(0), "guard", &["ok 0 failed attempts", "the limit is 3"]);
    for _ in 0..3 {
        node.provost(&["boot"]).expect(1);
    }
    let out = check(&node).expect(0);
    one(&out, "guard", &["note this node is held: 3 runs", "provost release"]);
    one(&out, "guard", &["note the management node holds this node: 3 attempts", "provostctl"]);
    cluster.ctl(&["release", "cn001"]).expect(0);
    node.provost(&["release"]).expect(0);
    one(&check(&node).expect(0), "guard", &["ok 0 failed attempts"]);
}

/// The real places, in a namespace of their own.
#[test]
fn a_node_without_configuration_is_found_by_what_its_machine_was_told() {
    skip_if(missing::mounts());
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("cmdline"), "quiet XCAT=127.0.0.1:3001 NODE=cn007\n").unwrap();
    std::fs::create_dir_all(path("xcat")).unwrap();
    std::fs::write(path("xcat/xcatinfo"), "XCATSERVER=127.0.0.2\nNODE=cn008\n").unwrap();
    std::fs::create_dir_all(path("dhcp")).unwrap();
    let lease = "lease {\n  option dhcp-server-identifier 127.1.2.3;\n  expire never;\n}\n\
                 lease {\n  option dhcp-server-identifier 10.255.255.254;\n  expire never;\n}\n";
    std::fs::write(path("dhcp/dhclient.leases"), lease).unwrap();
    let run = |mounts: &str| -> Out {
        let script = format!(
            "set -e\nmount -t tmpfs none /opt\nmount -t tmpfs none /var/lib\nmount -t tmpfs none /etc/\
             provost 2>/dev/null || true\n{mounts}\nexec \"$PROVOST\" check --format json\n"
        );
        let out = Command::new("unshare")
            .args(["-m", "sh", "-c", &script])
            .env("PROVOST", provost_tests::program("provost"))
            .env("HERE", folder.path())
            .output();
        out.unwrap().into()
    };
    let kernel = "mount --bind \"$HERE/cmdline\" /proc/cmdline\n";
    let nothing = "mount --bind /dev/null /proc/cmdline\n";
    let xcat = "mkdir /opt/xcat && cp \"$HERE/xcat/xcatinfo\" /opt/xcat\n";
    let dhcp = "mkdir /var/lib/dhcp && cp \"$HERE/dhcp/dhclient.leases\" /var/lib/dhcp\n";
    let [of_kernel, of_xcat, of_lease] =
        ["http://127.0.0.1:80", "http://127.0.0.2:80", "http://10.255.255.254:80"];
    let lease = "DHCP lease /var/lib/dhcp/dhclient.leases";
    for (mounts, servers, from) in [
        (
            [kernel, xcat, dhcp],
            &[of_kernel, of_xcat, of_lease][..],
            &*format!("kernel command line, XCAT=, then file /opt/xcat/xcatinfo, then {lease}"),
        ),
        (
            [nothing, xcat, dhcp],
            &[of_xcat, of_lease],
            &format!("file /opt/xcat/xcatinfo, then {lease}"),
        ),
        ([nothing, dhcp, ""], &["http://10.255.255.254:8480"], lease),
    ] {
        let out = run(&mounts.concat());
        assert_eq!(value(&out, "servers"), (servers.to_vec().into(), from.to_owned()));
    }
    let out = run(&[kernel, xcat].concat());
    assert_eq!(value(&out, "node"), ("cn007".into(), "kernel command line, NODE=".to_owned()));
    one(&out.expect(2), "configuration", &["failed", "[trust] is empty"]);
}

//! Another authority: nodes reach the server before, while and after it takes over, also those that were
//! away.

use std::path::Path;
use std::process::Command;

use provost_tests::{Cluster, Node};

use crate::tls::cluster;

fn node(cluster: &Cluster, name: &str) -> Node {
    let node = cluster.node(name);
    let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
    let limits = "[fetch]\ndeadline = \"3s\"\n[report]\ndeadline = \"3s\"\n";
    node.configure(&format!("{settings}{limits}[guard]\nmax_attempts = 99\n"));
    node
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-aT").args([from, to]).status().unwrap().success());
}

fn boots(node: &Node) {
    let out = node.provost(&["boot"]).expect(0);
    assert!(!out.stderr.contains("not sent yet"), "{}", out.stderr);
}

#[test]
fn another_authority_takes_over_and_locks_no_node_out() {
    let mut cluster = cluster();
    let old = cluster.tls();
    cluster.publish_with(&["--tls", &old]).expect(0);
    let (here, away) = (node(&cluster, "cn001"), node(&cluster, "cn002"));
    boots(&here);
    boots(&away);
    let (ca, before) = (cluster.path("provostd/ca"), cluster.path("before"));
    copy(&ca, &before);
    let shown_before = cluster.path("before.pem");
    let text = cluster.daemon_command(&["ca", "show"]).expect(0).stdout;
    std::fs::write(&shown_before, text).unwrap();
    let said = cluster.daemon_command(&["ca", "rotate"]).expect(0).stdout;
    assert!(said.contains("systemctl restart provostd, then: provostctl publish --tls"), "{said}");
    let twice = cluster.daemon_command(&["ca", "rotate"]).expect(1).stderr;
    assert!(twice.contains("still valid") && twice.contains("rotate --finish"), "{twice}");
    let key = |folder: &Path| std::fs::read(folder.join("authority.key")).unwrap();
    assert_ne!(key(&ca), key(&before));
    assert!(!cluster.path("provostd/ca.next").exists(), "the old key is destroyed");

    // Nodes know the old one only.
    cluster.start();
    boots(&here);
    let both = cluster.tls();
    let (port, keys) = both.split_once(':').unwrap();
    let (new, last) = keys.split_once(',').unwrap();
    assert_eq!(format!("{port}:{last}"), old);
    let shown = cluster.path("ca.pem");
    let text = cluster.daemon_command(&["ca", "show"]).expect(0).stdout;
    std::fs::write(&shown, text).unwrap();
    let url = format!("https://127.0.0.1:{port}/manifest.toml");
    // Other programs go on with what they were given before.
    for ca in [shown_before, shown] {
        let curl = Command::new("curl").args(["-sSf", "--cacert"]).arg(ca).arg(&url).output();
        let curl = curl.unwrap();
        assert!(curl.status.success(), "{}", String::from_utf8_lossy(&curl.stderr));
    }
    cluster.publish_with(&["--tls", &both]).expect(0);
    boots(&here);

    let said = cluster.daemon_command(&["ca", "rotate", "--finish"]).expect(0).stdout;
    assert!(said.contains("dropped the old CA"), "{said}");
    cluster.start();
    assert_eq!(cluster.tls(), format!("{port}:{new}"));
    boots(&here);
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    boots(&here);
    boots(&away);

    // Who has the old key is nobody any more.
    let address = cluster.kill_daemon();
    std::fs::remove_dir_all(&ca).unwrap();
    copy(&before, &ca);
    cluster.start_at(&address);
    for node in [&here, &away] {
        let out = node.provost(&["boot"]).expect(3);
        assert!(out.stderr.contains("invalid peer certificate"), "{}", out.stderr);
    }
}

#[test]
fn a_rotation_that_was_cut_off_is_made_again() {
    let mut cluster = cluster();
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    let node = node(&cluster, "cn001");
    let next = cluster.path("provostd/ca.next");
    std::fs::create_dir(&next).unwrap();
    std::fs::write(next.join("authority.key"), "half a k").unwrap();
    cluster.daemon_command(&["ca", "rotate"]).expect(0);
    // And one whose end was.
    cluster.start();
    boots(&node);
    std::fs::remove_file(cluster.path("provostd/ca/old.pem")).unwrap();
    cluster.start();
    let line = cluster.tls();
    assert!(!line.contains(','), "{line}");
    cluster.publish_with(&["--tls", &line]).expect(0);
    boots(&node);
    cluster.daemon_command(&["ca", "rotate", "--finish"]).expect(0);
    let none = cluster.daemon_command(&["ca", "rotate", "--finish"]).expect(0).stdout;
    assert!(none.contains("there is no old CA"), "{none}");
}

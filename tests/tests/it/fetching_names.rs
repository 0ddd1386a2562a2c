//! Servers by name: the hosts file is enough, no name server can hang a node, and nobody is asked
//! that resolv.conf doesn't name.

use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use provost_tests::{Cluster, Node, Out};

/// Runs `provost boot` where /etc/hosts and /etc/resolv.conf are these. None where this machine
/// doesn't allow that.
fn boot(node: &Node, hosts: &str, resolv_conf: &str) -> Option<Out> {
    let files = [node.path("hosts"), node.path("resolv.conf")];
    for (file, text) in files.iter().zip([hosts, resolv_conf]) {
        std::fs::write(file, text).unwrap();
    }
    let provost = node.command(&["boot"]);
    let place = "mount --bind \"$1\" /etc/hosts && mount --bind \"$2\" /etc/resolv.conf || exit 99
        shift 2; exec \"$@\"";
    let out: Out = Command::new("unshare")
        .args(["-m", "sh", "-c", place, "sh"])
        .args(&files)
        .arg(provost.get_program())
        .args(provost.get_args())
        .stdin(Stdio::null())
        .output()
        .unwrap()
        .into();
    if out.code == Some(99) || out.stderr.contains("unshare: ") {
        eprintln!("SKIPPED: files of /etc can't be replaced here: {}", out.stderr);
        return None;
    }
    Some(out)
}

/// A node whose server is `mgmt`, by name.
fn node() -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\necho one\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let address = cluster.daemon().nodes();
    let port = address.rsplit(':').next().unwrap();
    node.configure(&format!(
        "servers = [\"http://mgmt:{port}\"]\n[trust]\nkeys = [\"{}\"]\n[fetch]\n\
         deadline = \"6s\"\n[report]\ndeadline = \"1s\"\n",
        cluster.key()
    ));
    (cluster, node)
}

/// Of this machine; nothing else listens there.
const DEAD: &str = "127.9.9.9";

/// A name server that never answers, at [`DEAD`].
fn black_hole() -> Option<UdpSocket> {
    let socket = UdpSocket::bind((DEAD, 53)).ok();
    if socket.is_none() {
        eprintln!("SKIPPED: no name server's port can be had here");
    }
    socket
}

#[test]
fn a_dead_name_server_is_named_and_one_that_isnt_needed_does_no_harm() {
    let (_cluster, node) = node();
    let Some(_socket) = black_hole() else { return };
    let conf = format!("nameserver {DEAD}\n");
    let begun = Instant::now();
    if let Some(out) = boot(&node, "", &conf) {
        out.expect(3).says(&[
            "looking up the name mgmt",
            "no name server responded",
            DEAD,
            "hint: ",
        ]);
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    }
    if let Some(out) = boot(&node, "127.0.0.1 mgmt\n", &conf) {
        assert!(!out.expect(0).stderr.contains("still trying"));
    }
}

#[test]
fn without_a_name_server_that_is_what_is_said() {
    let (_cluster, node) = node();
    for conf in ["", "# none\n"] {
        if let Some(out) = boot(&node, "127.0.0.1 other\n", conf) {
            out.expect(3).says(&[
                "the name mgmt",
                "/etc/resolv.conf names no name server",
                "hint: ",
            ]);
        }
    }
}

//! Servers by name: the hosts file is enough, no name server can hang a node, and nobody is asked
//! that resolv.conf doesn't name.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use provost_tests::{Cluster, Dns, Node, Out, missing, skip_if};

/// Runs `provost boot` where /etc/hosts and /etc/resolv.conf are these.
fn boot(node: &Node, hosts: &str, resolv_conf: &str) -> Out {
    let files = [node.path("hosts"), node.path("resolv.conf")];
    for (file, text) in files.iter().zip([hosts, resolv_conf]) {
        std::fs::write(file, text).unwrap();
    }
    let provost = node.command(&["boot"]);
    let place = "mount --bind \"$1\" /etc/hosts && mount --bind \"$2\" /etc/resolv.conf || exit 99
        shift 2; exec \"$@\"";
    let out = Command::new("unshare")
        .args(["-m", "sh", "-c", place, "sh"])
        .args(&files)
        .arg(provost.get_program())
        .args(provost.get_args())
        .stdin(Stdio::null())
        .output();
    out.unwrap().into()
}

/// A node whose server is `mgmt`, by name.
fn node() -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\necho one\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"one\"]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    configure(&cluster, &node, "mgmt");
    (cluster, node)
}

/// Names the server by `host`.
fn configure(cluster: &Cluster, node: &Node, host: &str) {
    let address = cluster.daemon().nodes();
    let port = address.rsplit(':').next().unwrap();
    node.configure(&format!(
        "servers = [\"http://{host}:{port}\"]\n[trust]\nkeys = [\"{}\"]\n[fetch]\n\
         deadline = \"6s\"\n[report]\ndeadline = \"1s\"\n",
        cluster.key()
    ));
}

#[test]
fn a_dead_name_server_is_named_and_one_that_isnt_needed_does_no_harm() {
    skip_if(missing::mounts());
    let dns = Dns::start();
    let (cluster, node) = node();
    let begun = Instant::now();
    boot(&node, "", &dns.resolv_conf()).expect(3).says(&[
        "looking up the name mgmt",
        "no name server responded",
        &dns.address().to_string(),
        "hint: ",
    ]);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let questions = dns.questions();
    assert_ne!(questions, 0);
    let out = boot(&node, "127.0.0.1 mgmt\n", &dns.resolv_conf()).expect(0);
    assert!(!out.stderr.contains("still trying"), "{}", out.stderr);
    configure(&cluster, &node, "127.0.0.1");
    boot(&node, "", &dns.resolv_conf()).expect(0);
    assert_eq!(dns.questions(), questions, "none for a name of the hosts file, nor for an address");
}

#[test]
fn without_a_name_server_that_is_what_is_said() {
    skip_if(missing::mounts());
    let (_cluster, node) = node();
    for conf in ["", "# none\n"] {
        boot(&node, "127.0.0.1 other\n", conf).expect(3).says(&[
            "the name mgmt",
            "/etc/resolv.conf names no name server",
            "hint: ",
        ]);
    }
}

//! How an installer gets the node's program, whatever it has and whatever goes wrong.

use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::{Chroot, Cluster, skip};

/// What the script fetches with, each where those before it aren't there. Bash is the last.
const TOOLS: [&str; 3] = ["curl", "wget", "python3"];

fn site() -> (Cluster, Chroot) {
    let root = Chroot::new();
    let mut cluster = Cluster::new();
    cluster.script("setup", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"setup\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    (cluster, root)
}

/// Does `what` with each of the tools, and with none.
fn with_each_tool(root: &Chroot, mut what: impl FnMut(&str)) {
    for tool in TOOLS {
        let first = root.sh("for p in curl wget python3; do command -v $p && break; done").stdout;
        assert!(first.trim().ends_with(tool), "{first:?} is there before {tool}");
        what(tool);
        root.sh(&format!("rm -f /usr/bin/provost $(command -v {tool})")).expect(0);
    }
    let left = root.sh("for p in curl wget python3; do command -v $p; done").stdout;
    assert_eq!(left, "", "bash's turn");
    what("bash");
}

#[test]
fn what_an_installer_has_is_enough() {
    let (cluster, root) = site();
    let good = format!("http://{}", cluster.daemon().nodes());
    // Nobody is at the first address.
    let servers = ["--token", "--server", "http://127.0.0.1:1", "--server", &good];
    let script = cluster.post_script(&servers);
    with_each_tool(&root, |tool| {
        let said = root.sh(&script).expect(0).says(&["http://127.0.0.1:1 did not give"]);
        assert!(root.path("/usr/bin/provost").exists(), "{tool}: {}", said.stderr);
    });
}

#[test]
fn a_transfer_that_breaks_off_is_begun_again() {
    let (cluster, root) = site();
    let server = Faulty::before(cluster.daemon().nodes());
    let url = format!("http://{}", server.address());
    let script = cluster.post_script(&["--token", "--server", &url]);
    with_each_tool(&root, |tool| {
        server.fault("/bin/", Times::Next(1), Fault::Truncate(100_000));
        server.fault("/bin/", Times::Next(1), Fault::Status(503));
        let said = root.sh(&script).expect(0).says(&["did not give the program"]);
        assert_eq!(said.stderr.matches("did not give").count(), 2, "{tool}: {}", said.stderr);
    });
}

#[test]
fn an_address_may_be_of_ipv6() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        skip("no IPv6")
    }
    let (mut cluster, root) = site();
    cluster.kill_daemon();
    cluster.start_at("[::1]:0");
    let script = cluster.post_script(&["--token"]);
    assert!(script.contains("http://[::1]:"), "{script}");
    with_each_tool(&root, |_| drop(root.sh(&script).expect(0)));
}

#[test]
fn without_the_program_nothing_runs_and_the_console_says_so() {
    let (cluster, root) = site();
    // Nobody waits here.
    let script = cluster.post_script(&["--token"]).replace("sleep", ": sleep");
    let another = script.replacen("sha256=", "sha256=0", 1);
    root.sh(&another).expect(1).says(&["nothing has run"]);
    assert!(root.text("/dev/console").contains("nothing has run"));

    // One that was changed on the way is as bad as none.
    let server = Faulty::before(cluster.daemon().nodes());
    server.fault("/bin/", Times::Always, Fault::Flip(5000));
    let own = format!("http://{}", cluster.daemon().nodes());
    let changed = script.replace(&own, &format!("http://{}", server.address()));
    root.sh(&changed).expect(1).says(&["did not give the program with the sha256"]);
    assert_eq!(root.sh("ls -A /usr/bin | grep provost").stdout, "");
    assert!(!root.path("/etc/provost").exists() && !root.path("/var/lib/provost").exists());
}

#[test]
fn a_node_without_a_token_says_what_it_lacks() {
    let (cluster, root) = site();
    root.sh(&cluster.post_script(&[]))
        .expect(3)
        .says(&["hint: create a token (provostctl token NODE)"]);
    assert!(root.text("/dev/console").contains("the kickstart FAILED with 3"));
}

#[test]
fn a_management_node_without_the_program_says_where_it_looked() {
    let mut cluster = Cluster::new();
    cluster.script("setup", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"setup\"]\n");
    cluster.publish().expect(0);
    cluster.configure_daemon("[node]\nbinary = \"nowhere/provost\"\n");
    cluster.start();
    let refused = cluster.ctl(&["snippet", "kickstart", "cn001"]).expect(1);
    let place = cluster.path("nowhere/provost").display().to_string();
    refused.says(&[&place, "hint: on the management node: install the static provost there"]);
}

//! Records reach the store once each, whatever the server does, and no script waits for it.

mod backlog;
mod delivery;
mod unrecorded;

use std::time::Duration;

use provost_tests::faults::Faulty;
use provost_tests::{Cluster, Node};

/// The longest that anything here is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Where reports go.
const RECORDS: &str = "/v1/nodes/cn001/records";

/// A node with the scripts `one` and `bad`, whose only server is one that may go wrong.
fn cluster() -> (Cluster, Node, Faulty) {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\necho one\n");
    cluster.script("bad", "#!/bin/sh\n# /// provost\n# on_failure = \"continue\"\n# ///\nexit 3\n");
    plan(&cluster, &["one", "bad", "one two"]);
    // Neither side holds a node that fails here over and over.
    cluster.configure_daemon("[guard]\nmax_attempts = 100\n");
    cluster.start();
    let node = cluster.node("cn001");
    let proxy = Faulty::before(cluster.daemon().nodes());
    configure(&cluster, &node, &[proxy.address()]);
    (cluster, node, proxy)
}

fn plan(cluster: &Cluster, scripts: &[&str]) {
    cluster.site(&format!("[nodes.cn001]\npostscripts = {scripts:?}\n")).publish().expect(0);
}

fn configure(cluster: &Cluster, node: &Node, servers: &[&str]) {
    let servers: Vec<String> = servers.iter().map(|s| format!("http://{s}")).collect();
    node.configure(&format!(
        "servers = {servers:?}\n[trust]\nkeys = [\"{}\"]\n[fetch]\ndeadline = \"2s\"\n\
         stall_timeout = \"1s\"\n[report]\ndeadline = \"2s\"\n[guard]\nmax_attempts = 100\n",
        cluster.key()
    ));
}

/// Asserts that the store has each run of the node's journals whole, and nothing twice.
#[track_caller]
fn all_is_stored(cluster: &Cluster, node: &Node, services: &[&str]) {
    assert_eq!(node.status()["unreported"], 0);
    let shown = cluster.ctl_json(&["show", "cn001", "--runs", "200"]);
    let mut stored: Vec<(String, u64)> = Vec::new();
    for run in shown["runs"].as_array().unwrap() {
        let id = run["run"].as_str().unwrap();
        let records = run["records"].as_array().unwrap();
        stored.extend(records.iter().map(|r| (id.to_owned(), r["seq"].as_u64().unwrap())));
    }
    let journals = services.iter().flat_map(|service| node.journal(service));
    let mut written: Vec<(String, u64)> =
        journals.map(|r| (r["run"].as_str().unwrap().into(), r["seq"].as_u64().unwrap())).collect();
    stored.sort();
    written.sort();
    assert_eq!(stored, written);
}

//! Nodes behind a relay: what they report arrives once, whatever dies on the way, and nobody waits for
//! what is away.

mod away;
mod files;
mod full_disk;
mod kills;
mod tls;
mod tokens;

use std::time::Duration;

use provost_tests::killing::{self, UNGUARDED};
use provost_tests::{Cluster, Daemon, Node, processes};
use serde_json::Value;

/// The longest that something may take which happens by itself.
const SOON: Duration = Duration::from_secs(60);
/// A management node with three short scripts for `cn1` to `cn4`, published and running.
fn cluster() -> Cluster {
    killing::cluster("cn[1-4]", UNGUARDED)
}

/// A relay before the running management node.
fn relay(cluster: &Cluster) -> Daemon {
    Daemon::relay(&cluster.path("relay"), &[&cluster.daemon().nodes()], "")
}

/// The node `name` with these servers, `ADDRESS:PORT` each.
fn node(cluster: &Cluster, name: &str, servers: &[&str]) -> Node {
    let node = cluster.node(name);
    node.configure(&format!(
        "{}[fetch]\ndeadline = \"30s\"\n[report]\ndeadline = \"10s\"\n{UNGUARDED}",
        cluster.settings_for(servers)
    ));
    node
}

/// Boots it, and nothing is left to report.
#[track_caller]
fn boots(node: &Node) {
    let out = node.provost(&["boot"]).expect(0);
    assert!(!out.stderr.contains("not sent yet"), "{}", out.stderr);
}

/// What a relay says of itself.
fn health(relay: &Daemon) -> Value {
    let socket = relay.socket();
    let args =
        ["-sS", "--unix-socket", socket.strip_prefix("unix:").unwrap(), "http://relay/healthz"];
    let out = std::process::Command::new("curl").args(args).output().unwrap();
    serde_json::from_slice(&out.stdout).unwrap()
}

/// Waits until the relay has forwarded everything.
#[track_caller]
fn is_forwarded(relay: &Daemon) {
    let mut last = Value::Null;
    let done = processes::until(SOON, || {
        last = health(relay);
        last["spooled"]["bytes"] == 0
    });
    assert!(done, "{last:#}");
}

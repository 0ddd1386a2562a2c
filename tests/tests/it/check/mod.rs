//! `provost check`: the effective configuration, where each value comes from, and whether it works.

mod hardened;
mod node;
mod servers;

use std::time::Duration;

use provost_tests::{Cluster, Node, Out};
use serde_json::Value;

/// Whatever is dead, a check takes no longer.
const LONGEST: Duration = Duration::from_secs(15);

fn cluster() -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\necho one\n");
    let site = "[nodes.cn001]\npostscripts = [\"one\"]\n[nodes.cn002]\npostscripts = [\"one\"]\n";
    cluster.site(site).publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

fn configure(cluster: &Cluster, node: &Node, servers: &[String]) {
    let key = cluster.key();
    node.configure(&format!("servers = {servers:?}\n[trust]\nkeys = [\"{key}\"]\n"));
}

fn check(node: &Node) -> Out {
    node.provost(&["check", "--format", "json"])
}

/// The findings of `what`, as `RESULT DETAIL HINT`.
fn found(out: &Out, what: &str) -> Vec<String> {
    let document = out.json();
    let checks = document["checks"].as_array().unwrap().clone();
    let text = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    checks
        .iter()
        .filter(|check| check["what"] == what)
        .map(|check| {
            assert_eq!(check["result"] == "ok", check.get("hint").is_none(), "{check}");
            format!("{} {} {}", text(check, "result"), text(check, "detail"), text(check, "hint"))
        })
        .collect()
}

#[track_caller]
fn one(out: &Out, what: &str, parts: &[&str]) {
    let found = found(out, what);
    let fits = |finding: &&String| parts.iter().all(|part| finding.contains(part));
    assert!(found.iter().any(|f| fits(&f)), "no {what} with {parts:?} in {out:#?}");
}

fn value(out: &Out, key: &str) -> (Value, String) {
    let document = out.json();
    let values = document["values"].as_array().unwrap().clone();
    let row = values.iter().find(|row| row["key"] == key).unwrap_or_else(|| panic!("no {key}"));
    (row["value"].clone(), row["from"].as_str().unwrap().to_owned())
}

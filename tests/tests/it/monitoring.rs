//! The metrics, and the samples for Prometheus and Grafana, which are about metrics that there are.

use std::collections::BTreeSet;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::processes::until;
use provost_tests::{Cluster, SOON, missing, skip_if};
use regex::Regex;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn sample(name: &str) -> PathBuf {
    root().join("dist/examples/monitoring").join(name)
}

/// The documented metrics; a test of provostd compares them with what it prints.
fn documented() -> BTreeSet<String> {
    let page = std::fs::read_to_string(root().join("docs/reference/metrics.md")).unwrap();
    let rows = Regex::new(r"(?m)^\| `(provost_\w+)").unwrap();
    rows.captures_iter(&page).map(|row| row[1].to_owned()).collect()
}

/// Fails where an expression is about a metric that there isn't.
#[track_caller]
fn knows(text: &str) {
    let documented = documented();
    let names = Regex::new(r"provost_\w+").unwrap();
    let names: BTreeSet<&str> = names.find_iter(text).map(|name| name.as_str()).collect();
    assert!(names.len() > 5, "{names:?}");
    for name in names {
        let base = ["_bucket", "_count", "_sum"].iter().find_map(|end| name.strip_suffix(end));
        assert!(documented.contains(base.unwrap_or(name)), "{name}");
    }
}

#[test]
fn the_alert_rules_are_valid() {
    let rules = sample("alerts.yml");
    knows(&std::fs::read_to_string(&rules).unwrap());
    skip_if(missing::program("promtool", "prometheus"));
    let checked = Command::new("promtool").args(["check", "rules"]).arg(&rules).output().unwrap();
    let text = [checked.stdout, checked.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(checked.status.success() && text.contains("11 rules found"), "{text}");
}

#[test]
fn the_dashboard_shows_metrics_that_there_are() {
    let text = std::fs::read_to_string(sample("grafana.json")).unwrap();
    knows(&text);
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let ids: BTreeSet<i64> = panels.iter().map(|panel| panel["id"].as_i64().unwrap()).collect();
    assert_eq!((ids.len(), panels.len()), (14, 14));
    for panel in panels {
        assert!(!panel["targets"].as_array().unwrap().is_empty(), "{panel}");
    }
}

/// The value of a series of `provostd`.
fn value(cluster: &Cluster, series: &str) -> Option<f64> {
    let page = cluster.metrics();
    page.lines().find_map(|line| line.strip_prefix(series)?.trim().parse().ok())
}

#[test]
fn open_connections_are_counted_until_they_are_closed() {
    let mut cluster = Cluster::new();
    cluster.start();
    let open = "provost_open_connections{listener=\"nodes\"}";
    assert_eq!(value(&cluster, open), Some(0.0));
    let connect = |_| TcpStream::connect(cluster.daemon().nodes()).unwrap();
    let clients: Vec<TcpStream> = (0..3).map(connect).collect();
    let is = |expected| until(SOON, || value(&cluster, open) == Some(expected));
    assert!(is(3.0), "{:?}", value(&cluster, open));
    drop(clients);
    assert!(is(0.0), "{:?}", value(&cluster, open));
    let accepted = "provost_connections_total{listener=\"nodes\"}";
    assert_eq!(value(&cluster, accepted), Some(3.0));
    // The one that asks.
    let admins = "provost_open_connections{listener=\"admin\"}";
    assert!(value(&cluster, admins) >= Some(1.0));
    assert_eq!(value(&cluster, "provost_store_waiting"), Some(0.0));
}

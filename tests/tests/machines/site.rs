//! A management node with one node, and what it knows of that.

use provost_tests::{Cluster, Postgres};
use serde_json::Value;

use crate::machine::required;

/// A configuration of the daemon: a node without an identity isn't heard.
pub(crate) const IDENTITIES: &str = "[tokens]\nallowed = false\n";

/// A management node whose only node runs `scripts`, the last of them as its postbootscript, and
/// reports by its token.
pub(crate) fn site(scripts: &[(&str, &str)]) -> Cluster {
    site_with(scripts, "")
}

/// The same over TLS alone: a node without an identity isn't heard.
pub(crate) fn site_of_identities(scripts: &[(&str, &str)], database: Option<&Postgres>) -> Cluster {
    let store = database.map(|server| format!("store = {:?}\n", server.database("provost")));
    let more = format!("{}{IDENTITIES}", store.unwrap_or_default());
    let cluster = site_with(scripts, &more);
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    cluster
}

fn site_with(scripts: &[(&str, &str)], more: &str) -> Cluster {
    required();
    started(planned(scripts), more)
}

/// The same, of which nothing is published yet.
pub(crate) fn planned(scripts: &[(&str, &str)]) -> Cluster {
    let cluster = Cluster::new();
    let (last, first) = scripts.split_last().unwrap();
    for (name, text) in scripts {
        cluster.script(name, text);
    }
    let first: Vec<&str> = first.iter().map(|(name, _)| *name).collect();
    cluster.site(&format!(
        "[nodes.cn001]\npostscripts = {first:?}\npostbootscripts = [{:?}]\n",
        last.0
    ));
    cluster
}

/// Publishes what `cluster` has, and starts its daemon with `more` in the configuration.
pub(crate) fn started(mut cluster: Cluster, more: &str) -> Cluster {
    cluster.publish().expect(0);
    let program = crate::image::provost();
    cluster.configure_daemon(&format!("{more}[node]\nbinary = {program:?}\n"));
    cluster.start();
    cluster
}

/// The node, once it has `status`.
#[track_caller]
pub(crate) fn waits_for(cluster: &Cluster, status: &str) -> Value {
    cluster.ctl(&["wait-for", "cn001", "--status", status, "--timeout", "15m"]).expect(0);
    cluster.status("cn001")
}

/// How the stages of `run` ended, `NAME: RESULT` each; the result of what needn't run is `skipped`.
pub(crate) fn ended(run: &Value) -> Vec<String> {
    let ends = run["records"].as_array().unwrap().iter().filter(|r| r["phase"] == "stage end");
    ends.map(|end| {
        let result = if end["skipped"].is_string() { "skipped" } else { text(&end["result"]) };
        format!("{}: {result}", text(&end["stage"]))
    })
    .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

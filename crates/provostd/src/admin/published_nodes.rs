//! Which nodes are in what is published: those that have a plan.

use std::collections::HashSet;
use std::path::Path;

use axum::http::StatusCode;
use tokio::task::spawn_blocking;

use super::request::short;
use crate::listener::refusal::Refusal;
use crate::published::{names_tls, site_nodes};

/// The `nodes`, if all of them are published in `www`, or none is at all.
pub(crate) async fn checked(www: &Path, nodes: Vec<String>) -> Result<Vec<String>, Refusal> {
    let www = www.to_owned();
    let checked = spawn_blocking(move || check(&www, nodes)).await?;
    checked.map_err(|unknown| {
        let hint = "correct the name; or name it in site.toml and publish";
        let error = format!("nothing was done: {} isn't in what is published", short(&unknown));
        Refusal::new(StatusCode::NOT_FOUND, error, hint)
    })
}

/// Refuses what leads to an identity where nodes don't know TLS, over which alone they enrol. Where nothing is
/// published, that isn't known yet.
pub(crate) async fn check_tls(www: &Path) -> Result<(), Refusal> {
    let www = www.to_owned();
    if spawn_blocking(move || names_tls(&www)).await? != Some(false) {
        return Ok(());
    }
    let error = "nodes can't join: what is published names no TLS to them";
    let hint = "name it: provostctl publish … --tls \"$(provostd ca show --tls)\"; or let nodes report by plain \
                HTTP: provostctl token NODES";
    Err(Refusal::new(StatusCode::CONFLICT, error, hint))
}

/// The `nodes`, if all of them are published in `www`, or none is at all; else those that aren't.
pub(crate) fn check(www: &Path, nodes: Vec<String>) -> Result<Vec<String>, Vec<String>> {
    let published: HashSet<String> = site_nodes::published(www).collect();
    let is_unknown = |node: &&String| !published.contains(*node);
    let unknown: Vec<String> = nodes.iter().filter(is_unknown).cloned().collect();
    match published.is_empty() || unknown.is_empty() {
        true => Ok(nodes),
        false => Err(unknown),
    }
}

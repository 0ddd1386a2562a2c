//! Which nodes are in what is published: those that have a plan.

use std::collections::HashSet;
use std::path::Path;

use axum::http::StatusCode;
use tokio::task::spawn_blocking;

use super::request::short;
use crate::listener::refusal::Refusal;
use crate::published::site_nodes;

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

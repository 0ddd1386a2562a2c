//! The nodes of the site: those that the store knows, and those that are published and have never reported.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;

use provost_store::{Node, Status, Store, StoreError};
use tokio::task::spawn_blocking;

use super::PublishedFolder;

/// The nodes of the site.
#[derive(Clone)]
pub(crate) struct SiteNodes {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) www: PublishedFolder,
}

impl SiteNodes {
    /// Those of `names`, or all, by name. One that has never reported is `defined`.
    pub(crate) async fn list(&self, names: Option<Vec<String>>) -> Result<Vec<Node>, StoreError> {
        let known = match &names {
            Some(names) => self.store.nodes_named(names.clone()).await?,
            None => self.store.nodes().await?,
        };
        let www = self.www.clone();
        let all = spawn_blocking(move || with_published(known, names, &www)).await;
        Ok(all.unwrap_or_else(|error| resume_unwind(error.into_panic())))
    }
}

impl SiteNodes {
    /// How many nodes have each status. Of those that have never reported only the names are read.
    pub(crate) async fn statuses(&self) -> Result<BTreeMap<Status, u64>, StoreError> {
        let (mut statuses, known) = (self.store.statuses().await?, self.store.names().await?);
        let www = self.www.clone();
        let new = spawn_blocking(move || {
            published(&www).filter(|name| known.binary_search(name).is_err()).count() as u64
        });
        let new = new.await.unwrap_or_else(|error| resume_unwind(error.into_panic()));
        if new > 0 {
            *statuses.entry(Status::default()).or_default() += new;
        }
        Ok(statuses)
    }
}

/// The nodes `known`, which come by name, and those of `names`, or all, that are published besides.
fn with_published(known: Vec<Node>, names: Option<Vec<String>>, www: &Path) -> Vec<Node> {
    let published: BTreeSet<String> = match names {
        Some(names) => names.into_iter().filter(|name| is_published(www, name)).collect(),
        None => published(www).collect(),
    };
    let is_known = |name: &String| known.binary_search_by(|node| node.name.cmp(name)).is_ok();
    let new: Vec<String> = published.into_iter().filter(|name| !is_known(name)).collect();
    let mut all = known;
    if !new.is_empty() {
        all.extend(new.into_iter().map(|name| Node { name, ..Node::default() }));
        all.sort_by(|a, b| a.name.cmp(&b.name));
    }
    all
}

fn is_published(www: &Path, name: &str) -> bool {
    provost_plan::is_node_name(name) && www.join("plans").join(format!("{name}.toml")).is_file()
}

/// The names of the nodes that are published in `www`: those that have a plan.
pub(crate) fn published(www: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(www.join("plans")).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let names = names.filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned()));
    names.filter(|name| !name.starts_with('.'))
}

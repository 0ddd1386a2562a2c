//! Nodes as they are now, and their runs as stored records and uploaded logs describe them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use provost_record::{Run, Stage, runs};
use provost_store::{
    NewestRuns, Node, RunQuery, Status, Store, StoreError, StoredRun, UploadedLog,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::beats::Beats;
use super::enrolment::Enrolment;
use super::over_quota::OverQuota;
use super::slow::SlowSteps;
use crate::fleet::expiry::Expiry;
use crate::listener::refusal::Refusal;
use crate::published::SiteNodes;

/// How many histories of nodes are read and sent at once: each may be 8 MiB.
const HISTORIES: usize = 16;

/// What is known of nodes: in the store, in what is published, and in memory alone.
pub(crate) struct KnownNodes {
    store: Arc<dyn Store>,
    site: SiteNodes,
    beats: Arc<Beats>,
    over_quota: Arc<OverQuota>,
    enrolment: Arc<Enrolment>,
    expiry: Arc<Expiry>,
    slow: Arc<SlowSteps>,
    histories: Arc<Semaphore>,
}

/// A node's newest runs.
pub(crate) struct History {
    pub(crate) newest: NewestRuns,
    pub(crate) uploaded: BTreeSet<UploadedLog>,
    /// Kept until it is sent.
    pub(crate) place: Option<OwnedSemaphorePermit>,
}

impl KnownNodes {
    pub(crate) fn new(
        site: SiteNodes,
        beats: Arc<Beats>,
        over_quota: Arc<OverQuota>,
        enrolment: Arc<Enrolment>,
        expiry: Arc<Expiry>,
        slow: Arc<SlowSteps>,
    ) -> Self {
        let (store, histories) = (site.store.clone(), Arc::new(Semaphore::new(HISTORIES)));
        Self { store, site, beats, over_quota, enrolment, expiry, slow, histories }
    }

    /// Those of these names; without names, all. Among them are those that nobody has named but themselves.
    pub(crate) async fn list(&self, names: Option<Vec<String>>) -> Result<Vec<Node>, StoreError> {
        let mut others = self.enrolment.unpublished();
        if let Some(names) = &names {
            let names: HashSet<&String> = names.iter().collect();
            others.retain(|name, _| names.contains(name));
        }
        let mut nodes = self.site.list(names).await?;
        // What isn't stored with them.
        self.beats.show(&mut nodes);
        self.slow.show(&mut nodes).await?;
        self.over_quota.show(&mut nodes);
        self.enrolment.show(&mut nodes).await?;
        self.expiry.show(&mut nodes).await?;
        add(&mut nodes, others);
        Ok(nodes)
    }

    /// Which of `names` no node of the site has.
    pub(crate) async fn unknown(&self, names: &[String]) -> Result<Vec<String>, StoreError> {
        let found = self.site.list(Some(names.to_vec())).await?;
        let is_unknown =
            |name: &&String| found.binary_search_by(|node| node.name.cmp(name)).is_err();
        Ok(names.iter().filter(is_unknown).cloned().collect())
    }

    /// How many nodes have each status.
    pub(crate) async fn statuses(&self) -> Result<BTreeMap<Status, u64>, StoreError> {
        self.site.statuses().await
    }

    /// Of how many nodes nothing more is stored.
    pub(crate) fn over_quota(&self) -> usize {
        self.over_quota.count()
    }

    /// How many nodes have a step that takes, or took, much longer than usual.
    pub(crate) async fn slow(&self) -> Result<usize, StoreError> {
        let mut running = self.store.nodes_named(self.beats.names()).await?;
        self.beats.show(&mut running);
        self.slow.show(&mut running).await?;
        running.retain(|node| node.slow.as_ref().is_some_and(|slow| slow.running));
        let ended = self.slow.ended().await?;
        let runs = |name: &String| running.binary_search_by(|node| node.name.cmp(name)).is_ok();
        Ok(running.len() + ended.iter().filter(|(name, _)| !runs(name)).count())
    }

    /// The node of that name.
    pub(crate) async fn node(&self, name: &str) -> Result<Node, Refusal> {
        let node = self.list(Some(vec![name.to_owned()])).await?.pop();
        node.ok_or_else(|| Refusal::unknown_node(name))
    }

    /// Whether anything is stored of the node: one that is published alone has never reported.
    pub(crate) async fn is_stored(&self, name: &str) -> Result<bool, StoreError> {
        Ok(self.store.node(name).await?.is_some())
    }

    /// The newest runs of the node.
    pub(crate) async fn history(&self, name: &str, query: RunQuery) -> Result<History, StoreError> {
        // Fails only where the semaphore is closed, which nothing does.
        let place = Arc::clone(&self.histories).acquire_owned().await.ok();
        let newest = self.store.runs(name, query).await?;
        let uploaded = self.store.logs(name).await?.into_iter().collect();
        Ok(History { newest, uploaded, place })
    }

    /// Forgets nodes. Where one is unknown, none is: returns those. Of one that is published alone there is nothing to
    /// forget.
    pub(crate) async fn remove(
        &self,
        names: &[String],
    ) -> Result<Result<(), Vec<String>>, StoreError> {
        let mut removed = self.store.remove(names.to_vec()).await?;
        if let Err(not_stored) = removed {
            let unknown = self.unknown(&not_stored).await?;
            if !unknown.is_empty() {
                return Ok(Err(unknown));
            }
            let is_stored = |name: &&String| !not_stored.contains(*name);
            let stored: Vec<String> = names.iter().filter(is_stored).cloned().collect();
            removed = match stored.is_empty() {
                true => Ok(()),
                false => self.store.remove(stored).await?,
            };
        }
        if removed.is_ok() {
            self.beats.remove(names);
        }
        Ok(removed)
    }
}

/// Adds `others` to the nodes, which are sorted by name, where these don't have them.
pub(crate) fn add(nodes: &mut Vec<Node>, mut others: BTreeMap<String, Node>) {
    others.retain(|name, _| nodes.binary_search_by(|node| node.name.cmp(name)).is_err());
    if !others.is_empty() {
        nodes.extend(others.into_values());
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
    }
}

/// The runs that have the id of `stored`: of each service one. A stage whose log was uploaded has that
/// log's name.
pub(crate) fn runs_of(stored: &StoredRun, uploaded: &BTreeSet<UploadedLog>) -> Vec<Run> {
    let mut runs = runs(stored.reports.iter().map(|report| &report.record));
    for run in &mut runs {
        for (index, stage) in run.stages.iter_mut().enumerate() {
            let name = Stage::log_name(index, &stage.stage, stage.attempt);
            let log = UploadedLog { run: run.run.clone(), name };
            stage.log = uploaded.contains(&log).then_some(log.name);
        }
    }
    runs
}

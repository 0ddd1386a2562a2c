//! The likeliest reasons of each failure of many nodes, for the page and for receivers: what its nodes share and the
//! others don't.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use provost_plan::nodes::expand;
use provost_store::{
    Factor, Node, SiteFacts, are_comparable, factors_of, failure_groups, failure_id,
};
use tokio::task::spawn_blocking;

use super::SHARE;
use super::snapshot::Snapshot;
use crate::published::PublishedFolder;

/// What takes no longer is done each time: a page is shown with the reasons of what it shows.
const SHORT: Duration = Duration::from_millis(20);

/// How many are kept of a cause: as many as `provostctl why` shows.
const MOST: usize = 8;

/// By the id of the cause, lines for people, the likeliest first; at least one.
pub(crate) type ReasonOfCause = BTreeMap<String, Vec<String>>;

/// The reasons as they were last found.
pub(crate) struct Reasons {
    www: PublishedFolder,
    last: RwLock<Option<Found>>,
}

struct Found {
    reasons: Arc<ReasonOfCause>,
    at: Instant,
    took: Duration,
}

impl Reasons {
    pub(crate) fn new(www: PublishedFolder) -> Self {
        Self { www, last: RwLock::default() }
    }

    /// Those of the nodes of a snapshot. Where finding them takes long, they are older for a while.
    pub(crate) async fn of_snapshot(&self, snapshot: &Arc<Snapshot>) -> Arc<ReasonOfCause> {
        if let Some(fresh) = self.fresh() {
            return fresh;
        }
        let (snapshot, www, begun) = (snapshot.clone(), self.www.clone(), Instant::now());
        let found =
            spawn_blocking(move || find(snapshot.members.iter().map(|member| &member.node), &www));
        self.keep(found.await.unwrap_or_default(), begun)
    }

    /// That of the failure of this node, among all `nodes`; they are asked for only if no reason was found a short time
    /// ago.
    pub(crate) async fn of_failure<E>(
        &self,
        failed: &Node,
        nodes: impl Future<Output = Result<Vec<Node>, E>>,
    ) -> Result<Option<String>, E> {
        let Some(id) = failure_id(failed) else { return Ok(None) };
        let reasons = match self.fresh() {
            Some(fresh) => fresh,
            None => {
                let begun = Instant::now();
                let (nodes, www) = (nodes.await?, self.www.clone());
                let found = spawn_blocking(move || find(nodes.iter(), &www));
                self.keep(found.await.unwrap_or_default(), begun)
            }
        };
        Ok(reasons.get(&id).and_then(|reasons| reasons.first()).cloned())
    }

    /// Those that were found so short a time ago that finding them takes a small share of the time.
    fn fresh(&self) -> Option<Arc<ReasonOfCause>> {
        let last = self.last.read().unwrap_or_else(PoisonError::into_inner);
        let fresh = last
            .as_ref()
            .filter(|found| found.took > SHORT && found.at.elapsed() < found.took * SHARE);
        fresh.map(|found| found.reasons.clone())
    }

    fn keep(&self, reasons: ReasonOfCause, begun: Instant) -> Arc<ReasonOfCause> {
        let (reasons, at, took) = (Arc::new(reasons), Instant::now(), begun.elapsed());
        let found = Found { reasons: reasons.clone(), at, took };
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = Some(found);
        reasons
    }
}

/// The reasons of all failures among `nodes`.
fn find<'n>(nodes: impl Iterator<Item = &'n Node> + Clone, www: &Path) -> ReasonOfCause {
    let failures = failure_groups(nodes.clone());
    if !are_comparable(&failures) {
        return ReasonOfCause::new();
    }
    // Without groups the other factors are still compared.
    let groups = provost_publish::groups(www, None).unwrap_or_default();
    let groups = groups.into_iter().map(|(name, nodes)| (name, expand(&nodes).unwrap_or_default()));
    let site = SiteFacts::new(groups, &provost_publish::publications(www));
    let factors = factors_of(&failures, nodes, &site);
    let shown = |factors: Vec<Factor>| -> Vec<String> {
        factors.iter().take(MOST).map(Factor::to_string).collect()
    };
    let ids = failures.into_iter().map(|failure| failure.id);
    ids.zip(factors.into_iter().map(shown)).filter(|(_, reasons)| !reasons.is_empty()).collect()
}

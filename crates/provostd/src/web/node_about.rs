//! What is known of a node beside its reports: where it belongs, its address, its identity, what it runs.

use std::sync::Arc;

use jiff::Timestamp;
use provost_record::{Outcome, Run, Stage};
use provost_store::{Identity, Node, Store, UploadedLog};
use tokio::task::spawn_blocking;

use super::flame::Flame;
use super::page::encoded;
use super::plan::ShownPlan;
use crate::fleet::Fleet;
use crate::fleet::layout::Layouts;
use crate::fleet::reasons::Reasons;
use crate::listener::refusal::Refusal;
use crate::nodes::addresses::Addresses;
use crate::published::PublishedFolder;
use crate::published::node_plans::{NodePlan, NodePlans};

/// The variable of a plan that has the node's address, as xCAT's have it.
const ADDRESS: &str = "IPADDR";

/// Where that is known.
#[derive(Clone)]
pub(crate) struct NodeSources {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) layouts: Arc<Layouts>,
    pub(crate) plans: Arc<NodePlans>,
    pub(crate) addresses: Arc<Addresses>,
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) reasons: Arc<Reasons>,
    pub(crate) www: PublishedFolder,
}

/// What is known of one node.
pub(super) struct NodeAbout {
    /// Names and values.
    pub(super) rows: Vec<(&'static str, String)>,
    pub(super) plan: Option<ShownPlan>,
}

/// A step, and the address of its log.
pub(super) struct StepLog {
    pub(super) stage: String,
    pub(super) href: String,
}

impl NodeSources {
    /// What is known of the node now.
    pub(super) async fn about(&self, name: &str, now: Timestamp) -> Result<NodeAbout, Refusal> {
        let identity = self.store.identity(name).await?;
        let (sources, node) = (self.clone(), name.to_owned());
        let read = move || {
            let groups = sources.layouts.groups().of(&node).join(", ");
            let rack = sources.layouts.rack(&node).map(|rack| match &rack.row {
                Some(row) => format!("{}, row {row}", rack.name),
                None => rack.name.clone(),
            });
            (groups, rack, sources.plans.read(&node))
        };
        let (groups, rack, plan) = spawn_blocking(read).await?;
        let rows = [
            ("groups", Some(groups).filter(|groups| !groups.is_empty())),
            ("rack", rack),
            ("address", self.address(name, plan.as_ref())),
            ("identity", identity.map(|identity| validity(&identity, now))),
        ];
        let rows = rows.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        Ok(NodeAbout { rows, plan: plan.as_ref().map(ShownPlan::new) })
    }

    /// The address that its plan has, and that from which it reported last.
    fn address(&self, node: &str, plan: Option<&NodePlan>) -> Option<String> {
        let planned = plan.and_then(|of_node| of_node.plan.env.get(ADDRESS).cloned());
        let seen = self.addresses.of(node).map(|address| address.to_string());
        match (planned, seen) {
            (Some(planned), Some(seen)) if planned == seen => Some(seen),
            (Some(planned), Some(seen)) => Some(format!("{planned}; last report from {seen}")),
            (planned, seen) => planned.or(seen),
        }
    }

    /// Where the time went of the step of `run` that failed; else of that which took longest, of those whose
    /// logs were uploaded.
    pub(super) async fn step_time(
        &self,
        node: &str,
        run: &Run,
    ) -> Result<Option<(StepLog, Flame)>, Refusal> {
        let rank = |stage: &&Stage| (stage.result == Some(Outcome::Failure), stage.duration_ms);
        let with_log = run.stages.iter().filter(|stage| stage.log.is_some());
        let Some(stage) = with_log.max_by_key(rank) else { return Ok(None) };
        let name = stage.log.clone().unwrap_or_default();
        let href =
            format!("/nodes/{}/logs/{}/{}", encoded(node), encoded(&run.run), encoded(&name));
        let log = UploadedLog { run: run.run.clone(), name };
        let Some(bytes) = self.store.log(node, &log).await? else { return Ok(None) };
        let flame = spawn_blocking(move || Flame::new(bytes)).await?;
        Ok(flame.map(|flame| (StepLog { stage: stage.stage.clone(), href }, flame)))
    }
}

/// Until when an identity counts.
fn validity(identity: &Identity, now: Timestamp) -> String {
    let Identity { since, until, revoked, .. } = identity;
    match revoked {
        Some(at) => format!("revoked at {at}"),
        None if *until < now => format!("expired at {until}"),
        None => format!("valid until {until}, since {since}"),
    }
}

/// The run that is shown first: the one by which the node's status is what it is.
pub(super) fn current<'r>(runs: &'r [Run], node: &Node) -> Option<&'r Run> {
    runs.iter().find(|run| Some(&run.run) == node.run.as_ref()).or(runs.first())
}

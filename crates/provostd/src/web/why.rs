//! Why a node failed, as `provostctl why NODE` says it: what the nodes of its failure share, and what has changed on
//! it since its last success.

use provost_record::{Run, Stage};
use provost_steplog::wording;
use provost_store::{
    LastSuccess, MAX_RUNS, Node, RunQuery, SinceSuccess, UploadedLog, failure_groups_by, has_failed,
};
use tokio::task::spawn_blocking;

use super::node_about::NodeSources;
use crate::admin::node_changes;
use crate::listener::refusal::Refusal;
use crate::nodes::history::{self, History, KnownNodes};

/// The section of a node's page.
pub(super) struct Why {
    /// How it failed: `failed in disk: exit status 3`.
    pub(super) title: String,
    /// On how many nodes, and their list.
    pub(super) count: usize,
    pub(super) href: String,
    /// What these share and others don't, the likeliest first.
    pub(super) factors: Vec<String>,
    /// How many others there are: `16 others`.
    pub(super) others: String,
    pub(super) changed: Option<ShownChange>,
}

/// What has changed since the last success.
pub(super) struct ShownChange {
    pub(super) stage: String,
    pub(super) succeeded: Option<String>,
    pub(super) is_same: bool,
    pub(super) rows: Vec<(String, String)>,
    /// What to type to see how the outputs differ, where the logs are on the node.
    pub(super) command: Option<String>,
    /// The lines of the diff, each with its tone.
    pub(super) diff: Vec<(&'static str, String)>,
}

/// What it is found in.
pub(super) struct WhySources<'s> {
    pub(super) known: &'s KnownNodes,
    pub(super) sources: &'s NodeSources,
    /// Whether the texts of scripts and the values of plans may be shown.
    pub(super) may_read: bool,
}

impl WhySources<'_> {
    /// Why `node` failed, if it has; `runs` are its newest ones, `more` is whether it has others.
    pub(super) async fn why(
        &self,
        node: &Node,
        runs: &[Run],
        more: bool,
    ) -> Result<Option<Why>, Refusal> {
        if !has_failed(node) {
            return Ok(None);
        }
        let snapshot = self.sources.fleet.look().await?;
        let Some(id) = snapshot.member(&node.name).and_then(|member| member.group.clone()) else {
            return Ok(None);
        };
        let same = snapshot.members.iter().filter(|member| member.group.as_ref() == Some(&id));
        let groups = failure_groups_by(same.map(|member| (&member.node, &*id)));
        let Some(group) = groups.into_iter().next() else { return Ok(None) };
        let is_other = |node: &Node| !has_failed(node) && node.run.is_some();
        let others = snapshot.members.iter().filter(|member| is_other(&member.node)).count();
        let reasons = self.sources.reasons.of_snapshot(&snapshot).await;
        let changed = match self.sources.changed(&node.name, runs, self.may_read).await? {
            // Its last success may be long ago.
            None if more => {
                let query = RunQuery::newest(MAX_RUNS);
                let History { newest, uploaded, place } =
                    self.known.history(&node.name, query).await?;
                let all = newest.runs.iter().flat_map(|run| history::runs_of(run, &uploaded));
                let all: Vec<Run> = all.collect();
                drop(place);
                self.sources.changed(&node.name, &all, self.may_read).await?
            }
            found => found,
        };
        Ok(Some(Why {
            title: group.title(),
            count: group.nodes.len(),
            href: format!("/nodes?cause={}", group.id),
            factors: reasons.get(&group.id).cloned().unwrap_or_default(),
            others: wording::count(others, "other"),
            changed: changed.as_ref().map(ShownChange::new),
        }))
    }
}

impl NodeSources {
    /// What has changed before the newest failure among `runs`. Texts and values are for who `may_read` them.
    async fn changed(
        &self,
        node: &str,
        runs: &[Run],
        may_read: bool,
    ) -> Result<Option<SinceSuccess>, Refusal> {
        let Some(last) = LastSuccess::of(runs) else { return Ok(None) };
        let (then, now) = (self.log(node, last.then).await?, self.log(node, last.now).await?);
        let generations = last.generations();
        let (www, name) = (self.www.clone(), node.to_owned());
        let stage = last.now.1.stage.clone();
        let published = spawn_blocking(move || {
            node_changes::of_node(&www, &name, generations, Some(&stage), may_read)
        });
        let published = published.await?;
        let output = last.first_difference(node, then.as_deref(), now.as_deref());
        Ok(Some(last.compare(published, output)))
    }

    /// The log of a stage, if it was uploaded.
    async fn log(
        &self,
        node: &str,
        (run, stage): (&Run, &Stage),
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let Some(name) = stage.log.clone() else { return Ok(None) };
        Ok(self.store.log(node, &UploadedLog { run: run.run.clone(), name }).await?)
    }
}

impl ShownChange {
    fn new(changed: &SinceSuccess) -> Self {
        let command = changed.output_command().map(str::to_owned);
        let is_shown = |(name, _): &(&str, String)| command.is_none() || *name != "output";
        let ends = changed.ends().into_iter().filter(is_shown);
        let ends = ends.map(|(name, what)| (name.to_owned(), what));
        Self {
            stage: changed.stage().to_owned(),
            succeeded: changed.succeeded().map(|at| format!("{at:.0}")),
            is_same: changed.is_same(),
            rows: changed.rows().into_iter().chain(ends).collect(),
            diff: changed.diff().unwrap_or_default().lines().map(colored).collect(),
            command,
        }
    }
}

/// A line of a diff, with its tone.
fn colored(line: &str) -> (&'static str, String) {
    let tone = match line.as_bytes() {
        [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] | [b'@', ..] => "faint",
        [b'-', ..] => "bad",
        [b'+', ..] => "good",
        _ => "",
    };
    (tone, line.to_owned())
}

//! What runs now for long, and what took longer than usual.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use jiff::Timestamp;
use provost_steplog::terminal::escape_cell;
use provost_steplog::wording;
use provost_store::{InnerStage, Node, words};

use super::page::{encoded, render};
use crate::fleet::snapshot::Snapshot;
use crate::listener::refusal::Refusal;
use crate::nodes::beats::Beats;
use crate::nodes::slow::SlowSteps;

/// How many nodes are shown of each kind.
const MOST: usize = 20;

/// What it is made of.
#[derive(Clone)]
pub(crate) struct RunningNow {
    pub(crate) beats: Arc<Beats>,
    pub(crate) slow: Arc<SlowSteps>,
}

#[derive(Template)]
#[template(path = "running.html")]
struct Content {
    rows: Vec<Row>,
    /// How many nodes aren't shown.
    more: usize,
    /// The nodes whose last end of a step was slow: name, address and how.
    ended: Vec<(String, String, String)>,
    more_ended: usize,
}

/// A node whose step runs for long.
struct Row {
    node: String,
    href: String,
    script: String,
    script_href: String,
    /// The script's own stage, and for how long.
    inner: String,
    elapsed: String,
    usual: String,
    is_slow: bool,
    line: String,
}

impl RunningNow {
    /// The section of the overview. Only nodes that send beats are looked at.
    pub(super) async fn section(
        &self,
        snapshot: &Snapshot,
        now: Timestamp,
    ) -> Result<String, Refusal> {
        let names = self.beats.names();
        let found = names.iter().filter_map(|name| snapshot.member(name));
        let mut nodes: Vec<Node> = found.map(|member| member.node.clone()).collect();
        self.beats.show(&mut nodes);
        nodes.retain(|node| node.running_for.is_some());
        let usual = self.slow.usual(&nodes).await?;
        self.slow.show(&mut nodes).await?;
        let is_slow = |node: &Node| node.slow.as_ref().is_some_and(|slow| slow.running);
        let elapsed = |node: &Node| node.running_for.as_ref().map_or(0, |now| now.elapsed_ms);
        nodes.sort_by(|a, b| {
            let key = |node: &Node| (is_slow(node), elapsed(node));
            key(b).cmp(&key(a)).then_with(|| a.name.cmp(&b.name))
        });
        let ended = self.slow.ended().await?;
        let shown_ended = ended.iter().take(MOST).map(|(node, slow)| {
            (node.clone(), format!("/nodes/{}", encoded(node)), words::slow(slow))
        });
        render(&Content {
            more: nodes.len().saturating_sub(MOST),
            rows: nodes
                .iter()
                .take(MOST)
                .filter_map(|node| Row::of(node, usual.get(&node.name).copied(), now))
                .collect(),
            ended: shown_ended.collect(),
            more_ended: ended.len().saturating_sub(MOST),
        })
    }
}

impl Row {
    fn of(node: &Node, usual: Option<u64>, now: Timestamp) -> Option<Self> {
        let (running, script) = (node.running_for.as_ref()?, node.detail.stage.clone()?);
        let since: Duration = now.duration_since(running.at).try_into().unwrap_or_default();
        let elapsed = Duration::from_millis(running.elapsed_ms) + since;
        let inner = running.inner.as_ref().map(|InnerStage { service, stage, since }| {
            let of_stage: Duration = now.duration_since(*since).try_into().unwrap_or_default();
            // The node's clock may be wrong, and a stage is no older than its step.
            let stage = escape_cell(&format!("{service}: {stage}"));
            format!("{stage} for {}", wording::age(of_stage.min(elapsed)))
        });
        Some(Self {
            href: format!("/nodes/{}", encoded(&node.name)),
            node: node.name.clone(),
            script_href: format!("/scripts/{}", encoded(&script)),
            script,
            inner: inner.unwrap_or_default(),
            elapsed: wording::age(elapsed),
            usual: usual.map(|ms| wording::age(Duration::from_millis(ms))).unwrap_or_default(),
            is_slow: node.slow.as_ref().is_some_and(|slow| slow.running),
            line: running.line.as_deref().map(escape_cell).unwrap_or_default(),
        })
    }
}

//! One script over all nodes: how long it took, why it failed and where, and its text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use askama::Template;
use axum::http::StatusCode;
use provost_steplog::wording;
use provost_store::{FailureGroup, ScriptReport, Step, Store, failure_groups_by, words};
use tokio::task::spawn_blocking;

use super::hint::{Piece, pieces};
use super::histogram::Bars;
use super::numbers::{NameSet, grouped};
use super::page::{Page, encoded, render};
use super::source::{FailedLines, Source, Sources, line_of};
use crate::fleet::Fleet;
use crate::listener::refusal::Refusal;

/// How many causes are shown, those of most nodes first.
const MOST_CAUSES: usize = 20;
/// How many of the slowest nodes are named.
const MOST_SLOWEST: usize = 10;

/// The page.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) name: String,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) sources: Arc<Sources>,
}

#[derive(Template)]
#[template(path = "script.html")]
struct Content<'a> {
    name: &'a str,
    /// How many nodes ran it: the number, and the noun.
    nodes: (String, &'static str),
    failed: u64,
    since: Option<u64>,
    failing_href: String,
    times: [(&'static str, String); 3],
    bars: Option<Bars>,
    causes: Vec<Cause>,
    more_causes: usize,
    slowest: Vec<Slow>,
    source: Option<Arc<Source>>,
    /// The lines that failed, each with its number and on how many nodes.
    lines: Vec<Line<'a>>,
    /// Whether one failed.
    has_failed_line: bool,
}

/// Nodes on which it failed for one reason.
struct Cause {
    href: Option<String>,
    count: usize,
    /// How it ended: `: exit status 32`.
    ending: String,
    message: String,
    command: Option<String>,
    /// Where, in the failure's own words, and its number where that is a line of the script.
    line: Option<String>,
    number: Option<usize>,
    nodes: NameSet,
    since: Option<u64>,
    hint: Option<Vec<Piece>>,
}

struct Slow {
    node: String,
    took: String,
    /// How wide its bar is, in thousandths of the longest time.
    bar: u64,
    has_failed: bool,
}

struct Line<'a> {
    number: usize,
    text: &'a str,
    /// On how many nodes it failed.
    failed: usize,
}

impl Page for Script {
    fn title(&self) -> String {
        self.name.clone()
    }

    fn section(&self) -> &'static str {
        "scripts"
    }

    async fn content(&self) -> Result<String, Refusal> {
        let name = &self.name;
        let report = self.store.script(name).await?;
        let (sources, script) = (Arc::clone(&self.sources), name.clone());
        let source = spawn_blocking(move || sources.source(&script)).await?;
        if report.nodes == 0 && source.is_none() {
            let error = format!("no node has run the script {name:?}, and it isn't published");
            let hint = "list what nodes have run: /scripts";
            return Err(Refusal::new(StatusCode::NOT_FOUND, error, hint));
        }
        let groups = self.groups().await?;
        let causes = causes(name, &groups, &report);
        let mut failed_lines = FailedLines::new();
        for cause in &causes {
            let Some(number) = cause.number else { continue };
            *failed_lines.entry(number).or_default() += cause.count;
        }
        let text = source.as_deref().map(|source| &source.lines[..]).unwrap_or_default();
        let line = |(number, text)| Line {
            number,
            text,
            failed: failed_lines.get(&number).copied().unwrap_or_default(),
        };
        let lines: Vec<Line<'_>> = (1..).zip(text.iter().map(String::as_str)).map(line).collect();
        let ScriptReport {
            nodes, failed, p50, p95, max, slowest, failing_since, histogram, ..
        } = report;
        render(&Content {
            name,
            nodes: (grouped(nodes as usize), if nodes == 1 { "node" } else { "nodes" }),
            failed,
            since: failing_since,
            failing_href: format!("/nodes?failed=true&stage={}", encoded(name)),
            times: [("half within", p50), ("95 % within", p95), ("longest", max)]
                .map(|(word, ms)| (word, wording::milliseconds(ms))),
            bars: Bars::of(&histogram, max),
            more_causes: causes.len().saturating_sub(MOST_CAUSES),
            causes: causes.into_iter().take(MOST_CAUSES).collect(),
            slowest: slowest.iter().take(MOST_SLOWEST).map(|step| Slow::of(step, max)).collect(),
            has_failed_line: lines.iter().any(|line| line.failed > 0),
            lines,
            source: source.clone(),
        })
    }
}

impl Script {
    /// The failures of nodes that failed in it.
    async fn groups(&self) -> Result<Vec<FailureGroup>, Refusal> {
        let snapshot = self.fleet.look().await?;
        let is_here =
            |stage: &Option<String>| stage.as_deref().is_some_and(|stage| stage == self.name);
        let members = snapshot.members.iter().filter(|member| is_here(&member.node.detail.stage));
        Ok(failure_groups_by(
            members.filter_map(|member| Some((&member.node, member.group.as_deref()?))),
        ))
    }
}

/// Why it failed: by the nodes' own failures, and where a node has gone on since, by the step alone.
fn causes(script: &str, groups: &[FailureGroup], report: &ScriptReport) -> Vec<Cause> {
    let since: BTreeMap<&str, u64> = report
        .failures
        .iter()
        .filter(|step| step.since > 0)
        .map(|step| (step.node.as_str(), step.since))
        .collect();
    let first = |nodes: &[String]| nodes.iter().filter_map(|node| since.get(node.as_str())).min();
    let names: BTreeSet<&String> = groups.iter().flat_map(|group| &group.nodes).collect();
    let mut causes: Vec<Cause> = groups
        .iter()
        .map(|group| {
            let detail = &group.detail;
            let nodes: Vec<&str> = group.nodes.iter().map(String::as_str).collect();
            let number = detail.error_line.as_deref().and_then(|line| line_of(script, line));
            Cause {
                href: Some(format!("/nodes?cause={}", group.id)),
                count: group.nodes.len(),
                ending: words::ending(detail).map(after_colon).unwrap_or_default(),
                message: group.message(),
                command: detail.command.clone(),
                line: detail.error_line.clone().filter(|_| number.is_none()),
                number,
                nodes: NameSet::of(&group.nodes, Some(&group.id)),
                since: first(&group.nodes).copied(),
                hint: detail.hint.as_ref().map(|hint| pieces(&words::hint_of(hint, &nodes))),
            }
        })
        .collect();
    let mut others = BTreeMap::<String, Vec<String>>::new();
    for step in report.failures.iter().filter(|step| !names.contains(&step.node)) {
        let cause = step.cause.map(|cause| after_colon(cause.words())).unwrap_or_default();
        others.entry(cause).or_default().push(step.node.clone());
    }
    causes.extend(others.into_iter().map(|(ending, nodes)| Cause {
        href: None,
        count: nodes.len(),
        ending,
        message: String::new(),
        command: None,
        line: None,
        number: None,
        since: first(&nodes).copied(),
        nodes: NameSet::of(&nodes, None),
        hint: None,
    }));
    causes
}

fn after_colon(text: impl std::fmt::Display) -> String {
    format!(": {text}")
}

impl Slow {
    fn of(step: &Step, longest: u64) -> Self {
        Self {
            node: step.node.clone(),
            took: wording::milliseconds(step.ms),
            bar: step.ms.saturating_mul(1000) / longest.max(1),
            has_failed: step.cause.is_some(),
        }
    }
}

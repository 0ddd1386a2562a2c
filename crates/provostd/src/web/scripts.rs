//! The scripts that nodes have run, and one script over all nodes.

use std::sync::Arc;

use askama::Template;
use axum::http::StatusCode;
use provost_steplog::wording;
use provost_store::{ScriptReport, ScriptSummary, Step, Store};

use super::page::{Page, encoded, render};
use crate::listener::refusal::Refusal;

/// How many scripts are listed: a node can report any name.
const MOST: usize = 500;

/// All scripts.
#[derive(Clone)]
pub(crate) struct Scripts {
    pub(crate) store: Arc<dyn Store>,
}

/// One script.
#[derive(Clone)]
pub(super) struct Script {
    pub(super) name: String,
    pub(super) store: Arc<dyn Store>,
}

#[derive(Template)]
#[template(path = "scripts.html")]
struct List {
    scripts: Vec<Listed>,
    more: usize,
}

struct Listed {
    name: String,
    href: String,
    nodes: u64,
    failed: u64,
}

#[derive(Template)]
#[template(path = "script.html")]
struct Content<'a> {
    name: &'a str,
    nodes: String,
    failed: u64,
    since: Option<u64>,
    failing_href: String,
    times: [(&'static str, String); 3],
    failures: Vec<Row>,
    slowest: Vec<Row>,
}

struct Row {
    node: String,
    took: String,
    /// How wide its bar is, in thousandths of the longest time.
    bar: u64,
    cause: String,
    since: String,
}

impl Page for Scripts {
    fn title(&self) -> String {
        "Scripts".to_owned()
    }

    fn section(&self) -> &'static str {
        "scripts"
    }

    async fn content(&self) -> Result<String, Refusal> {
        let all = self.store.scripts().await?;
        let more = all.len().saturating_sub(MOST);
        let listed = |script: ScriptSummary| Listed {
            href: format!("/scripts/{}", encoded(&script.name)),
            name: script.name,
            nodes: script.nodes,
            failed: script.failed,
        };
        render(&List { scripts: all.into_iter().take(MOST).map(listed).collect(), more })
    }
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
        if report.nodes == 0 {
            let error = format!("no node has run the script {name:?}");
            let hint = "list what nodes have run: /scripts";
            return Err(Refusal::new(StatusCode::NOT_FOUND, error, hint));
        }
        let ScriptReport { nodes, failed, p50, p95, max, slowest, failures, failing_since } =
            report;
        let rows = |steps: Vec<Step>| steps.iter().map(|step| Row::of(step, max)).collect();
        render(&Content {
            name,
            nodes: wording::count(nodes, "node"),
            failed,
            since: failing_since,
            failing_href: format!("/nodes?failed=true&stage={}", encoded(name)),
            times: [("half within", p50), ("95 % within", p95), ("longest", max)]
                .map(|(word, ms)| (word, wording::milliseconds(ms))),
            failures: rows(failures),
            slowest: rows(slowest),
        })
    }
}

impl Row {
    fn of(step: &Step, longest: u64) -> Self {
        Self {
            node: step.node.clone(),
            took: wording::milliseconds(step.ms),
            bar: step.ms.saturating_mul(1000) / longest.max(1),
            cause: step.cause.map(|cause| cause.words().to_owned()).unwrap_or_default(),
            since: if step.since > 0 { step.since.to_string() } else { String::new() },
        }
    }
}

//! The log of a step that was uploaded: its commands, and what each printed.

use std::sync::Arc;

use askama::Template;
use axum::http::StatusCode;
use provost_steplog::view::Part;
use provost_store::{Store, UploadedLog};
use serde::Deserialize;
use tokio::task::spawn_blocking;

use super::flame::Flame;
use super::log_text;
use super::log_text::LogLine;
use super::page::{Page, encoded, render};
use crate::fleet::snapshot::Snapshot;
use crate::listener::refusal::Refusal;

/// How many lines are shown from the start of a long log …
const FIRST: usize = 1_000;
/// … and from its end.
const LAST: usize = 4_000;

/// What of the log is shown, as the address says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LogPart {
    #[default]
    All,
    Output,
    Commands,
    /// Where the time went.
    Time,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LogQuery {
    pub(super) part: LogPart,
}

/// The page.
#[derive(Clone)]
pub(super) struct LogPage {
    pub(super) node: String,
    pub(super) log: UploadedLog,
    pub(super) part: LogPart,
    pub(super) store: Arc<dyn Store>,
}

#[derive(Template)]
#[template(path = "log.html")]
struct Content<'a> {
    node: &'a str,
    name: &'a str,
    run: &'a str,
    parts: Vec<(&'static str, &'static str, bool)>,
    whole: String,
    /// Where the time went, if that is asked for.
    flame: Option<Flame>,
    lines: Vec<LogLine>,
    /// What is shown where there is neither.
    nothing: &'static str,
}

impl Page for LogPage {
    fn title(&self) -> String {
        format!("{} on {}", self.log.name, self.node)
    }

    fn section(&self) -> &'static str {
        "nodes"
    }

    fn stamp(&self, _snapshot: &Snapshot) -> u64 {
        // It is written once.
        0
    }

    async fn content(&self) -> Result<String, Refusal> {
        let (node, log) = (&self.node, &self.log);
        // A name that can't be a file's is that of no log.
        let known = self.store.logs(node).await?.contains(log);
        let bytes = if known { self.store.log(node, log).await? } else { None };
        let bytes = bytes.ok_or_else(|| {
            let error =
                format!("node {node} has uploaded no log {:?} of run {}", log.name, log.run);
            let hint = format!("read it on the node: ssh {node} provost log");
            Refusal::new(StatusCode::NOT_FOUND, error, hint)
        })?;
        let part = self.part;
        let (flame, lines) = spawn_blocking(move || match part {
            LogPart::All => (None, log_text::lines(bytes, Part::All, FIRST, LAST)),
            LogPart::Output => (None, log_text::lines(bytes, Part::Output, FIRST, LAST)),
            LogPart::Commands => (None, log_text::lines(bytes, Part::Commands, FIRST, LAST)),
            LogPart::Time => (Flame::new(bytes), Vec::new()),
        })
        .await?;
        render(&Content {
            node,
            name: &log.name,
            run: &log.run,
            parts: [
                ("all", "Commands and output", LogPart::All),
                ("output", "Output", LogPart::Output),
                ("commands", "Table of commands", LogPart::Commands),
                ("time", "Where the time went", LogPart::Time),
            ]
            .map(|(word, title, of)| (word, title, of == part))
            .to_vec(),
            whole: format!("/v1/runs/{}/logs/{}", encoded(&log.run), encoded(&log.name)),
            flame,
            lines,
            nothing: match part {
                LogPart::Time => "It ran no command.",
                _ => "Nothing was printed.",
            },
        })
    }
}

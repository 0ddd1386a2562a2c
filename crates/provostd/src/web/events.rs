//! What nodes have reported of late.

use askama::Template;
use jiff::Timestamp;
use provost_record::{Outcome, Phase, Record, wording};
use provost_store::{Claim, ClaimContent, words};

use super::page::{Page, render};
use super::recent::RecentEvent;
use super::snapshot::Snapshot;
use crate::app::App;
use crate::refusal::Refusal;

/// The page.
#[derive(Clone, Copy)]
pub(super) struct Events;

#[derive(Template)]
#[template(path = "events.html")]
struct Content {
    rows: Vec<Row>,
}

struct Row {
    /// When it came, by the server's clock.
    at: String,
    ago: String,
    node: String,
    what: String,
    tone: &'static str,
    message: String,
}

impl Page for Events {
    fn title(&self) -> String {
        "Events".to_owned()
    }

    fn section(&self) -> &'static str {
        "events"
    }

    fn stamp(&self, _app: &App, snapshot: &Snapshot) -> u64 {
        // Each event changes a node.
        snapshot.version
    }

    async fn content(&self, app: &App) -> Result<String, Refusal> {
        let now = Timestamp::now();
        let rows = app.recent.events().into_iter().filter_map(|(at, event)| {
            let row = Row::of(&event)?;
            Some(Row { at: format!("{at:.0}"), ago: words::ago(at, now), ..row })
        });
        render(&Content { rows: rows.collect() })
    }
}

impl Row {
    fn of(event: &RecentEvent) -> Option<Self> {
        let row = |node: &str, what: String, tone, message: Option<&str>| Self {
            at: String::new(),
            ago: String::new(),
            node: node.to_owned(),
            what,
            tone,
            message: message.unwrap_or_default().to_owned(),
        };
        Some(match event {
            RecentEvent::Record(json) => {
                let record: Record = serde_json::from_str(json.get()).ok()?;
                let (what, tone) = words(&record);
                let message = record.error_message.as_deref().and_then(|m| m.lines().last());
                row(&record.node, what, tone, message)
            }
            RecentEvent::Lost(lost) => {
                let stage = lost.stage.as_deref().unwrap_or("no stage");
                row(&lost.node, format!("lost in {stage}"), "bad", None)
            }
            RecentEvent::Claim(claim) => {
                row(&claim.node, format!("claims {}", claimed(claim)), "faint", None)
            }
        })
    }
}

/// `boot: mount_scratch failed: exit status 32`.
fn words(record: &Record) -> (String, &'static str) {
    let service = &record.service;
    let what = match &record.stage {
        Some(stage) => format!("{service}: {stage}"),
        None => service.clone(),
    };
    let took = record.duration_ms.map(|ms| format!(" after {}", wording::milliseconds(ms)));
    let took = took.unwrap_or_default();
    match (record.phase, record.result) {
        (Phase::ServiceStart | Phase::StageStart, _) => (format!("{what} began"), "busy"),
        (Phase::StageEnd, Some(Outcome::Success)) if record.skipped.is_some() => {
            (format!("{what} skipped"), "faint")
        }
        (_, Some(Outcome::Success)) => (format!("{what} succeeded{took}"), "good"),
        (_, Some(Outcome::Failure)) => {
            let signal = record.signal.as_deref();
            let how = wording::outcome(record.cause, record.exit_code, signal);
            (format!("{what} failed: {how}{took}"), "bad")
        }
        (_, None) => (what, "faint"),
    }
}

fn claimed(claim: &Claim) -> String {
    match &claim.content {
        ClaimContent::Status { status, .. } => status.as_str().to_owned(),
        ClaimContent::Program { program, appstatus } => format!("{program} {appstatus}"),
    }
}

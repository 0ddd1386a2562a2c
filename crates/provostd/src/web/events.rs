//! What nodes have reported of late.

use std::sync::Arc;

use askama::Template;
use jiff::Timestamp;
use provost_record::{Outcome, Phase, Record};
use provost_steplog::wording;
use provost_store::{Claim, ClaimContent, Lost, words};
use serde_json::value::RawValue;

use super::page::{Page, render};
use crate::fleet::recent::{EVENTS, Recent, RecentEvent};
use crate::fleet::snapshot::Snapshot;
use crate::listener::refusal::Refusal;

/// The page.
#[derive(Clone)]
pub(crate) struct Events {
    pub(crate) recent: Arc<Recent>,
}

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

    fn stamp(&self, snapshot: &Snapshot) -> u64 {
        // Each event changes a node.
        snapshot.version
    }

    async fn content(&self) -> Result<String, Refusal> {
        let (now, mut rows) = (Timestamp::now(), Vec::new());
        for (at, event) in self.recent.events() {
            let at_once = match event {
                RecentEvent::Records(arrivals) => {
                    let texts = arrivals.texts().await?;
                    texts.iter().rev().filter_map(|json| Row::of_record(json)).collect()
                }
                RecentEvent::Lost(lost) => vec![Row::of_lost(&lost)],
                RecentEvent::Claim(claim) => vec![Row::of_claim(&claim)],
            };
            let (at, ago) = (format!("{at:.0}"), words::ago(at, now));
            rows.extend(at_once.into_iter().map(|row| Row {
                at: at.clone(),
                ago: ago.clone(),
                ..row
            }));
            if rows.len() >= EVENTS as usize {
                break;
            }
        }
        rows.truncate(EVENTS as usize);
        render(&Content { rows })
    }
}

impl Row {
    fn new(node: &str, what: String, tone: &'static str) -> Self {
        let (at, ago, message) = Default::default();
        Self { at, ago, node: node.to_owned(), what, tone, message }
    }

    fn of_record(json: &RawValue) -> Option<Self> {
        let record: Record = serde_json::from_str(json.get()).ok()?;
        let (what, tone) = words(&record);
        let message = record.error_message.as_deref().and_then(|m| m.lines().last());
        let message = message.unwrap_or_default().to_owned();
        Some(Self { message, ..Self::new(&record.node, what, tone) })
    }

    fn of_lost(lost: &Lost) -> Self {
        let stage = lost.stage.as_deref().unwrap_or("no stage");
        Self::new(&lost.node, format!("lost in {stage}"), "bad")
    }

    fn of_claim(claim: &Claim) -> Self {
        Self::new(&claim.node, format!("claims {}", claimed(claim)), "faint")
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
            let (cause, code) = (record.cause, record.exit_code);
            let signal = record.signal.as_deref();
            // A run has failed because a step has: the step's own row says how.
            let how = if cause.is_none() && code.is_none() && signal.is_none() {
                String::new()
            } else {
                format!(": {}", wording::outcome(cause, code, signal))
            };
            (format!("{what} failed{how}{took}"), "bad")
        }
        (_, Some(Outcome::Other(word))) => (format!("{what}: {}", word.as_str()), "faint"),
        (_, None) => (what, "faint"),
    }
}

fn claimed(claim: &Claim) -> String {
    match &claim.content {
        ClaimContent::Status { status, .. } => status.as_str().to_owned(),
        ClaimContent::Program { program, appstatus } => format!("{program} {appstatus}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_run_is_failed_once_and_a_failed_step_says_how() {
        let mut record = Record::new(Phase::ServiceEnd);
        record.service = "boot".to_owned();
        record.result = Some(Outcome::Failure);
        record.duration_ms = Some(1000);
        assert_eq!(words(&record).0, "boot failed after 1.0 s");
        record.stage = Some("otherpkgs".to_owned());
        record.exit_code = Some(100);
        assert_eq!(words(&record).0, "boot: otherpkgs failed: exit status 100 after 1.0 s");
    }
}

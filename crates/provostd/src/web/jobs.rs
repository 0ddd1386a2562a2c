//! What admins did to nodes on the page, the newest first.

use std::sync::Arc;

use askama::Template;
use jiff::Timestamp;
use provost_plan::nodes::expand;
use provost_store::{JobState, JobSummary, Store, words};

use super::job::title;
use super::page::{Page, render};
use crate::listener::refusal::Refusal;

/// How many are shown.
const MOST: usize = 100;

/// The page.
#[derive(Clone)]
pub(crate) struct JobList {
    pub(crate) store: Arc<dyn Store>,
}

#[derive(Template)]
#[template(path = "jobs.html")]
struct Content {
    rows: Vec<Row>,
}

struct Row {
    id: String,
    title: String,
    who: String,
    at: String,
    ago: String,
    result: String,
    tone: &'static str,
}

impl Page for JobList {
    fn title(&self) -> String {
        "Actions".to_owned()
    }

    fn section(&self) -> &'static str {
        "events"
    }

    async fn content(&self) -> Result<String, Refusal> {
        let (jobs, now) = (self.store.newest_jobs(MOST).await?, Timestamp::now());
        render(&Content { rows: jobs.into_iter().map(|job| Row::of(job, now)).collect() })
    }
}

impl Row {
    fn of(JobSummary { job, state, ended, failed }: JobSummary, now: Timestamp) -> Self {
        // What was stored was folded by us.
        let nodes = expand(&job.nodes).unwrap_or_default();
        let (done, all) = (ended.saturating_sub(failed), nodes.len());
        let word = if job.typed.is_empty() { "done" } else { "sent" };
        let failures = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        let (end, tone) = match state {
            JobState::Running => (", running", "busy"),
            JobState::Interrupted(_) => (", interrupted", "bad"),
            JobState::Done(_) if failed > 0 => ("", "bad"),
            JobState::Done(_) => ("", "good"),
        };
        Self {
            title: title(&job.action, job.script.as_deref(), &nodes),
            id: job.id,
            who: job.who,
            at: job.began.to_string(),
            ago: words::ago(job.began, now),
            result: format!("{done} of {all} {word}{failures}{end}"),
            tone,
        }
    }
}

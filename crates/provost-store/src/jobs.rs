//! What admins have provostd do to many nodes: who, what, and how it goes for each node, so that every daemon that
//! shares the store can show it, also after the one that does it is gone.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Answer;

/// What an admin has asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// A UUID of version 7.
    #[serde(skip)]
    pub id: String,
    /// When it began.
    #[serde(skip)]
    pub began: Timestamp,
    /// The admin.
    pub who: String,
    /// The command of `provostctl` that does the same.
    pub action: String,
    /// The script of a rerun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// The nodes, as a folded set.
    pub nodes: String,
    /// What is typed on which of them; nothing where provostd does it itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub typed: BTreeMap<String, String>,
    /// Its entry in the log of changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<i64>,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// A daemon does it.
    Running,
    /// It is done for all nodes, well or not.
    Done(Timestamp),
    /// The daemon that did it has stopped; when another one saw that.
    Interrupted(Timestamp),
}

/// A job as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredJob {
    /// What was asked for.
    pub job: Job,
    /// How far it is.
    pub state: JobState,
    /// The nodes for which it is done, each with why that failed, if it did.
    pub results: BTreeMap<String, Option<String>>,
}

/// A job, and how many nodes it is done for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSummary {
    /// What was asked for.
    pub job: Job,
    /// How far it is.
    pub state: JobState,
    /// For how many nodes it is done, well or not.
    pub ended: u64,
    /// For how many of these it failed.
    pub failed: u64,
}

/// Something has changed of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobNews {
    /// Its id.
    pub job: String,
    /// A node of it.
    pub node: String,
}

/// The jobs. They are kept for as long as the retention keeps runs.
pub trait JobStore {
    /// Keeps one that begins.
    fn begin_job(&self, job: Job) -> Answer<'_, ()>;

    /// Notes that it is done for `nodes`, each with why that failed, if it did.
    fn note_job(&self, id: String, nodes: Vec<(String, Option<String>)>) -> Answer<'_, ()>;

    /// Says that this daemon still does these.
    fn beat_jobs(&self, ids: Vec<String>) -> Answer<'_, ()>;

    /// Notes that it is done, at the server's time `at`.
    fn end_job(&self, id: String, at: Timestamp) -> Answer<'_, ()>;

    /// The jobs that run, each with how often its daemon has said so.
    fn running_jobs(&self) -> Answer<'_, Vec<(String, u64)>>;

    /// Notes at the server's time `at` that a job's daemon is gone, unless it has said since `beat` that it does it.
    /// Returns whether it is interrupted now and wasn't before.
    fn interrupt_job(&self, id: String, beat: u64, at: Timestamp) -> Answer<'_, bool>;

    /// A job with its results.
    fn job<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredJob>>;

    /// The newest jobs, at most `most`, the newest first.
    fn newest_jobs(&self, most: usize) -> Answer<'_, Vec<JobSummary>>;

    /// Whether other daemons may do jobs of this store.
    fn is_shared(&self) -> bool;
}

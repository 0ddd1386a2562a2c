use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use provost_api::LogKind;
use provost_record::Record;
use serde_json::value::RawValue;
use tokio::sync::broadcast;

use crate::{
    Accounts, Answer, Enrolment, Event, HistoryStore, JobStore, Node, NodeStates, Notice, Notices,
    PruneScope, Pruned, Retention, RunQuery, ScriptReport, ScriptSummary, Standing, Status,
    StepTimes, Tokens,
};

/// The longest record that is accepted, in bytes. The longest part of a record is the list of
/// processes that a script has left behind.
pub const MAX_RECORD: usize = 256 * 1024;

/// The largest seq of a record.
pub const MAX_SEQ: u64 = (1 << 24) - 1;

/// How much the records of a node's history may have, in bytes.
pub(crate) const MAX_HISTORY: usize = 8 * 1024 * 1024;

/// When a part of a run's records is long enough, in bytes.
pub(crate) const MAX_PART: usize = 1024 * 1024;

/// A record, and its text as the node sent it: unknown keys are kept.
#[derive(Clone, Debug)]
pub struct Report {
    /// The record.
    pub record: Record,
    /// Its text, on one line.
    pub json: Box<RawValue>,
    /// How it was sent, of the last one of a batch.
    pub sent: Option<Sent>,
}

/// How a batch was sent.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// The version of the program that sent it, if it says so.
    pub program: Option<Arc<str>>,
    /// Whether it came by plain HTTP, with a token that others can read there.
    pub plain_http: bool,
}

impl Report {
    /// Reads one record.
    pub fn parse(json: &RawValue) -> serde_json::Result<Self> {
        let record = serde_json::from_str(json.get())?;
        // JSON allows line breaks between tokens only, where a blank means the same.
        let json = match json.get().contains(['\n', '\r']) {
            true => RawValue::from_string(json.get().replace(['\n', '\r'], " "))?,
            false => json.to_owned(),
        };
        Ok(Self { record, json, sent: None })
    }
}

/// The result of storing a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ingested {
    /// Records that were new.
    pub fresh: usize,
    /// Records that were there already.
    pub repeats: usize,
    /// The node's attempts now, without the run of the batch's last record.
    pub standing: Standing,
    /// When the node counts as lost if it reports nothing.
    pub due: Option<Timestamp>,
    /// What its new records tell of the node.
    pub notices: Vec<Notice>,
}

/// Who watches for nodes that are silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// This daemon.
    Here {
        /// Whether nobody watched until now, so that no daemon may have received reports.
        was_unwatched: bool,
        /// When to ask again; not at all, if nobody else can watch.
        again: Option<Duration>,
    },
    /// Another daemon.
    Elsewhere {
        /// When to ask again.
        again: Duration,
    },
}

/// Whether `name` is one element of a path. A node or a log with another name has no log.
pub(crate) fn is_file_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let only = (parts.next(), parts.next());
    matches!(only, (Some(Component::Normal(only)), None) if only == name)
}

/// One run of a node, with its records in the order of their seq.
#[derive(Clone, Debug)]
pub struct StoredRun {
    /// The node that ran it.
    pub node: String,
    /// The run's id.
    pub run: String,
    /// Its records.
    pub reports: Vec<Report>,
    /// Whether these are its first records and the last one alone.
    pub is_brief: bool,
}

/// A node's runs, as they were asked for.
#[derive(Clone, Debug, Default)]
pub struct NewestRuns {
    /// The one whose first record arrived last first.
    pub runs: Vec<StoredRun>,
    /// Whether there are older ones.
    pub more: bool,
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl NewestRuns {
    /// Adds the next run, the first in any case. Returns whether there was room for it, and makes `room` so
    /// much smaller.
    pub(crate) fn add(&mut self, run: StoredRun, room: &mut usize) -> bool {
        let bytes: usize = run.reports.iter().map(|report| report.json.get().len()).sum();
        if bytes > *room && !self.runs.is_empty() {
            self.more = true;
            return false;
        }
        *room = room.saturating_sub(bytes);
        self.runs.push(run);
        true
    }
}

/// A log that a node has uploaded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UploadedLog {
    /// The run it belongs to.
    pub run: String,
    /// `NN-SCRIPT`.
    pub name: String,
}

/// Where the management node keeps what it knows. A change that returned `Ok` is durable.
pub trait Store:
    Accounts
    + Enrolment
    + HistoryStore
    + JobStore
    + NodeStates
    + Notices
    + StepTimes
    + Tokens
    + Send
    + Sync
    + 'static
{
    /// Stores a batch of one node's records, all or none. A record whose (node, run, seq) is stored
    /// already is dropped; the others update the node's status. `at` is the server's time.
    fn ingest<'a>(
        &'a self,
        node: &'a str,
        batch: Vec<Report>,
        at: Timestamp,
    ) -> Answer<'a, Ingested>;

    /// Every record that is newly stored, every node that is lost and every claim that is accepted,
    /// from now on, in order.
    fn events(&self) -> broadcast::Receiver<Event>;

    /// All nodes, by name.
    fn nodes(&self) -> Answer<'_, Vec<Node>>;

    /// How many nodes have each status; none where there is none.
    fn statuses(&self) -> Answer<'_, BTreeMap<Status, u64>>;

    /// Those of `names` that are known, by name.
    fn nodes_named(&self, names: Vec<String>) -> Answer<'_, Vec<Node>>;

    /// A node's newest runs; fewer where their records have more than 8 MiB. Of one run with more, the
    /// first records and the last one.
    fn runs<'a>(&'a self, node: &'a str, query: RunQuery) -> Answer<'a, NewestRuns>;

    /// The records of a run after the seq `after`, with their seqs, about 1 MiB at most. If two nodes use the same
    /// id, it is the first one's.
    fn records<'a>(&'a self, run: &'a str, after: u64) -> Answer<'a, Vec<(u64, Box<RawValue>)>>;

    /// Stores a log, whole or not at all, in place of an earlier one of the same name. Returns what it took the room
    /// of: where the node would be over its quota, its logs of successful steps go first, the oldest before others.
    fn put_log<'a>(
        &'a self,
        node: &'a str,
        log: UploadedLog,
        kind: LogKind,
        bytes: Vec<u8>,
    ) -> Answer<'a, Pruned>;

    /// The logs that a node has uploaded.
    fn logs<'a>(&'a self, node: &'a str) -> Answer<'a, Vec<UploadedLog>>;

    /// A log of a node.
    fn log<'a>(&'a self, node: &'a str, log: &'a UploadedLog) -> Answer<'a, Option<Vec<u8>>>;

    /// Whether this daemon watches for nodes that are silent: of many daemons one does.
    fn watch(&self) -> Answer<'_, Watch>;

    /// How many daemons have this store, as [`watch`](Self::watch) last saw.
    fn daemons(&self) -> u32;

    /// Removes nodes and all that is known of them: status, runs, logs, token, identity; all or none:
    /// `Err` has the unknown ones. A full disk takes it, if it has a [reserve](crate::Quotas::reserve).
    fn remove(&self, nodes: Vec<String>) -> Answer<'_, Result<(), Vec<String>>>;

    /// What [`prune`](Self::prune) would remove in all, at the server's time `at`.
    fn prunable(&self, keep: Retention, at: Timestamp) -> Answer<'_, Pruned>;

    /// Removes some of the history that is kept no longer at the server's time `at`, in bites that
    /// hold no report up; nothing, if `look` finds no more. What is removed is free for the nodes' quotas. A full disk
    /// takes it, if it has a [reserve](crate::Quotas::reserve).
    fn prune(&self, keep: Retention, look: PruneScope, at: Timestamp) -> Answer<'_, Pruned>;

    /// The scripts that nodes have run, by name.
    fn scripts(&self) -> Answer<'_, Vec<ScriptSummary>>;

    /// How a script ended last on each node that has run it.
    fn script<'a>(&'a self, script: &'a str) -> Answer<'a, ScriptReport>;

    /// The certificate, in DER, by which the database's server has proved itself last.
    fn server_certificate(&self) -> Option<Vec<u8>> {
        None
    }

    /// Checks that the store can be read, is whole and can be written.
    fn check(&self) -> Answer<'_, ()>;
}

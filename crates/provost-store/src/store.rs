use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;

use jiff::Timestamp;
use provost_record::Record;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::broadcast;

use crate::{Claim, Node, Released, Standing};

/// The longest record that is taken, in bytes. Lists of what a script left behind are the longest
/// things in one.
pub const MAX_RECORD: usize = 256 * 1024;

/// How many events a subscriber may be behind before it misses some.
pub const EVENT_BACKLOG: usize = 1024;

/// A record, and its text as it came from the node: keys that we don't know are kept.
#[derive(Clone, Debug)]
pub struct Report {
    /// What it says.
    pub record: Record,
    /// Its text, on one line.
    pub json: Box<RawValue>,
}

impl Report {
    /// Reads one record.
    pub fn parse(json: &RawValue) -> serde_json::Result<Self> {
        let record = serde_json::from_str(json.get())?;
        // JSON allows line ends between tokens only, so a blank says the same.
        let json = match json.get().contains(['\n', '\r']) {
            true => RawValue::from_string(json.get().replace(['\n', '\r'], " "))?,
            false => json.to_owned(),
        };
        Ok(Self { record, json })
    }
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ingested {
    /// Records that were new.
    pub fresh: usize,
    /// Records that were there already.
    pub repeats: usize,
    /// How the node stands now, the run of the batch's last record not counted.
    pub standing: Standing,
    /// When the node is to be given up if it stays silent.
    pub due: Option<Timestamp>,
}

/// Something that is told to those who follow.
#[derive(Clone, Debug)]
pub enum Event {
    /// A record was stored; its text.
    Record(Arc<RawValue>),
    /// A node was given up.
    Lost(Arc<Lost>),
    /// What somebody at a node's address said of it was taken in.
    Claim(Arc<Claim>),
}

/// A node that fell silent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// Its name.
    pub node: String,
    /// The stage that it was in, if it was in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// When it was last heard of, by the server's clock.
    #[serde(rename = "lastSeen", skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Timestamp>,
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
}

/// A log that a node has uploaded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UploadedLog {
    /// The run it belongs to.
    pub run: String,
    /// `NN-SCRIPT`.
    pub name: String,
}

/// A node and the SHA-256 of its token.
#[derive(Clone, Debug)]
pub struct Token {
    /// The node that may speak with it.
    pub node: String,
    /// The digest; the token itself isn't kept anywhere.
    pub sha256: [u8; 32],
}

/// What a [`Store`] gives back, later.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Where the management node keeps what it knows. Whatever is answered with `Ok` is durable.
pub trait Store: Send + Sync + 'static {
    /// Keeps a batch of one node's records, all or none. A record whose (node, run, seq) is there
    /// already is dropped; the others move the node's status. `at` is the server's time.
    fn ingest<'a>(
        &'a self,
        node: &'a str,
        batch: Vec<Report>,
        at: Timestamp,
    ) -> Answer<'a, Ingested>;

    /// Takes in what is said of a node without a token; a node that wasn't known is known from
    /// then on. Says whether it counts: not while a kickstart or boot is going on that is
    /// reported with a token. `at` is the server's time.
    fn claim(&self, claim: Claim, at: Timestamp) -> Answer<'_, bool>;

    /// Every record that is newly stored, every node that is given up and every claim that counts,
    /// from now on, in order.
    fn events(&self) -> broadcast::Receiver<Event>;

    /// All nodes, by name.
    fn nodes(&self) -> Answer<'_, Vec<Node>>;

    /// One node.
    fn node<'a>(&'a self, name: &'a str) -> Answer<'a, Option<Node>>;

    /// A node's runs, the one whose first record arrived last first.
    fn runs<'a>(&'a self, node: &'a str) -> Answer<'a, Vec<StoredRun>>;

    /// A run by its id. Should two nodes claim the same id, it is the first one's.
    fn run<'a>(&'a self, run: &'a str) -> Answer<'a, Option<StoredRun>>;

    /// Keeps a log, whole or not at all, in place of an earlier one of the same name.
    fn put_log<'a>(&'a self, node: &'a str, log: UploadedLog, bytes: Vec<u8>) -> Answer<'a, ()>;

    /// Which logs a node has uploaded.
    fn logs<'a>(&'a self, node: &'a str) -> Answer<'a, Vec<UploadedLog>>;

    /// A log of a node.
    fn log<'a>(&'a self, node: &'a str, log: &'a UploadedLog) -> Answer<'a, Option<Vec<u8>>>;

    /// When the next node is to be given up if it stays silent. The margin that it is given
    /// besides is the caller's affair, here and in [`lose`](Self::lose).
    fn next_due(&self) -> Answer<'_, Option<Timestamp>>;

    /// Gives up all nodes that were due by `due`, until they speak again. `at` is the server's
    /// time.
    fn lose(&self, due: Timestamp, at: Timestamp) -> Answer<'_, Vec<Lost>>;

    /// Gives all nodes their time anew, from the server's time `at` on: nobody listened before.
    fn listen_anew(&self, at: Timestamp) -> Answer<'_, ()>;

    /// How a node stands, its run `present` not counted. One that isn't known stands well.
    fn standing<'a>(&'a self, node: &'a str, present: Option<&'a str>) -> Answer<'a, Standing>;

    /// Forgets the attempts of nodes, all or none: `Err` has those that aren't known. `at` is the
    /// server's time.
    fn release(
        &self,
        nodes: Vec<String>,
        at: Timestamp,
    ) -> Answer<'_, Result<Vec<Released>, Vec<String>>>;

    /// Gives nodes their tokens, all or none, each in place of the node's earlier one; a node
    /// that wasn't known is known from then on. Returns which ones these are. `at` is the server's
    /// time.
    fn set_tokens(&self, tokens: Vec<Token>, at: Timestamp) -> Answer<'_, Vec<String>>;

    /// Whose token it is that has this digest.
    fn token_owner(&self, sha256: [u8; 32]) -> Answer<'_, Option<String>>;
}

/// Why the store couldn't do what it was asked to.
#[derive(Debug, thiserror::Error)]
#[error("{doing}: {source}")]
pub struct StoreError {
    doing: String,
    hint: String,
    source: Box<dyn Error + Send + Sync>,
}

impl StoreError {
    /// An error that arose while `doing`, a gerund phrase.
    pub fn new(
        doing: impl Into<String>,
        hint: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self { doing: doing.into(), hint: hint.into(), source: source.into() }
    }

    /// What an admin can do about it.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

//! What those are told who have subscribed to a store.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use provost_record::{Outcome, Phase, Record, Service};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::OnceCell;

use crate::{Answer, Claim, JobNews, StoreError};

/// How many events a subscriber may be behind before it misses some: as many as there are in two seconds of a storm.
/// Those that it hasn't taken stay in memory.
pub const EVENT_BACKLOG: usize = 1024;

/// What subscribers get.
#[derive(Clone, Debug)]
pub enum Event {
    /// Records were stored.
    Records(Arc<Arrivals>),
    /// A node was lost.
    Lost(Arc<Lost>),
    /// A claim was accepted.
    Claim(Arc<Claim>),
    /// A job has changed.
    Job(Arc<JobNews>),
    /// Some events, it isn't known how many, didn't come.
    Missed,
}

/// A node that has stopped reporting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Its name.
    pub node: String,
    /// The stage that it was in, if it was in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// When it last reported, by the server's clock.
    #[serde(rename = "lastSeen", skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Timestamp>,
}

/// Records that were stored at once. Most subscribers want to know of which nodes they are: the texts are read when
/// the first one asks for them, or each of the daemons that share a database would read every record.
pub struct Arrivals {
    /// Of which nodes they are.
    pub parts: Vec<Arrival>,
    texts: OnceCell<Vec<Arc<RawValue>>>,
    read: Option<Read>,
}

/// Reads the texts of records that are stored.
type Read = Box<dyn Fn() -> Answer<'static, Vec<Arc<RawValue>>> + Send + Sync>;

/// Some records of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The node.
    pub node: String,
    /// How many they are.
    pub records: u64,
    /// The services that began or ended in them, in their order.
    pub services: Vec<ServiceChange>,
}

/// A service began or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceChange {
    /// Which of both, and how it ended.
    pub kind: ServiceChangeKind,
    /// Whether the service is `run`: an admin's, of single scripts.
    pub is_run: bool,
}

/// What a service did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceChangeKind {
    /// It began.
    Began,
    /// It ended well.
    Succeeded,
    /// It ended, and not well.
    Failed,
}

impl Arrivals {
    /// Records whose texts are known.
    pub fn of(parts: Vec<Arrival>, texts: Vec<Arc<RawValue>>) -> Self {
        Self { parts, texts: OnceCell::from(texts), read: None }
    }

    /// Records whose texts are read when somebody asks for them.
    pub(crate) fn to_read(parts: Vec<Arrival>, read: Read) -> Self {
        Self { parts, texts: OnceCell::new(), read: Some(read) }
    }

    /// How many records they are.
    pub fn records(&self) -> u64 {
        self.parts.iter().map(|part| part.records).sum()
    }

    /// The texts of the records, in the order in which they were stored, without those that were removed since.
    pub async fn texts(&self) -> Result<&[Arc<RawValue>], StoreError> {
        let read = async || match &self.read {
            Some(read) => read().await,
            None => Ok(Vec::new()),
        };
        Ok(self.texts.get_or_try_init(read).await?)
    }
}

impl fmt::Debug for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parts, texts, read: _ } = self;
        f.debug_struct("Arrivals").field("parts", parts).field("texts", texts).finish()
    }
}

impl Arrival {
    /// No records yet.
    pub(crate) fn new(node: &str) -> Self {
        Self { node: node.to_owned(), records: 0, services: Vec::new() }
    }

    /// Adds a record.
    pub(crate) fn add(&mut self, record: &Record) {
        self.records += 1;
        self.services.extend(ServiceChange::of(record));
    }
}

impl ServiceChange {
    /// What `record` says of its service.
    pub(crate) fn of(record: &Record) -> Option<Self> {
        let kind = match (record.phase, record.result) {
            (Phase::ServiceStart, _) => ServiceChangeKind::Began,
            (Phase::ServiceEnd, Some(Outcome::Success)) => ServiceChangeKind::Succeeded,
            (Phase::ServiceEnd, _) => ServiceChangeKind::Failed,
            _ => return None,
        };
        Some(Self { kind, is_run: record.service == Service::Run.as_str() })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn texts_are_read_when_somebody_asks_and_once_for_all() {
        let reads = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&reads);
        let read = move || -> Answer<'static, Vec<Arc<RawValue>>> {
            let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
            Box::pin(async move {
                tokio::task::yield_now().await;
                let text = RawValue::from_string("{}".into()).unwrap();
                let gone = || StoreError::new("reading", "wait", "the database is gone");
                if is_first { Err(gone()) } else { Ok(vec![text.into()]) }
            })
        };
        let arrivals = Arrivals::to_read(vec![Arrival::new("a")], Box::new(read));
        assert_eq!((arrivals.parts.len(), reads.load(Ordering::Relaxed)), (1, 0));
        assert!(arrivals.texts().await.is_err());
        let both = tokio::join!(arrivals.texts(), arrivals.texts());
        assert_eq!((both.0.unwrap().len(), both.1.unwrap().len()), (1, 1));
        assert_eq!(reads.load(Ordering::Relaxed), 2, "again after the error, and once for both");
    }
}

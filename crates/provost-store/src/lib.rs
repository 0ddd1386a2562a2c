//! What the management node knows of the nodes: their records, the status that follows from these,
//! their tokens and the logs of failed steps; behind one [`Store`] trait.
//!
//! With the feature `sqlite`: [`Sqlite`], the embedded store.

mod attempts;
mod claim;
mod failures;
mod node;
mod quota;
mod status;
mod store;

#[cfg(feature = "sqlite")]
mod sqlite;

pub use attempts::{Released, Standing};
pub use claim::{Claim, ClaimContent};
pub use failures::{FailureGroup, failed_at, failure_groups, failure_id, has_failed};
pub use node::{Detail, Node, RunningFor, Seen, Status, UpdateStatus};
pub use quota::{Quota, Quotas};
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;
pub use status::NodeState;
pub use store::{
    Answer, EVENT_BACKLOG, Event, Ingested, Lost, MAX_RECORD, MAX_RUNS, MAX_SEQ, Report, Store,
    StoreError, StoredRun, Token, UploadedLog,
};

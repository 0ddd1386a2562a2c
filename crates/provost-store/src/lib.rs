//! What the management node knows of the nodes: their records, the status that follows from these,
//! their tokens and the logs of failed steps; behind one [`Store`] trait.
//!
//! With the feature `sqlite`: [`Sqlite`], the embedded store.

mod attempts;
mod claim;
mod node;
mod status;
mod store;

#[cfg(feature = "sqlite")]
mod sqlite;

pub use attempts::{Released, Standing};
pub use claim::{Claim, ClaimContent};
pub use node::{Detail, Node, Status, UpdateStatus};
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;
pub use status::NodeState;
pub use store::{
    Answer, EVENT_BACKLOG, Event, Ingested, Lost, MAX_RECORD, Report, Store, StoreError, StoredRun,
    Token, UploadedLog,
};

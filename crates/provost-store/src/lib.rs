//! What the management node knows of the nodes: their records, the status that follows from these,
//! their tokens and identities and the logs of steps, the admins and what they changed; behind one
//! [`Store`] trait.
//!
//! With the feature `sqlite`: [`Sqlite`], the embedded store. With the feature `postgres`: [`Postgres`],
//! a database that many daemons share. With `transfer`: [`transfer`], all of a store as one stream, and
//! [`location`], where a daemon has its store.

mod accounts;
mod answer;
mod attempts;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod batch_delay;
mod claim;
mod enrolment;
mod event;
mod failures;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod fold;
#[cfg(feature = "transfer")]
mod hex_bytes;
mod history;
mod jobs;
mod last_success;
mod node_states;
mod notice;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod packed;
mod quota;
mod retention;
mod run_query;
mod selection;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;
mod status;
mod step;
mod store;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod tables;
mod tokens;
mod wait_target;
pub mod words;

#[cfg(feature = "transfer")]
pub mod location;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "transfer")]
pub mod transfer;

pub use accounts::Accounts;
pub use answer::{Answer, StoreError};
pub use attempts::{Released, Standing};
pub use claim::{Claim, ClaimContent};
pub use enrolment::{
    Enrolled, Enrolment, EnrolmentRefusal, EnrolmentRequest, Identity, Join, KEYS_OF_CLIENT,
    KEYS_OF_NODE, KeyDigest, Network, NotPending, PendingKey, UnusedJoin,
};
pub use event::{Arrival, Arrivals, EVENT_BACKLOG, Event, Lost, ServiceChange, ServiceChangeKind};
pub use failures::{
    Factor, FailureGroup, Share, SiteFacts, are_comparable, factors_of, failed_at, failure_groups,
    failure_groups_by, failure_id, has_failed,
};
pub use history::{
    Durations, HistoryPoint, HistoryScale, HistorySeries, HistoryStore, NodesByStatus, RunCounts,
    StormResult,
};
pub use jobs::{Job, JobNews, JobState, JobStore, JobSummary, StoredJob};
pub use last_success::{FirstDifference, Generations, LastSuccess, SinceSuccess};
pub use node_states::NodeStates;
pub use notice::{Notice, Notices, Queued, Storm, Subscription};
#[cfg(feature = "postgres")]
pub use postgres::{Postgres, PostgresFiles, PostgresUrl};
pub use provost_api::admins::{AuditEntry, Pruned};
pub use provost_api::{
    Admin, Detail, Facts, InnerStage, LogKind, Node, NoticeKind, ReportedGenerations, Role,
    RunningFor, SlowStep, Status, UpdateStatus,
};
pub use quota::{Quota, Quotas, RecordQuota};
pub use retention::{PruneScope, Retention};
pub use run_query::{MAX_RUNS, RunQuery};
pub use selection::Selection;
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;
pub use status::NodeState;
pub use step::{Histogram, MOST_STEPS, ScriptReport, ScriptSummary, Step, StepTime, StepTimes};
pub use store::{
    Ingested, MAX_RECORD, MAX_SEQ, NewestRuns, Report, Sent, Store, StoredRun, UploadedLog, Watch,
};
pub use tokens::{Token, Tokens};
pub use wait_target::WaitTarget;

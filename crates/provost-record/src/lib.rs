//! What a run reports: one [`Record`] per event, in a [`Journal`] that is a valid JSON array at
//! every instant, and the analysis of what is in there.
//!
//! The first eight keys of a record are those of OpenShift's bootstrap service records, so that
//! its own reader can read ours; [`judge`](judge()) judges a journal as that reader does.

mod exit_code;
mod inner;
mod journal;
mod judge;
mod own_stages;
mod record;
mod runs;
mod service_file;
mod verdict;

pub use exit_code::ExitCode;
pub use inner::Inner;
pub use journal::{Entry, Journal, JournalError, Repair};
pub use judge::{Judgement, judge};
pub use own_stages::open_stage;
pub use provost_api::{Cause, Facts, Outcome, Phase, Service};
pub use record::{Invalid, Record, now};
pub use runs::{FETCH, Run, Stage, runs};
pub use service_file::{Unreadable, service_records};
pub use verdict::{State, Verdict};

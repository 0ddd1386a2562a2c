//! What a run reports: one [`Record`] per event, in a [`Journal`] that is a valid JSON array at
//! every instant, and the analysis of what is in there.
//!
//! The first eight keys of a record are those of OpenShift's bootstrap service records, so that
//! its own reader can read ours; [`judge`](judge()) judges a journal as that reader does.

mod exit_code;
mod journal;
mod judge;
mod paint;
mod record;
mod runs;
pub mod step_log;
pub mod terminal;
pub mod wording;
mod words;

pub use exit_code::ExitCode;
pub use journal::{Entry, Journal, JournalError, Repair};
pub use judge::{Judgement, judge};
pub use paint::Paint;
pub use record::{Invalid, Record, now};
pub use runs::{Run, Stage, runs};
pub use words::{Cause, Outcome, Phase, Service};

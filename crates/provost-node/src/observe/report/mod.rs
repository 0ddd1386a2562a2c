//! Reporting: a task of its own that reads the journals, which are its spool, and never holds a
//! script up.

mod beats;
mod delivery;
mod drain_backlog;
mod logs;
mod observer;
mod reporter;
mod server_rotation;
mod servers;
mod spool;
mod timer;

pub use logs::waiting_runs;
pub use observer::Reporting;
pub use reporter::flush as last_time;
pub use spool::{Spool, unreported};
pub use timer::start as start_timer;

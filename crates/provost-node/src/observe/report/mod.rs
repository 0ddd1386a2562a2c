//! Reporting: a task of its own that reads the journals, which are its spool, and never holds a
//! script up.

mod answer;
mod beats;
mod delivery;
mod direct;
mod drain_backlog;
mod error;
mod flush;
mod lock;
mod logs;
mod observer;
mod reporter;
mod server_rotation;
mod servers;
mod spool;
mod timer;

pub use flush::flush as last_time;
pub use logs::waiting_runs;
pub use observer::Reporting;
pub use spool::{Spool, unreported};
pub use timer::start as start_timer;

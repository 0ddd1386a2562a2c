//! What gets word of a run while it goes on.

pub mod console;
pub mod logging;
pub mod notices;
pub mod observer;
pub mod progress;
pub mod report;

//! What gets word of a run while it goes on.

pub mod console;
pub mod echo;
pub mod logging;
pub mod notices;
pub mod report;

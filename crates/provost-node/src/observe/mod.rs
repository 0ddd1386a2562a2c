//! What gets word of a run while it goes on.

pub mod console;
pub mod echo;
pub mod messages;
pub mod report;

//! An xCAT management node, as its nodes see it.

mod monitor;

pub use monitor::{Habit, Monitor};

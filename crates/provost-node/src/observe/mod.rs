//! Observers: they are notified of what happens in a run.

pub mod console;
pub mod logging;
pub mod notices;
pub mod observer;
pub mod progress;
pub mod report;

use std::sync::Arc;

use self::logging::Terminal;
use self::observer::Observer;
use self::progress::ConsoleProgress;

/// The observers of every run, whatever its management node is. A new one gets its line here.
/// `shows_lines` is whether the console shows what a running script prints.
pub(crate) fn of_every_run(terminal: Arc<Terminal>, shows_lines: bool) -> Vec<Box<dyn Observer>> {
    vec![Box::new(ConsoleProgress::new(terminal, shows_lines))]
}

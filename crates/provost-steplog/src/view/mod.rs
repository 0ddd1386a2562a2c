//! A step's log, as people and programs read it. The node's program and the management node's
//! show the same.

mod collect;
mod json;
mod output;
mod page;
mod session;
mod table;

use std::io::{self, BufReader, Read, Write};

use collect::Collected;
use page::Page;

use crate::Lines;
pub use page::{Reader, ShowError};

/// What of a log is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// The commands, each followed by what was printed and how it ended.
    #[default]
    All,
    /// What was printed.
    Output,
    /// A table of the commands.
    Commands,
}

impl Part {
    /// As the flags `--output` and `--commands` have it, of which both programs allow one.
    pub fn of_flags(output: bool, commands: bool) -> Self {
        match (output, commands) {
            (true, _) => Self::Output,
            (_, true) => Self::Commands,
            _ => Self::All,
        }
    }
}

/// How a log is shown.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// What of it.
    pub part: Part,
    /// Only the commands that failed.
    pub failed: bool,
    /// As one JSON document.
    pub json: bool,
    /// For whom.
    pub reader: Reader,
}

impl View {
    /// Writes what there is to see in `log` to `out`.
    pub fn show(&self, log: impl Read, out: impl Write) -> Result<(), ShowError> {
        let log = BufReader::new(log);
        let mut page = Page::new(out, self.reader);
        match (self.part, self.json) {
            (Part::Output, true) => json::lines(Lines::new(log), &mut page)?,
            (Part::Output, false) => output::show(Lines::new(log), &mut page)?,
            (_, true) => json::commands(&self.collect(log)?, &mut page)?,
            (Part::Commands, false) => table::show(&self.collect(log)?, &mut page)?,
            (Part::All, false) if self.failed => session::failed(&self.collect(log)?, &mut page)?,
            (Part::All, false) => session::show(Lines::new(log), &mut page)?,
        }
        page.finish()
    }

    /// Writes all of `log`, or what was printed, to `out`, each line as soon as `log` brings it.
    pub fn follow(&self, log: impl Read, out: impl Write) -> Result<(), ShowError> {
        let lines = Lines::new(BufReader::new(log));
        let mut page = Page::live(out, self.reader);
        match self.part {
            Part::Output => output::show(lines, &mut page)?,
            Part::All | Part::Commands => session::show(lines, &mut page)?,
        }
        page.finish()
    }

    fn collect(&self, log: impl io::BufRead) -> Result<Collected, ShowError> {
        let is_kept = |command: &crate::Command| !self.failed || command.is_failure();
        let most_output = if self.part == Part::Commands { 0 } else { collect::MOST_OUTPUT };
        Collected::read(Lines::new(log), most_output, is_kept).map_err(ShowError::Read)
    }
}

#[cfg(test)]
mod tests;

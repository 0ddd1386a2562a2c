use std::cell::RefCell;
use std::time::{Duration, Instant};

use provost_steplog::wording;

use super::row::{Outcome, Row};
use crate::live::LiveLine;
use crate::output;

/// How often the live line shows the time, without a node that is finished.
const TICK: Duration = Duration::from_secs(1);

/// The nodes that are finished. On a terminal a live line counts them; elsewhere each has a line of
/// its own.
pub(super) struct Progress {
    all: usize,
    began: Instant,
    line: LiveLine,
    rows: RefCell<Vec<Row>>,
}

impl Progress {
    pub(super) fn new(all: usize) -> Self {
        let progress =
            Self { all, began: Instant::now(), line: LiveLine::new(), rows: RefCell::default() };
        progress.show();
        progress
    }

    pub(super) fn add(&self, row: Row) {
        let line = row.line();
        self.rows.borrow_mut().push(row);
        match self.line.is_shown() {
            true => self.show(),
            false => output::note(&format!("[{}/{}] {line}", self.rows.borrow().len(), self.all)),
        }
    }

    /// Shows how the time goes by. It doesn't end.
    pub(super) async fn tick(&self) {
        loop {
            tokio::time::sleep(TICK).await;
            self.show();
        }
    }

    fn show(&self) {
        let rows = self.rows.borrow();
        let counts = Outcome::ALL.map(|outcome| {
            (rows.iter().filter(|row| row.outcome == outcome).count(), outcome.as_str())
        });
        let counts: String = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!(", {count} {word}"))
            .collect();
        let (done, took) = (rows.len(), wording::duration(self.began.elapsed()));
        self.line.show(&format!("{done} of {} finished{counts}; {took}", self.all));
    }

    /// The rows in the order of the nodes' names. The live line is gone.
    pub(super) fn finish(self) -> Vec<Row> {
        let mut rows = self.rows.into_inner();
        rows.sort_by(|a, b| a.node.cmp(&b.node));
        rows
    }
}

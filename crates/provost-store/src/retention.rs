use jiff::{SignedDuration, Timestamp};

/// How many rows of records are removed at once, at most: no report waits for more.
pub(crate) const BITE: usize = 500;
/// How many runs, and how many logs.
pub(crate) const BITE_RUNS: usize = 100;

/// A run that is kept no longer.
#[derive(Clone, Debug)]
pub(crate) struct OldRun {
    pub(crate) id: i64,
    pub(crate) node: String,
    pub(crate) run: String,
}

/// How much of the nodes' history is kept.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// How many runs of each node, the newest ones; at least one.
    pub runs: u32,
    /// For how long a run that isn't a node's newest.
    pub age: SignedDuration,
    /// For how long a log.
    pub logs: SignedDuration,
}

/// Where history is looked for that is kept no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PruneScope {
    /// At nodes that have had new runs since the last look: it costs by these.
    AtNewRuns,
    /// Everywhere, also for what has become too old.
    Everywhere,
}

impl Retention {
    /// Runs that began before this, in milliseconds of Unix time, are kept no longer.
    pub(crate) fn oldest_run(&self, at: Timestamp) -> i64 {
        before(at, self.age)
    }

    /// The same of logs.
    pub(crate) fn oldest_log(&self, at: Timestamp) -> i64 {
        before(at, self.logs)
    }

    /// It is forgotten that runs were removed which began before this. Until then a record of one
    /// that comes late isn't stored again.
    pub(crate) fn oldest_removed(&self, at: Timestamp) -> i64 {
        before(at, self.age.saturating_add(self.age))
    }
}

fn before(at: Timestamp, age: SignedDuration) -> i64 {
    at.checked_sub(age).unwrap_or(Timestamp::MIN).as_millisecond()
}

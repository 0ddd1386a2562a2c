/// How many runs of a node are read at once, at most.
pub const MAX_RUNS: usize = 200;

/// The seq up to which a brief run's records are read: the run's start, and the fetch with what it found.
pub(crate) const HEAD: i32 = 3;

/// Which of a node's runs are read, and how much of them: what isn't shown costs nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunQuery {
    /// How many of the newest ones with all of their records, [`MAX_RUNS`] at most.
    pub whole: usize,
    /// How many of those before with their first records and the last one: when each began and how
    /// it ended.
    pub brief: usize,
    /// A run that is read with all of its records in any case.
    pub also: Option<String>,
}

impl RunQuery {
    /// The `whole` newest ones.
    pub fn newest(whole: usize) -> Self {
        Self { whole, ..Self::default() }
    }

    /// How many of the newest runs are read.
    pub(crate) fn most(&self) -> usize {
        self.whole.min(MAX_RUNS).saturating_add(self.brief).min(MAX_RUNS)
    }

    /// Whether the run `run`, which is the newest but `nth`, is read whole.
    pub(crate) fn is_whole(&self, nth: usize, run: &str) -> bool {
        nth < self.whole.min(MAX_RUNS) || self.also.as_deref() == Some(run)
    }
}

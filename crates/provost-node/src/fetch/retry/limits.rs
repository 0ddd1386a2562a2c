use provost_bundle::Limit;

use crate::settings::Settings;

/// How long servers may be silent before what was fetched last is used, where it may be.
const SILENCE: Limit = Limit::seconds(60);

/// How long servers are asked.
pub struct RetryLimits {
    /// All of them, in all.
    pub(crate) deadline: Limit,
    /// While none of them answers.
    pub(crate) silence: Limit,
    /// Whether a server after the first may be a mere guess. One that has nothing at all then counts
    /// as silent.
    pub(crate) may_guess: bool,
}

impl RetryLimits {
    /// Those of `settings`, on a node that `has_last_good` or not: a bundle that was fetched before.
    pub fn of(settings: &Settings, has_last_good: bool) -> Self {
        let deadline = settings.fetch.deadline;
        let may_fall_back = settings.fetch.last_good && has_last_good;
        let silence = if may_fall_back { SILENCE } else { deadline };
        // Of an xCAT management node, all servers are taken that any source names.
        Self { deadline, silence, may_guess: settings.may_guess_servers() }
    }

    /// How long an answer may take from a server that has accepted the connection.
    pub fn answer(&self) -> Limit {
        self.silence.min(self.deadline)
    }
}

impl From<Limit> for RetryLimits {
    fn from(deadline: Limit) -> Self {
        Self { deadline, silence: deadline, may_guess: false }
    }
}

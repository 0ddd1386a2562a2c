use std::time::Duration;

use provost_steplog::terminal::escape_cell;
use provost_steplog::wording;
use tokio::time::{Instant, sleep};

use crate::failure::Failure;

/// The pause before a retry to reach the daemon.
const RETRY: Duration = Duration::from_secs(1);
/// How often it is said again, in lines that stay, that the daemon can't be reached.
const SAY_AGAIN: Duration = Duration::from_secs(60);

/// A daemon that can't be reached, while a command retries.
pub(crate) struct Outage {
    began: Instant,
    /// Why the last try failed.
    pub(crate) failure: Failure,
    said: Option<Instant>,
}

impl Outage {
    /// Notes that a try has failed; `before` is what was known of the tries before it.
    pub(crate) fn after(before: Option<Self>, failure: Failure) -> Self {
        match before {
            Some(outage) => Self { failure, ..outage },
            None => Self { began: Instant::now(), failure, said: None },
        }
    }

    /// What was tried, why it failed, for how long; and what to do.
    pub(crate) fn text(&self) -> String {
        let error = escape_cell(&self.failure.error);
        let every = format!("retrying every {} s", RETRY.as_secs());
        let how = match self.began.elapsed() {
            short if short < RETRY => every,
            long => format!("no answer for {}, {every}", wording::age(long)),
        };
        format!("{error}; {how}\n  hint: {}", escape_cell(&self.failure.hint))
    }

    /// The same for lines that stay: none if it was said a moment ago.
    pub(crate) fn news(&mut self) -> Option<String> {
        let is_new = self.said.is_none_or(|at| at.elapsed() >= SAY_AGAIN);
        is_new.then(|| {
            self.said = Some(Instant::now());
            self.text()
        })
    }

    /// Waits until it is time for the next try.
    pub(crate) async fn pause() {
        sleep(RETRY).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_outage_is_told_once_a_minute_with_its_length_and_a_hint() {
        let failure = || Failure::new("asking provostd: refused", "start it");
        let mut outage = None;
        let mut said = Vec::new();
        for _ in 0..130 {
            let mut now = Outage::after(outage.take(), failure());
            said.extend(now.news());
            outage = Some(now);
            Outage::pause().await;
        }
        let first = "asking provostd: refused; retrying every 1 s\n  hint: start it";
        let later =
            |long| first.replace("; retrying", &format!("; no answer for {long}, retrying"));
        assert_eq!(said, [first.to_owned(), later("1 min"), later("2 min")]);
    }
}

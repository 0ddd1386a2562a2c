//! Which server is asked next, and what came of those that were asked.

use std::time::Duration;

use provost_bundle::Limit;
use provost_record::Cause;
use provost_steplog::wording;
use reqwest::Url;
use tokio::time::Instant;

use super::limits::RetryLimits;
use crate::failure::Failure;
use crate::fetch::error::{FetchError, NotFetched};
use provost_http::backoff::{Backoff, Jitter};

/// The wait before the same server is asked again.
const BACKOFF: Backoff = Backoff {
    first: Duration::from_millis(200),
    most: Duration::from_secs(5),
    jitter: Jitter::Full,
};

/// The same where nothing is published for this node: somebody has to write that first.
const UNPUBLISHED: Backoff = Backoff { most: Duration::from_secs(30), ..BACKOFF };

const SLOW_HINT: &str = "check why the server is slow, or raise `deadline` under [fetch]";

/// The servers of one fetch.
pub(crate) struct Queue<'s> {
    servers: Vec<Server<'s>>,
    limits: RetryLimits,
    begun: Instant,
}

/// One server, and the attempts at it.
struct Server<'s> {
    url: &'s Url,
    attempts: u32,
    /// When its next attempt may begin.
    due: Instant,
    /// When its first attempt began, and its last one ended.
    spent: Option<(Instant, Instant)>,
    /// Why its last attempt failed.
    error: Option<FetchError>,
}

/// An attempt that is going on.
#[derive(Clone, Copy)]
pub(crate) struct Attempt<'s> {
    pub(crate) server: &'s Url,
    at: usize,
    begun: Instant,
    /// How long it may take: one that only trickles must leave the others their share of the time.
    share: Duration,
}

impl Attempt<'_> {
    /// When it has to be over.
    pub(crate) fn deadline(&self) -> Instant {
        self.begun + self.share
    }
}

impl<'s> Queue<'s> {
    pub(crate) fn new(servers: &'s [Url], limits: RetryLimits) -> Self {
        let begun = Instant::now();
        let server = |url| Server { url, attempts: 0, due: begun, spent: None, error: None };
        Self { servers: servers.iter().map(server).collect(), limits, begun }
    }

    /// The server to ask next, if there is one and there is time left.
    pub(crate) fn next(&self) -> Option<usize> {
        let now = Instant::now();
        let is_aborted = self.errors().any(FetchError::is_abort);
        if is_aborted || now >= self.begun + self.time().duration() {
            return None;
        }
        let candidates =
            self.servers.iter().enumerate().filter(|(_, server)| server.may_be_asked());
        let first = candidates.min_by_key(|(_, server)| (server.due.max(now), server.attempts));
        first.filter(|(_, server)| server.due < self.deadline()).map(|(at, _)| at)
    }

    /// Why the server `at` is asked again, if it is, and for how long that may go on.
    pub(crate) fn why_again(&self, at: usize) -> Option<(&Failure, Limit)> {
        Some((&self.servers[at].error.as_ref()?.failure, self.time()))
    }

    /// Waits until the server `at` may be asked, and begins an attempt at it.
    pub(crate) async fn begin(&mut self, at: usize) -> Attempt<'s> {
        tokio::time::sleep_until(self.servers[at].due).await;
        let begun = Instant::now();
        let sharers = match self.servers[at].attempts {
            0 => self.servers.iter().filter(|server| server.attempts == 0).count(),
            _ => self.servers.iter().filter(|server| server.may_be_asked()).count(),
        };
        let share = self.deadline().saturating_duration_since(begun) / sharers.max(1) as u32;
        let server = &mut self.servers[at];
        server.attempts += 1;
        Attempt { server: server.url, at, begun, share }
    }

    /// Notes that `attempt` failed; without an error, that it took longer than its share.
    pub(crate) fn failed(&mut self, attempt: Attempt<'_>, error: Option<FetchError>) {
        let deadline = self.deadline();
        let server = &mut self.servers[attempt.at];
        // What the server did before says more than that there was no time left.
        let error = error.or_else(|| server.error.take()).unwrap_or_else(|| {
            let share = wording::duration(attempt.share);
            let message = format!("fetching from {}: not finished within {share}", server.url);
            FetchError::silent(Failure::new(Cause::Fetch, message, SLOW_HINT))
        });
        let now = Instant::now();
        let asked = now.checked_add(error.retry_after().unwrap_or_default()).unwrap_or(deadline);
        let backoff = if error.is_awaited() { UNPUBLISHED } else { BACKOFF };
        server.spent = Some((server.spent.map_or(attempt.begun, |(first, _)| first), now));
        server.due = asked + backoff.wait(server.attempts);
        // Rather a last attempt before the deadline than none after this one.
        let last = deadline - BACKOFF.first;
        if server.due >= deadline && now < last {
            server.due = asked.max(last);
        }
        server.error = Some(error);
    }

    /// Why the servers were passed over that were asked besides that of `attempt`.
    pub(crate) fn passed_over(mut self, attempt: Attempt<'_>) -> Vec<Failure> {
        self.servers.remove(attempt.at);
        self.servers.into_iter().filter_map(Server::failure).collect()
    }

    /// Whether it is as if no server had answered.
    pub(crate) fn is_silence(&self) -> bool {
        let has_nothing = |server: &Server<'_>| {
            let is_absence =
                |e: &FetchError| e.is_inconsistent() && e.failure.cause == Cause::Fetch;
            self.limits.may_guess && server.error.as_ref().is_some_and(is_absence)
        };
        let mut servers = self.servers.iter().enumerate();
        servers.all(|(at, server)| server.is_silent() || at > 0 && has_nothing(server))
    }

    /// Why nothing was fetched: the failure that says most, of several such ones the first.
    pub(crate) fn not_fetched(self) -> NotFetched {
        let rank = |at: &usize| self.servers[*at].error.as_ref().map_or(0, FetchError::rank);
        let shown = (0..self.servers.len()).rev().max_by_key(rank);
        let (mut passed_over, mut failure) = (Vec::new(), None);
        for (at, server) in self.servers.into_iter().enumerate() {
            match server.failure() {
                Some(why) if Some(at) == shown => failure = Some(why),
                why => passed_over.extend(why),
            }
        }
        let failure = failure.unwrap_or_else(|| {
            Failure::config("no server is configured", "set `servers` in provost.toml")
        });
        NotFetched { passed_over, failure }
    }

    fn errors(&self) -> impl Iterator<Item = &FetchError> {
        self.servers.iter().filter_map(|server| server.error.as_ref())
    }

    /// How long servers are asked, as things stand.
    fn time(&self) -> Limit {
        let RetryLimits { deadline, silence, .. } = self.limits;
        if self.is_silence() { silence.min(deadline) } else { deadline }
    }

    fn deadline(&self) -> Instant {
        self.begun + self.limits.deadline.duration()
    }
}

impl Server<'_> {
    fn may_be_asked(&self) -> bool {
        self.error.as_ref().is_none_or(FetchError::may_retry)
    }

    fn is_silent(&self) -> bool {
        self.error.as_ref().is_some_and(FetchError::is_silent)
    }

    /// Its last failure, with the effort that it took.
    fn failure(self) -> Option<Failure> {
        let failure = self.error?.failure;
        let spent = self.spent.map_or(Duration::ZERO, |(begun, ended)| ended - begun);
        let effort =
            format!("{} in {}", wording::count(self.attempts, "try"), wording::duration(spent));
        Some(failure.reworded(|text| format!("{text} ({effort})")))
    }
}

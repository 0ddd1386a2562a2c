//! When to try again. The decision is made where the error is seen, and carried as a type.

use provost_record::wording;
use std::time::Duration;

use provost_bundle::Limit;
use provost_record::Cause;
use reqwest::Url;
use tokio::time::Instant;

use crate::failure::Failure;
use crate::settings::Settings;

/// The first wait is below this, the next ones below its doubles.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// No wait is above this.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// How long servers may be silent before what was fetched last is used, where it may be.
const SILENCE: Limit = Limit::seconds(60);

/// A try that failed.
pub struct Miss {
    pub failure: Failure,
    why: Why,
}

#[derive(Clone, Copy, PartialEq)]
enum Why {
    /// What the server serves is of no use, and will be the next time.
    Bad,
    /// The same, unless something was published between two requests.
    Torn,
    /// The server can't serve now; it may have said after which wait it can.
    Busy(Option<Duration>),
    /// Nothing came, or it broke off.
    Silent,
}

impl Miss {
    /// A failure that another try at the same server would only repeat.
    pub fn last(failure: Failure) -> Self {
        Self { failure, why: Why::Bad }
    }

    /// What doesn't fit together, or isn't there: it may be of two generations.
    pub fn torn(failure: Failure) -> Self {
        Self { failure, why: Why::Torn }
    }

    /// An answer that may be a better one later, by the server's word after `wait`.
    pub fn busy(failure: Failure, wait: Option<Duration>) -> Self {
        Self { failure, why: Why::Busy(wait) }
    }

    /// No answer, or not all of it.
    pub fn silent(failure: Failure) -> Self {
        Self { failure, why: Why::Silent }
    }

    /// Whether it may be that the requests met two generations.
    pub fn is_torn(&self) -> bool {
        self.why == Why::Torn
    }

    /// The same, after something else that was tried first had failed.
    pub fn after(self, before: &Failure) -> Self {
        let message = format!("{}; {}", before.message, self.failure.message);
        Self { failure: Failure { message, ..self.failure }, ..self }
    }

    /// Whether another try may end otherwise.
    pub fn may_pass(&self) -> bool {
        matches!(self.why, Why::Busy(_) | Why::Silent)
    }

    /// How much it says: what a server serves more than that it serves nothing, and a bad
    /// signature most of all.
    fn weight(&self) -> u8 {
        match (self.failure.cause, self.why) {
            (Cause::Verify, _) => 2,
            (_, Why::Silent) => 0,
            _ => 1,
        }
    }
}

/// What was served, by whom, and the servers that were passed over before that.
pub struct Served<T> {
    pub what: T,
    pub server: Url,
    pub passed_over: Vec<Failure>,
}

/// How long servers are tried.
pub struct Patience {
    /// All of them, in all.
    pub deadline: Limit,
    /// While none of them answers.
    pub silence: Limit,
    /// Whether a server after the first may be a mere guess, so that it hasn't answered either if it
    /// has nothing at all.
    pub may_guess: bool,
}

impl Patience {
    /// As `settings` say, on a node that `has` what was fetched last.
    pub fn of(settings: &Settings, has: bool) -> Self {
        let deadline = settings.fetch.deadline;
        let silence = if settings.fetch.last_good && has { SILENCE } else { deadline };
        // They are all that anybody has named.
        Self { deadline, silence, may_guess: settings.xcat.is_some() }
    }

    /// Whether it is as if none of `all` had answered.
    fn is_silence(&self, all: &[Turns<'_>]) -> bool {
        let has_nothing = |t: &Turns<'_>| {
            let is_it = |miss: &Miss| miss.is_torn() && miss.failure.cause == Cause::Fetch;
            self.may_guess && t.miss.as_ref().is_some_and(is_it)
        };
        all.iter().enumerate().all(|(at, t)| t.is_silent() || at > 0 && has_nothing(t))
    }
}

impl From<Limit> for Patience {
    fn from(deadline: Limit) -> Self {
        Self { deadline, silence: deadline, may_guess: false }
    }
}

/// No server served.
pub struct Unserved {
    /// Why, of each server but the one that says most.
    pub passed_over: Vec<Failure>,
    /// Why, of the one that says most.
    pub failure: Failure,
    /// Whether none of them answered at all.
    pub is_silence: bool,
}

/// One server's turns.
struct Turns<'s> {
    server: &'s Url,
    tries: u32,
    /// When its next one may begin.
    due: Instant,
    /// When the first one began, and the last one ended.
    spent: Option<(Instant, Instant)>,
    miss: Option<Miss>,
}

impl Turns<'_> {
    fn are_left(&self) -> bool {
        self.miss.as_ref().is_none_or(Miss::may_pass)
    }

    fn is_silent(&self) -> bool {
        self.miss.as_ref().is_some_and(|miss| miss.why == Why::Silent)
    }

    /// Its last failure, with the effort that it took.
    fn failure(self) -> Option<(Failure, u8)> {
        let weight = self.miss.as_ref()?.weight();
        let failure = self.miss?.failure;
        let tries = if self.tries == 1 { "try" } else { "tries" };
        let spent = self.spent.map_or(Duration::ZERO, |(begun, ended)| ended - begun);
        let effort = format!("{} {tries} in {}", self.tries, wording::duration(spent));
        Some((Failure { message: format!("{} ({effort})", failure.message), ..failure }, weight))
    }
}

/// Tries `attempt` with each server in turn, and again with those whose failure may pass, until
/// one succeeds, none is left, or `patience` is over. `say` tells that it takes longer.
pub async fn through<'s, T, F>(
    servers: &'s [Url],
    patience: impl Into<Patience>,
    mut say: impl FnMut(&str),
    mut attempt: impl FnMut(&'s Url) -> F,
) -> Result<Served<T>, Unserved>
where
    F: Future<Output = Result<T, Miss>>,
{
    let patience = patience.into();
    let deadline = patience.deadline;
    let begun = Instant::now();
    let until = begun + deadline.duration();
    let turns = |server| Turns { server, tries: 0, due: begun, spent: None, miss: None };
    let mut all: Vec<Turns<'s>> = servers.iter().map(turns).collect();
    let mut has_said = false;
    loop {
        let now = Instant::now();
        let is_silence = patience.is_silence(&all);
        let most = if is_silence { patience.silence.min(deadline) } else { deadline };
        if now >= begun + most.duration() {
            return Err(conclude(all, is_silence));
        }
        let untried = all.iter().filter(|t| t.tries == 0).count();
        let live = all.iter().filter(|t| t.are_left()).count();
        // The first of those that are due.
        let next = all.iter().enumerate().filter(|(_, t)| t.are_left());
        let next = next.min_by_key(|(_, t)| (t.due.max(now), t.tries)).map(|(at, _)| at);
        let Some(next) = next.filter(|at| all[*at].due < until) else {
            return Err(conclude(all, is_silence));
        };
        if let (false, Some(miss)) = (has_said, &all[next].miss) {
            say(&format!("{}; trying again for up to {most}", miss.failure.message));
            has_said = true;
        }
        let turn = &mut all[next];
        tokio::time::sleep_until(turn.due).await;
        let begun = Instant::now();
        // One that only trickles must leave the others their share of the time.
        let sharers = if turn.tries == 0 { untried } else { live };
        let share = until.saturating_duration_since(begun) / sharers.max(1) as u32;
        turn.tries += 1;
        let miss = match tokio::time::timeout_at(begun + share, attempt(turn.server)).await {
            Ok(Ok(what)) => {
                let server = all.remove(next).server.clone();
                let passed_over = all.into_iter().filter_map(|t| Some(t.failure()?.0)).collect();
                return Ok(Served { what, server, passed_over });
            }
            Ok(Err(miss)) => miss,
            // What the server did before says more than that there was no time left for more.
            Err(_) => turn.miss.take().unwrap_or_else(|| {
                let (server, share) = (&turn.server, wording::duration(share));
                let message = format!("fetching from {server}: not done within {share}");
                Miss::silent(Failure::new(Cause::Fetch, message, SLOW_HINT))
            }),
        };
        // This node's own disk or configuration: no server can mend it.
        let is_ours = miss.failure.cause == Cause::Config;
        let now = Instant::now();
        turn.spent = Some((turn.spent.map_or(begun, |(first, _)| first), now));
        turn.due = now.checked_add(wait(turn.tries, &miss)).unwrap_or(until);
        turn.miss = Some(miss);
        if is_ours {
            return Err(conclude(all, false));
        }
    }
}

const SLOW_HINT: &str = "see why the server is slow, or raise `deadline` under [fetch]";

/// Exponential, with full jitter, so that a rack that boots together doesn't come back together.
fn wait(tries: u32, miss: &Miss) -> Duration {
    let most = FIRST_WAIT.saturating_mul(1 << (tries - 1).min(10)).min(LONGEST_WAIT);
    let jitter = Duration::from_micros(fastrand::u64(0..=most.as_micros() as u64));
    match miss.why {
        Why::Busy(Some(told)) => told.saturating_add(jitter),
        _ => jitter,
    }
}

fn conclude(all: Vec<Turns<'_>>, is_silence: bool) -> Unserved {
    let ours = |t: &Turns<'_>| t.miss.as_ref().is_some_and(|m| m.failure.cause == Cause::Config);
    let worst = match all.iter().position(ours) {
        Some(at) => Some(at),
        None => {
            let weight = |at: usize| all[at].miss.as_ref().map_or(0, Miss::weight);
            (0..all.len()).rev().max_by_key(|at| weight(*at))
        }
    };
    let mut passed_over = Vec::new();
    let mut failure = None;
    for (at, turns) in all.into_iter().enumerate() {
        match turns.failure() {
            Some((told, _)) if Some(at) == worst => failure = Some(told),
            told => passed_over.extend(told.map(|(failure, _)| failure)),
        }
    }
    let failure = failure.unwrap_or_else(|| {
        Failure::config("no server is configured", "set `servers` in provost.toml")
    });
    Unserved { passed_over, failure, is_silence }
}

#[cfg(test)]
mod tests;

//! When to try again. The decision is made where the error is seen, and carried as a type.

use std::time::Duration;

use provost_bundle::Limit;
use provost_record::Cause;
use reqwest::Url;
use tokio::time::Instant;

use crate::failure::Failure;

/// The first wait is below this, the next ones below its doubles.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// No wait is above this.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A try that failed.
pub(crate) struct Miss {
    pub(crate) failure: Failure,
    again: Again,
}

#[derive(Clone, Copy, PartialEq)]
enum Again {
    /// It would fail again.
    No,
    /// It may pass; the server may have said after which wait.
    After(Option<Duration>),
}

impl Miss {
    /// A failure that another try at the same server would only repeat.
    pub(crate) fn last(failure: Failure) -> Self {
        Self { failure, again: Again::No }
    }

    /// A failure that may pass, by the server's word after `wait`.
    pub(crate) fn passing(failure: Failure, wait: Option<Duration>) -> Self {
        Self { failure, again: Again::After(wait) }
    }
}

/// Tries `attempt` with each server in turn, and again with those whose failure may pass, until
/// one succeeds, none is left, or `deadline` is over. `say` tells that it takes longer.
pub(crate) async fn through<'s, T, F>(
    servers: &[&'s Url],
    deadline: Limit,
    mut say: impl FnMut(&str),
    mut attempt: impl FnMut(&'s Url) -> F,
) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Miss>>,
{
    let begun = Instant::now();
    let until = begun + deadline.duration();
    let mut tries = 0;
    let mut given_up = Vec::new();
    let mut left = servers.to_vec();
    loop {
        tries += 1;
        let mut misses = Vec::new();
        let turns = std::mem::take(&mut left);
        for (at, server) in turns.iter().enumerate() {
            // One that only trickles must leave the others their share of the time.
            let now = Instant::now();
            let share = until.saturating_duration_since(now) / (turns.len() - at) as u32;
            match tokio::time::timeout_at(now + share, attempt(server)).await {
                Ok(Ok(done)) => return Ok(done),
                Ok(Err(Miss { failure, again: Again::No })) => given_up.push(failure),
                Ok(Err(Miss { failure, again: Again::After(wait) })) => {
                    left.push(server);
                    misses.push((failure, wait));
                }
                Err(_) => {
                    let message =
                        format!("fetching from {server}: not done within {} s", share.as_secs());
                    left.push(server);
                    misses.push((Failure::new(Cause::Fetch, message, SLOW_HINT), None));
                }
            }
        }
        if let (1, Some((failure, _))) = (tries, misses.first()) {
            say(&format!("{}; trying again for up to {deadline}", failure.message));
        }
        let wait = wait(tries, misses.iter().filter_map(|(_, wait)| *wait).max());
        if left.is_empty() || Instant::now() + wait >= until {
            let failures = given_up.into_iter().chain(misses.into_iter().map(|(f, _)| f));
            return Err(conclude(failures.collect(), tries, begun.elapsed()));
        }
        tokio::time::sleep(wait).await;
    }
}

const SLOW_HINT: &str = "see why the server is slow, or raise `deadline` under [fetch]";

/// Exponential, with full jitter, so that a rack that boots together doesn't come back together.
fn wait(tries: u32, told: Option<Duration>) -> Duration {
    let most = FIRST_WAIT.saturating_mul(1 << (tries - 1).min(10)).min(LONGEST_WAIT);
    let jitter = Duration::from_micros(fastrand::u64(0..=most.as_micros() as u64));
    told.map_or(jitter, |told| told + jitter)
}

/// One failure out of those of all servers.
fn conclude(failures: Vec<Failure>, tries: u32, spent: Duration) -> Failure {
    let effort = match tries {
        1 => String::new(),
        n => format!(" ({n} tries in {:.1} s)", spent.as_secs_f64()),
    };
    let worst = failures.iter().find(|f| f.cause == Cause::Verify).or(failures.first());
    let Some(worst) = worst.cloned() else {
        return Failure::config("no server is configured", "set `servers` in provost.toml");
    };
    let messages: Vec<String> = failures.into_iter().map(|f| f.message).collect();
    Failure { message: format!("{}{effort}", messages.join("; ")), ..worst }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(cause: Cause, text: &str) -> Failure {
        Failure::new(cause, text, "hint")
    }

    fn run<T>(
        servers: &[&Url],
        attempt: impl FnMut(usize, &Url) -> Result<T, Miss>,
    ) -> (Result<T, Failure>, Duration) {
        let mut attempt = attempt;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let begun = Instant::now();
            let mut n = 0;
            let result = through(
                servers,
                Limit::seconds(60),
                |_| {},
                |server| {
                    n += 1;
                    std::future::ready(attempt(n, server))
                },
            );
            let result = result.await;
            (result, begun.elapsed())
        })
    }

    #[test]
    fn what_passes_is_tried_again_and_what_does_not_is_not() {
        let [a, b] = ["http://10.0.0.1/", "http://10.0.0.2/"].map(|s| Url::parse(s).unwrap());
        let (served, _) = run(&[&a, &b], |n, server| match (n, server == &a) {
            (1, true) => Err(Miss::last(fail(Cause::Verify, "a is bad"))),
            (_, true) => panic!("a was tried again"),
            (4.., false) => Ok(n),
            (_, false) => Err(Miss::passing(fail(Cause::Fetch, "b is down"), None)),
        });
        assert_eq!(served.unwrap(), 4);
    }

    #[test]
    fn all_is_told_and_no_time_is_spent_where_no_try_would_help() {
        let [a, b] = ["http://10.0.0.1/", "http://10.0.0.2/"].map(|s| Url::parse(s).unwrap());
        let (failed, spent) = run::<()>(&[&a, &b], |n, _| match n {
            1 => Err(Miss::last(fail(Cause::Fetch, "a is gone"))),
            _ => Err(Miss::last(fail(Cause::Verify, "b is bad"))),
        });
        let failed = failed.unwrap_err();
        assert_eq!((failed.cause, failed.message.as_str()), (Cause::Verify, "a is gone; b is bad"));
        assert_eq!(spent, Duration::ZERO);
    }

    #[test]
    fn the_deadline_holds_whatever_the_server_asks_for() {
        let a = Url::parse("http://10.0.0.1/").unwrap();
        for told in [None, Some(Duration::from_secs(3600))] {
            let (failed, spent) =
                run::<()>(&[&a], |_, _| Err(Miss::passing(fail(Cause::Fetch, "down"), told)));
            assert!(failed.unwrap_err().message.starts_with("down"));
            assert!(spent < Duration::from_secs(61), "{spent:?}");
        }
    }
}

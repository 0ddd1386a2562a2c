//! The line of those who were turned away: when each of them may come again.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::listener::retry_slots::{RetrySlots, SOONEST};

/// The latest that a client may come again.
const LATEST: Duration = Duration::from_secs(60);
/// The time between two turns where nothing is known yet. Most turns of a storm are given in its first second. Given too
/// close together, those who come back find no place and go to the end of the line, by then a slow one: 10,000
/// nodes at once took a quarter longer with the shortest time.
const FIRST: Duration = Duration::from_millis(2);
/// The shortest: the requests of a thousand nodes a second can be served on two processors.
const SHORTEST: Duration = Duration::from_millis(1);
/// The longest, where most of those who come back find no place: so many boots a second can be served on one.
const LONGEST: Duration = Duration::from_millis(4);
/// So much sooner than its turn a client may come: it is told in whole seconds.
const EARLY: Duration = Duration::from_secs(1);
/// By which part the time becomes longer for each client that comes back and finds no place, and shorter for each
/// that is let in. Where it is neither the shortest nor the longest, two of three are let in, and no place stays empty
/// for long.
const LONGER: f64 = 0.002;
const SHORTER: f64 = 0.001;
/// To how many connections of an address one turn is given. A node that fetches has two at once, and may report by another
/// one: with a turn for each, those who come last would wait while nobody is served. Many nodes may have one address.
const SHARERS: u32 = 4;
/// So many addresses are remembered, at most.
const MOST_ADDRESSES: usize = 1 << 16;

/// The turns of those who were turned away.
pub(super) struct AdmissionSchedule(Mutex<State>);

struct State {
    turns: RetrySlots,
    /// The time between two.
    apart: Duration,
    /// The last turn of each address, and to how many connections it was given.
    given: HashMap<IpAddr, (Instant, u32)>,
}

impl AdmissionSchedule {
    /// Nobody waits.
    pub(super) fn new() -> Self {
        let (turns, given) = (RetrySlots::new(LATEST), HashMap::new());
        Self(Mutex::new(State { turns, apart: FIRST, given }))
    }

    /// A client at `address` is turned away. Returns after which time its turn is.
    pub(super) fn next(&self, address: IpAddr) -> Duration {
        let (now, mut line) = (Instant::now(), self.state());
        if let Some((turn, sharers)) = line.given.get_mut(&address)
            && *turn >= now + SOONEST
            && *sharers < SHARERS
        {
            *sharers += 1;
            return *turn - now;
        }
        if line.given.remove(&address).is_some_and(|(turn, _)| turn <= now + EARLY) {
            line.apart = line.apart.mul_f64(1.0 + LONGER).min(LONGEST);
        }
        // What the last storm has shown isn't true of the next one.
        if line.turns.empty_for() > LATEST {
            line.apart = FIRST;
        }
        let apart = line.apart;
        let wait = line.turns.next(apart);
        if line.given.len() >= MOST_ADDRESSES {
            line.given.clear();
        }
        line.given.insert(address, (now + wait, 1));
        wait
    }

    /// Whether the turn of a client at `address` has come.
    pub(super) fn has_waited(&self, address: IpAddr) -> bool {
        let now = Instant::now();
        self.state().given.get(&address).is_some_and(|(turn, _)| *turn <= now + EARLY)
    }

    /// A client at `address` is let in.
    pub(super) fn let_in(&self, address: IpAddr) {
        let mut line = self.state();
        if line.given.remove(&address).is_some() {
            line.apart = line.apart.mul_f64(1.0 - SHORTER).max(SHORTEST);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn address(n: u32) -> IpAddr {
        IpAddr::V4(n.into())
    }

    #[tokio::test(start_paused = true)]
    async fn turns_follow_each_other_and_are_free_again_when_their_time_has_come() {
        let line = AdmissionSchedule::new();
        let waits: Vec<u64> = (0..5000).map(|n| line.next(address(n)).as_secs()).collect();
        assert_eq!((waits[0], waits[2500], waits[4999]), (1, 6, 11));
        advance(Duration::from_secs(60)).await;
        assert_eq!(line.next(address(9999)).as_secs(), 1);
        let longest = (0..200_000).map(|n| line.next(address(n))).max().unwrap();
        assert!(longest <= LATEST + LONGEST, "{longest:?}");
        assert!(line.state().given.len() <= MOST_ADDRESSES);
    }

    #[tokio::test(start_paused = true)]
    async fn connections_of_an_address_share_a_turn_up_to_four_of_them() {
        let line = AdmissionSchedule::new();
        for node in 0..5000 {
            let waits: Vec<_> = (0..3).map(|_| line.next(address(node))).collect();
            assert!(waits.iter().all(|wait| *wait == waits[0]), "{waits:?}");
        }
        assert_eq!(line.next(address(4999)).as_secs(), 11);
        let shared: Vec<_> = (0..4000).map(|_| line.next(address(9999)).as_secs()).collect();
        assert_eq!((shared[0], shared[3999]), (11, 13), "a thousand turns");
    }

    #[tokio::test(start_paused = true)]
    async fn the_line_goes_as_fast_as_those_in_it_are_let_in() {
        let line = AdmissionSchedule::new();
        let come = |let_in: fn(u32) -> bool| {
            for node in 0..200 {
                if let_in(node) {
                    line.let_in(address(node));
                }
                line.next(address(node));
            }
            line.state().apart
        };
        come(|_| false);
        advance(LATEST).await;
        let slow = come(|_| false);
        assert!(slow > FIRST && slow < LONGEST, "{slow:?}");
        advance(LATEST).await;
        let steady = come(|node| node % 3 > 0);
        assert!(steady.abs_diff(slow) < slow / 50, "{steady:?}");
        advance(LATEST).await;
        assert!(come(|_| true) < slow.mul_f64(0.85));
        advance(2 * LATEST).await;
        line.next(address(9999));
        assert_eq!(line.state().apart, FIRST, "in the next storm");
    }
}

//! The line of those who were turned away: when each of them may come again.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::listener::retry_slots::{RetrySlots, SOONEST};

/// The latest that a client may come again.
const LATEST: Duration = Duration::from_secs(60);
/// The time between two turns: so many a second are served on two processors. Given closer together, those who come back
/// find no place and go to the end of the line. Where it followed how many were let in, 10,000 nodes at once were done no
/// sooner.
const TURN: Duration = Duration::from_millis(2);
/// To how many connections of an address one turn is given. A node that fetches has two at once, and may report by another
/// one: with a turn for each, those who come last would wait while nobody is served. Many nodes may have one address.
const SHARERS: u32 = 4;
/// So many addresses are remembered, at most.
const MOST_ADDRESSES: usize = 1 << 16;

/// The turns of those who were turned away.
pub(super) struct AdmissionSchedule(Mutex<State>);

struct State {
    turns: RetrySlots,
    /// The last turn of each address, and to how many connections it was given.
    given: HashMap<IpAddr, (Instant, u32)>,
}

impl AdmissionSchedule {
    /// Nobody waits.
    pub(super) fn new() -> Self {
        let (turns, given) = (RetrySlots::new(LATEST), HashMap::new());
        Self(Mutex::new(State { turns, given }))
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
        let wait = line.turns.next(TURN);
        if line.given.len() >= MOST_ADDRESSES {
            line.given.clear();
        }
        line.given.insert(address, (now + wait, 1));
        wait
    }

    /// A client at `address` is let in.
    pub(super) fn let_in(&self, address: IpAddr) {
        self.state().given.remove(&address);
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
        assert!(longest <= LATEST + TURN, "{longest:?}");
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
}

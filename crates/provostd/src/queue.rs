//! Clients for whom there is no place now. Each is refused at once, with a time to come again: one after
//! the other, instead of all of them in a connect that times out. Who was let in has its place until it is
//! done: many that all have got halfway would be none that boots.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::refusal::Refusal;

/// How long telling one may take.
const TELLING: Duration = Duration::from_secs(5);
/// The time between the turns of two clients: 250 nodes a second can boot on two processors.
const TURN: Duration = Duration::from_millis(4);
/// So many connections of an address have one turn: a node opens several at once. Of an address that many
/// nodes share, the others have turns of their own.
const OF_ONE: u32 = 8;
/// The soonest that a client may come again, and the latest: a queue that is longer begins anew.
const SOONEST: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(60);
/// For how long an address that was let in goes before others, at least; at most twice as long.
const GOES_ON: Duration = Duration::from_secs(30);
/// So many addresses are remembered at most, of each kind.
const MOST: usize = 100_000;

/// The turns of those who were turned away.
pub(crate) struct Queue {
    turns: Mutex<Turns>,
    /// How many are told at once. What is more is closed without an answer.
    telling: Arc<Semaphore>,
}

struct Turns {
    /// When the next of them may come.
    next: Instant,
    waiting: HashMap<IpAddr, Turn>,
    /// Who was let in, since when, and who was let in before that.
    inside: HashSet<IpAddr>,
    since: Instant,
    before: HashSet<IpAddr>,
}

struct Turn {
    at: Instant,
    connections: u32,
}

impl Queue {
    /// That of a listener with so many places.
    pub(crate) fn new(places: usize) -> Self {
        let now = Instant::now();
        let (waiting, inside, before) = Default::default();
        let turns = Turns { next: now, waiting, inside, since: now, before };
        // Each has a file descriptor that its place would use for a file.
        let telling = Arc::new(Semaphore::new(places.div_ceil(2)));
        Self { turns: Mutex::new(turns), telling }
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a client may have one of the `free` places, of so many in all: anybody while half of them
    /// are free, then those whose turn has come; the last eighth is for those who were let in before.
    pub(crate) fn lets_in(&self, address: IpAddr, free: usize, all: usize) -> bool {
        let now = Instant::now();
        let mut turns = self.turns();
        let is_inside = turns.inside.contains(&address) || turns.before.contains(&address);
        let is_due = turns.waiting.get(&address).is_some_and(|turn| turn.at <= now);
        let may = is_inside || free > all / 2 || is_due && free > all / 8;
        if may {
            turns.let_in(address, now);
        }
        may
    }

    /// Tells the client of `io` when to come again.
    pub(crate) fn turn_away<S>(&self, io: S, address: IpAddr)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Ok(permit) = Arc::clone(&self.telling).try_acquire_owned() else { return };
        let wait = self.turns().wait(address);
        tokio::spawn(async move {
            let refuse = move |_: Request<Incoming>| async move { Ok::<_, Infallible>(busy(wait)) };
            let serving = http1::Builder::new()
                .keep_alive(false)
                .serve_connection(TokioIo::new(io), service_fn(refuse));
            // A client that goes away doesn't need it.
            let _ = timeout(TELLING, serving).await;
            drop(permit);
        });
    }
}

impl Turns {
    fn let_in(&mut self, address: IpAddr, now: Instant) {
        self.waiting.remove(&address);
        if now > self.since + GOES_ON || self.inside.len() >= MOST {
            self.before = std::mem::take(&mut self.inside);
            self.since = now;
        }
        self.inside.insert(address);
    }

    /// Takes the next turn, or that which the address has.
    fn wait(&mut self, address: IpAddr) -> Duration {
        let now = Instant::now();
        if self.next < now || self.next > now + LATEST - SOONEST {
            self.next = now;
        }
        if let Some(turn) = self.waiting.get_mut(&address)
            && turn.at > now
            && turn.connections < OF_ONE
        {
            turn.connections += 1;
            // Rounded up, so that it isn't too early by a part of a second.
            return Duration::from_secs((turn.at - now).as_secs_f64().ceil() as u64);
        }
        self.next += TURN;
        // The answer has whole seconds: the turn has come when they are over.
        let wait = Duration::from_secs((SOONEST + (self.next - now)).as_secs());
        if self.waiting.len() >= MOST {
            self.waiting.retain(|_, turn| turn.at > now);
        }
        if self.waiting.len() < MOST {
            self.waiting.insert(address, Turn { at: now + wait, connections: 1 });
        }
        wait
    }
}

fn busy(wait: Duration) -> Response<Body> {
    let error = "all connections are in use";
    let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error, "try again later");
    // Not by its own answer, which is logged: thousands are usual after a power cut.
    let mut response = refusal.quietly();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs()));
    response
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn address(n: u32) -> IpAddr {
        Ipv4Addr::from_bits(n).into()
    }

    fn wait(queue: &Queue, n: u32) -> u64 {
        queue.turns().wait(address(n)).as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn turns_follow_each_other_and_are_free_again_when_their_time_has_come() {
        let queue = Queue::new(9);
        let waits: Vec<u64> = (0..1250).map(|n| wait(&queue, n)).collect();
        assert_eq!((waits[0], waits[625], waits[1249]), (1, 3, 6));
        assert_eq!(wait(&queue, 1249), 6, "another connection of the same node");
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(wait(&queue, 0), 1);
        let longest = (0..100_000).map(|n| wait(&queue, n)).max().unwrap();
        assert!(longest <= LATEST.as_secs(), "{longest:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn nodes_of_one_address_have_a_turn_each_about() {
        let queue = Queue::new(9);
        let waits: Vec<u64> = (0..8 * 1250).map(|_| wait(&queue, 7)).collect();
        assert_eq!((waits[0], *waits.last().unwrap()), (1, 6));
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_in_goes_on_and_who_has_waited_goes_before_who_has_not() {
        let queue = Queue::new(16);
        let [inside, waiting, newcomer] = [1, 2, 3].map(address);
        assert!(queue.lets_in(inside, 9, 16));
        assert!(!queue.lets_in(waiting, 8, 16));
        let wait = queue.turns().wait(waiting);
        assert!(!queue.lets_in(waiting, 8, 16), "its turn hasn't come");
        tokio::time::advance(wait).await;
        assert!(!queue.lets_in(newcomer, 8, 16) && !queue.lets_in(waiting, 2, 16));
        assert!(queue.lets_in(waiting, 8, 16) && queue.lets_in(inside, 0, 16));
        tokio::time::advance(GOES_ON + SOONEST).await;
        assert!(queue.lets_in(newcomer, 16, 16) && queue.lets_in(inside, 0, 16));
        tokio::time::advance(GOES_ON + SOONEST).await;
        assert!(queue.lets_in(newcomer, 0, 16));
        assert!(!queue.lets_in(waiting, 0, 16), "it has been quiet for long");
    }
}

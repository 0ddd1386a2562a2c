//! The connections that are open, and which of them makes room for another one.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::time::Instant;

/// After which time without a request a connection may be closed to make room for another address: a node closes it
/// sooner by itself.
pub(super) const SILENCE: Duration = Duration::from_secs(3);
/// The same of a connection that has had none yet: while thousands come at once, its request may be here and not yet
/// read for so long. A node gives up after 15 s.
pub(super) const FIRST_SILENCE: Duration = Duration::from_secs(10);
/// How often all connections are gone through for those that are silent, at most.
const SEARCH: Duration = Duration::from_millis(100);

/// The oldest come first: their numbers grow.
#[derive(Default)]
pub(super) struct Open {
    pub(super) next: u64,
    pub(super) anonymous: HashMap<IpAddr, BTreeMap<u64, Arc<State>>>,
    pub(super) known: BTreeMap<u64, Arc<State>>,
    /// Those that were silent when all were gone through, by address if they had no token. The first to make room
    /// come last.
    silent: Vec<(Option<IpAddr>, u64)>,
    /// When all were gone through.
    searched: Option<Instant>,
}

pub(super) struct State {
    /// Requests whose answers aren't complete.
    requests: AtomicUsize,
    /// When it becomes silent, unless another one comes.
    silent_from: Mutex<Instant>,
    /// Its place, until it makes room for another one.
    place: Mutex<Option<OwnedSemaphorePermit>>,
    pub(super) close: Notify,
}

impl State {
    pub(super) fn new(place: OwnedSemaphorePermit) -> Self {
        let silent_from = Mutex::new(Instant::now() + FIRST_SILENCE);
        let place = Mutex::new(Some(place));
        Self { requests: AtomicUsize::new(0), silent_from, place, close: Notify::new() }
    }

    /// Closes the connection. Its place is another one's at once: who comes next doesn't wait for its end.
    pub(super) fn give_up(&self) -> Option<OwnedSemaphorePermit> {
        self.close.notify_one();
        self.place.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn begin_request(&self) {
        self.requests.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn end_request(&self) {
        let from = Instant::now() + SILENCE;
        *self.silent_from.lock().unwrap_or_else(PoisonError::into_inner) = from;
        self.requests.fetch_sub(1, Ordering::SeqCst);
    }

    fn is_idle(&self) -> bool {
        self.requests.load(Ordering::SeqCst) == 0
    }

    /// Whether it has been idle for so long that no request is on its way.
    fn is_silent(&self, now: Instant) -> bool {
        let from = || *self.silent_from.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_idle() && now >= from()
    }
}

impl Open {
    /// Removes the oldest idle connection of an address.
    pub(super) fn oldest_idle(&mut self, address: IpAddr) -> Option<Arc<State>> {
        let of_address = self.anonymous.get_mut(&address)?;
        let oldest =
            of_address.iter().find(|(_, state)| state.is_idle()).map(|(number, _)| *number);
        of_address.remove(&oldest?)
    }

    /// Removes a connection that has been silent, to make room for another one: the oldest of the address
    /// that has the most without a token, else the oldest that had one.
    pub(super) fn silent(&mut self) -> Option<Arc<State>> {
        let now = Instant::now();
        loop {
            while let Some((address, number)) = self.silent.pop() {
                let states = match address {
                    Some(address) => self.anonymous.get_mut(&address),
                    None => Some(&mut self.known),
                };
                // It may be gone, or have had a request since.
                if let Some(states) = states
                    && states.get(&number).is_some_and(|state| state.is_silent(now))
                {
                    return states.remove(&number);
                }
            }
            if self.searched.is_some_and(|at| now < at + SEARCH) {
                return None;
            }
            self.search(now);
        }
    }

    /// Goes through all connections for those that are silent.
    fn search(&mut self, now: Instant) {
        let of = |address: Option<IpAddr>, states: &BTreeMap<u64, Arc<State>>| {
            let silent = states.iter().rev().filter(|(_, state)| state.is_silent(now));
            silent.map(|(number, _)| (address, *number)).collect::<Vec<_>>()
        };
        let mut anonymous: Vec<_> = self.anonymous.iter().collect();
        anonymous.sort_by_key(|(_, states)| states.len());
        let anonymous =
            anonymous.into_iter().flat_map(|(address, states)| of(Some(*address), states));
        self.silent = of(None, &self.known);
        self.silent.extend(anonymous);
        self.searched = Some(now);
    }

    /// Whether it was there.
    pub(super) fn remove_anonymous(&mut self, address: IpAddr, number: u64) -> bool {
        let Some(of_address) = self.anonymous.get_mut(&address) else { return false };
        let was_there = of_address.remove(&number).is_some();
        if of_address.is_empty() {
            self.anonymous.remove(&address);
        }
        was_there
    }
}

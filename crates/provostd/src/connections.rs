//! The connections of one listener. A client that leaves its connections idle, or opens thousands of
//! them, closes the listener for nobody else.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use provost_store::KeyDigest;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::client_address::{ClientAddress, ClientKey};

/// After which time without a request a connection may be closed to make room for another address: a node closes it
/// sooner by itself.
const SILENCE: Duration = Duration::from_secs(3);
/// The same of a connection that has had none yet: while thousands come at once, its request may be here and not yet
/// read for so long. A node gives up after 15 s.
const FIRST_SILENCE: Duration = Duration::from_secs(10);
/// How often all connections are gone through for one that is idle.
const SEARCH: Duration = Duration::from_millis(100);

/// How many connections a listener serves at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// From all clients together.
    pub(crate) all: usize,
    /// From one address, of those that have sent no token yet. A connection whose request had a
    /// valid one counts no more: ten thousand nodes may be behind one address.
    pub(crate) anonymous_of_address: usize,
}

impl ConnectionLimits {
    /// One address may have an eighth of the connections without a token.
    pub(crate) const fn shared(all: usize) -> Self {
        Self { all, anonymous_of_address: all.div_ceil(8) }
    }

    /// One address may have all of them.
    pub(crate) const fn whole(all: usize) -> Self {
        Self { all, anonymous_of_address: all }
    }
}

/// The open connections of one listener.
pub(crate) struct Connections {
    limits: ConnectionLimits,
    free: Arc<Semaphore>,
    open: Mutex<Open>,
}

/// The oldest come first: their numbers grow.
#[derive(Default)]
struct Open {
    next: u64,
    anonymous: HashMap<IpAddr, BTreeMap<u64, Arc<State>>>,
    known: BTreeMap<u64, Arc<State>>,
    /// Until then no connection becomes idle: all were gone through.
    none_idle_until: Option<Instant>,
}

struct State {
    /// Requests whose answers aren't complete.
    requests: AtomicUsize,
    /// When it becomes silent, unless another one comes.
    silent_from: Mutex<Instant>,
    /// Its place, until it makes room for another one.
    place: Mutex<Option<OwnedSemaphorePermit>>,
    close: Notify,
}

impl State {
    fn new(place: OwnedSemaphorePermit) -> Self {
        let silent_from = Mutex::new(Instant::now() + FIRST_SILENCE);
        let place = Mutex::new(Some(place));
        Self { requests: AtomicUsize::new(0), silent_from, place, close: Notify::new() }
    }

    /// Closes the connection. Its place is another one's at once: who comes next doesn't wait for its end.
    fn give_up(&self) -> Option<OwnedSemaphorePermit> {
        self.close.notify_one();
        self.place.lock().unwrap_or_else(PoisonError::into_inner).take()
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

/// An open connection, until it is dropped.
pub(crate) struct Connection {
    table: Arc<Connections>,
    address: IpAddr,
    number: u64,
    state: Arc<State>,
    is_private: bool,
    user: Option<u32>,
    key: ClientKey,
}

/// A request whose answer isn't complete.
pub(crate) struct RunningRequest(Arc<State>);

impl Connections {
    pub(crate) fn new(limits: ConnectionLimits) -> Self {
        let free = Arc::new(Semaphore::new(limits.all));
        Self { limits, free, open: Mutex::default() }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether few places are left: fewer than a quarter.
    pub(crate) fn is_crowded(&self) -> bool {
        self.free.available_permits() < self.limits.all / 4
    }

    /// Adds a connection. At its address's limit it takes the place of the oldest idle connection of that
    /// address; without a free place, that of a silent one. If there is none, there is no room.
    pub(crate) fn add(self: &Arc<Self>, client: &impl ClientAddress) -> Option<Connection> {
        let (address, is_private) = (client.ip(), client.is_private());
        let (user, key) = (client.user(), client.key());
        let mut open = self.open();
        let of_address = open.anonymous.get(&address).map_or(0, BTreeMap::len);
        let place = match of_address < self.limits.anonymous_of_address {
            true => self.place(&mut open)?,
            false => open.oldest_idle(address)?.give_up()?,
        };
        let number = open.next;
        open.next += 1;
        let state = Arc::new(State::new(place));
        open.anonymous.entry(address).or_default().insert(number, Arc::clone(&state));
        let table = Arc::clone(self);
        Some(Connection { table, address, number, state, is_private, user, key })
    }

    /// A free place, or that of a silent connection.
    fn place(&self, open: &mut Open) -> Option<OwnedSemaphorePermit> {
        let free = Arc::clone(&self.free).try_acquire_owned();
        free.ok().or_else(|| open.silent()?.give_up())
    }
}

impl Connection {
    /// Its client's address.
    pub(crate) fn address(&self) -> IpAddr {
        self.address
    }

    /// Whether nobody in between can read or change what it says.
    pub(crate) fn is_private(&self) -> bool {
        self.is_private
    }

    /// The id of the user of this machine who is the client, if that is known.
    pub(crate) fn user(&self) -> Option<u32> {
        self.user
    }

    /// The key that its client has proved to have.
    pub(crate) fn key(&self) -> Option<KeyDigest> {
        self.key.get().copied()
    }

    /// A request on it has had a valid token, or came from a node's key.
    pub(crate) fn has_token(&self) {
        let mut open = self.table.open();
        if open.remove_anonymous(self.address, self.number) {
            open.known.insert(self.number, Arc::clone(&self.state));
        }
    }

    /// A request begins. The connection isn't idle until what this returns is dropped.
    pub(crate) fn begin_request(&self) -> RunningRequest {
        self.state.requests.fetch_add(1, Ordering::SeqCst);
        RunningRequest(Arc::clone(&self.state))
    }

    /// Waits until the connection must make room for another one.
    pub(crate) async fn must_close(&self) {
        self.state.close.notified().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut open = self.table.open();
        open.remove_anonymous(self.address, self.number);
        open.known.remove(&self.number);
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        let from = Instant::now() + SILENCE;
        *self.0.silent_from.lock().unwrap_or_else(PoisonError::into_inner) = from;
        self.0.requests.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Open {
    /// Removes the oldest idle connection of an address.
    fn oldest_idle(&mut self, address: IpAddr) -> Option<Arc<State>> {
        let of_address = self.anonymous.get_mut(&address)?;
        let oldest =
            of_address.iter().find(|(_, state)| state.is_idle()).map(|(number, _)| *number);
        of_address.remove(&oldest?)
    }

    /// Removes a connection that has been silent, to make room for another one: the oldest of the address
    /// that has the most without a token, else the oldest that had one.
    fn silent(&mut self) -> Option<Arc<State>> {
        let Open { anonymous, known, none_idle_until, .. } = self;
        let now = Instant::now();
        if none_idle_until.is_some_and(|until| now < until) {
            return None;
        }
        let first_silent = |states: &BTreeMap<u64, Arc<State>>| {
            states.iter().find(|(_, state)| state.is_silent(now)).map(|(number, _)| *number)
        };
        let silent =
            anonymous.values_mut().filter_map(|states| Some((first_silent(states)?, states)));
        let most = silent.max_by_key(|(_, states)| states.len());
        let victim = most.or_else(|| Some((first_silent(known)?, known)));
        let victim = victim.and_then(|(number, states)| states.remove(&number));
        *none_idle_until = victim.is_none().then(|| now + SEARCH);
        victim
    }

    /// Whether it was there.
    fn remove_anonymous(&mut self, address: IpAddr, number: u64) -> bool {
        let Some(of_address) = self.anonymous.get_mut(&address) else { return false };
        let was_there = of_address.remove(&number).is_some();
        if of_address.is_empty() {
            self.anonymous.remove(&address);
        }
        was_there
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use futures_util::FutureExt;
    use tokio::time::advance;

    use super::*;

    const LIMITS: ConnectionLimits = ConnectionLimits { all: 9, anonymous_of_address: 2 };
    const HERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);
    const THERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 1);

    fn must_close(connection: &Connection) -> bool {
        connection.must_close().now_or_never().is_some()
    }

    #[tokio::test(start_paused = true)]
    async fn at_its_limit_an_address_loses_its_oldest_idle_connection() {
        let table = Arc::new(Connections::new(LIMITS));
        let add = |address: SocketAddr| table.add(&address);
        let [first, second] = [add(HERE).unwrap(), add(HERE).unwrap()];
        let running = first.begin_request();
        let third = add(HERE).unwrap();
        assert!(must_close(&second) && !must_close(&first), "the oldest that is idle");
        let busy = third.begin_request();
        assert!(add(HERE).is_none() && add(THERE).is_some(), "all of them are busy");
        drop((running, busy));
        assert!(add(HERE).is_some() && must_close(&first));
        drop((first, second, third));
        assert!(table.open.lock().unwrap().anonymous.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_with_a_token_takes_no_room_of_its_address_and_is_closed_last() {
        let table = Arc::new(Connections::new(ConnectionLimits { all: 4, ..LIMITS }));
        let add = |address: SocketAddr| table.add(&address);
        let stranger = |n: u8| add(SocketAddr::from(([10, 0, 1, n], 1)));
        let node = add(HERE).unwrap();
        node.has_token();
        let others = [add(HERE).unwrap(), add(HERE).unwrap()];
        let third = add(THERE).unwrap();
        assert!(add(THERE).is_none(), "the requests of all may be on their way");
        assert!(table.is_crowded());
        advance(FIRST_SILENCE).await;
        let fourth = add(THERE).unwrap();
        assert!(must_close(&others[0]), "its address has the most");
        let more = [stranger(2), stranger(3)];
        assert!(must_close(&others[1]) && must_close(&third) && !must_close(&node));
        let last = stranger(4).unwrap();
        assert!(must_close(&node));
        assert!(stranger(5).is_none(), "the others have just come");
        drop((fourth, more, last));
        assert!(!table.is_crowded());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_whose_first_request_may_wait_to_be_read_is_kept_for_longer() {
        let table = Arc::new(Connections::new(ConnectionLimits { all: 2, ..LIMITS }));
        let stranger = |n: u8| table.add(&SocketAddr::from(([10, 0, 1, n], 1)));
        let (used, fresh) = (stranger(1).unwrap(), stranger(2).unwrap());
        drop(used.begin_request());
        advance(SILENCE).await;
        let third = stranger(3).unwrap();
        assert!(must_close(&used) && stranger(4).is_none());
        advance(FIRST_SILENCE - SILENCE).await;
        assert!(stranger(5).is_some() && must_close(&fresh) && !must_close(&third));
        drop(third);
    }
}

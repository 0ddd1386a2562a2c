//! The connections of a listener, or of several that share their places. A client that leaves its connections idle, or
//! opens thousands of them, closes the listener for nobody else.

pub(crate) mod admission_schedule;
pub(crate) mod open;
pub(crate) mod queue;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use provost_store::KeyDigest;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::client_address::{ClientAddress, ClientKey};
use admission_schedule::AdmissionSchedule;
use open::{Open, State};
use queue::Queue;

/// How many connections are served at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// From all clients together.
    pub(crate) all: usize,
    /// Of clients without a place, who are told when to come again.
    pub(crate) told: usize,
    /// From one address, of those that have sent no token yet. A connection whose request had a
    /// valid one counts no more: ten thousand nodes may be behind one address.
    pub(crate) anonymous_of_address: usize,
}

impl ConnectionLimits {
    /// One address may have an eighth of the connections without a token.
    pub(crate) const fn shared(all: usize, told: usize) -> Self {
        Self { all, told, anonymous_of_address: all.div_ceil(8) }
    }

    /// One address may have all of them.
    pub(crate) const fn whole(all: usize) -> Self {
        Self { all, told: all, anonymous_of_address: all }
    }
}

/// The open connections, and those for whom there is no place.
pub(crate) struct Connections {
    limits: ConnectionLimits,
    free: Arc<Semaphore>,
    open: Mutex<Open>,
    /// The turns of those who were turned away.
    line: AdmissionSchedule,
    queue: tokio::sync::Mutex<Queue>,
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
    /// None yet, and never more than `limits` say.
    pub(crate) fn within(limits: ConnectionLimits) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(limits.all));
        let queue = tokio::sync::Mutex::new(Queue::new(limits.told));
        Arc::new(Self {
            limits,
            free,
            open: Mutex::default(),
            line: AdmissionSchedule::new(),
            queue,
        })
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
        self.line.let_in(address);
        let number = open.next;
        open.next += 1;
        let state = Arc::new(State::new(place));
        open.anonymous.entry(address).or_default().insert(number, Arc::clone(&state));
        let table = Arc::clone(self);
        Some(Connection { table, address, number, state, is_private, user, key })
    }

    /// Tells a client without a place when to come again, in a task of its own. Returns when the next one may be told.
    pub(crate) async fn turn_away<S>(&self, client: &impl ClientAddress, io: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let wait = self.line.next(client.ip());
        self.queue.lock().await.turn_away(wait, io).await;
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
        self.state.begin_request();
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
        self.0.end_request();
    }
}

#[cfg(test)]
mod tests;

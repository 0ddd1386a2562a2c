use std::io::{self, BufReader};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::Duration;

use super::behind::Behind;
use super::deed;
use super::rules::Rules;
use super::{Answer, Fault, Request, Times};

/// A server that goes wrong as it is told, and right where it isn't told.
pub struct Faulty {
    inner: Arc<Inner>,
    address: String,
}

/// One request, and what became of it.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// What was asked.
    pub request: Request,
    /// What went wrong.
    pub fault: Option<Fault>,
    /// The right answer, where one was found; the other side has got it if nothing went wrong.
    pub answer: Option<Answer>,
}

struct Inner {
    behind: Behind,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    listener: Option<Arc<TcpListener>>,
    rules: Rules,
    exchanges: Vec<Exchange>,
    connections: Vec<Weak<TcpStream>>,
}

impl Faulty {
    /// In front of the server at `address`.
    pub fn before(address: impl Into<String>) -> Self {
        Self::new(Behind::Server(address.into()))
    }

    /// In front of the server at `address`, as a proxy that drops the headers which it doesn't know: signatures
    /// come by their own paths.
    pub fn proxy(address: impl Into<String>) -> Self {
        Self::new(Behind::Proxied(address.into()))
    }

    /// With the files of `folder`, as a plain web server.
    pub fn of(folder: impl AsRef<Path>) -> Self {
        Self::new(Behind::Folder(folder.as_ref().to_owned()))
    }

    /// With the files of `folder`, as a plain web server that passes reports on to `address`.
    pub fn cache(folder: impl AsRef<Path>, address: impl Into<String>) -> Self {
        Self::new(Behind::Cache(folder.as_ref().to_owned(), address.into()))
    }

    /// With the answers of a function.
    pub fn answering(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self::new(Behind::Function(Box::new(answer)))
    }

    fn new(behind: Behind) -> Self {
        let inner = Inner { behind, state: Mutex::default(), changed: Condvar::new() };
        let mut server = Self { inner: Arc::new(inner), address: "127.0.0.1:0".to_owned() };
        server.accept();
        let state = server.inner.state();
        server.address = state.listener.as_ref().unwrap().local_addr().unwrap().to_string();
        drop(state);
        server
    }

    /// Where it is, `ADDRESS:PORT`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Lets `fault` happen to requests for `path`, or below it, if it ends with a slash.
    pub fn fault(&self, path: &str, times: Times, fault: Fault) -> &Self {
        self.inner.state().rules.add(path, times, fault);
        self
    }

    /// Nothing goes wrong any more. Clients that wait for an answer are cut off.
    pub fn repair(&self) {
        let mut state = self.inner.state();
        state.rules.clear();
        state.cut_off();
    }

    /// Refuses connections, and ends those that there are.
    pub fn refuse(&self) {
        let mut state = self.inner.state();
        let Some(listener) = state.listener.take() else { return };
        rustix::net::shutdown(&*listener, rustix::net::Shutdown::Both).unwrap();
        state.cut_off();
        // The thread has it, too, and lets it go before it ends.
        drop(self.inner.changed.wait_while(state, |_| Arc::strong_count(&listener) > 1).unwrap());
    }

    /// Accepts connections, again if it has refused them.
    pub fn accept(&self) {
        let mut state = self.inner.state();
        if state.listener.is_some() {
            return;
        }
        let listener = Arc::new(TcpListener::bind(&self.address).unwrap());
        state.listener = Some(Arc::clone(&listener));
        let inner = Arc::clone(&self.inner);
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                stream.set_nodelay(true).unwrap();
                let stream = Arc::new(stream);
                let mut state = inner.state();
                state.connections.retain(|connection| connection.strong_count() > 0);
                state.connections.push(Arc::downgrade(&stream));
                drop(state);
                let inner = Arc::clone(&inner);
                // The other side learns of what goes wrong, intended or not.
                std::thread::spawn(move || inner.serve(&stream));
            }
            drop(listener);
            let _state = inner.state();
            inner.changed.notify_all();
        });
    }

    /// What was asked so far, in the order in which it came, and what became of it.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.inner.state().exchanges.clone()
    }

    /// What was asked so far for this path.
    pub fn asked(&self, path: &str) -> usize {
        self.inner.state().exchanges.iter().filter(|e| e.request.path == path).count()
    }

    /// Waits until `holds` is true of what was asked. Says whether it came to that within `limit`.
    pub fn until(&self, limit: Duration, mut holds: impl FnMut(&[Exchange]) -> bool) -> bool {
        let state = self.inner.state();
        let not_yet = |state: &mut State| !holds(&state.exchanges);
        let (_state, waited) =
            self.inner.changed.wait_timeout_while(state, limit, not_yet).unwrap();
        !waited.timed_out()
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        self.refuse();
    }
}

impl State {
    fn cut_off(&mut self) {
        for connection in self.connections.drain(..).filter_map(|c| c.upgrade()) {
            // It may have ended already.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream);
        while let Some(request) = Request::read(&mut reader)? {
            let mut state = self.state();
            let fault = state.rules.next(&request.path);
            let at = state.exchanges.len();
            let exchange = Exchange { request, fault, answer: None };
            state.exchanges.push(exchange.clone());
            drop(state);
            self.changed.notify_all();
            let Exchange { request, fault, .. } = exchange;
            let done = deed::answer(stream, &request, fault.as_ref(), &self.behind)?;
            self.state().exchanges[at].answer = done.right;
            self.changed.notify_all();
            if !done.goes_on {
                break;
            }
        }
        Ok(())
    }
}

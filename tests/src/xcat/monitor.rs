//! xCAT's install monitor, TCP 3002.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket, sockopt};

/// How long the monitor waits for a node's line before it turns to the next node, as xCAT's does.
const LINE: Duration = Duration::from_secs(2);

/// It serves one node after the other, and has bad habits.
pub struct Monitor {
    inner: Arc<Inner>,
    port: u16,
    /// Has the port while nobody listens there, so that nobody else gets it.
    _keeper: OwnedFd,
}

/// What it does with a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// It greets, reads a line, says `done`.
    Right,
    /// It says nothing, and stays.
    Silent,
    /// It closes, as to an address without a name.
    Closes,
    /// It greets, and closes.
    Leaves,
    /// It greets, reads, and never says `done`.
    Forgets,
    /// It says something else, without end.
    Garbage,
    /// It greets a letter now and then, and never comes to the end.
    Trickles,
    /// It greets, reads, and says `done` late.
    Late,
}

struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    habit: Habit,
    said: Vec<String>,
    visits: usize,
    listens: bool,
}

impl Monitor {
    /// Starts one at a free port of the loopback.
    pub fn start(habit: Habit) -> Self {
        let keeper = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        sockopt::set_socket_reuseaddr(&keeper, true).unwrap();
        bind(&keeper, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = SocketAddr::try_from(getsockname(&keeper).unwrap()).unwrap().port();
        let state = State { habit, said: Vec::new(), visits: 0, listens: true };
        let inner = Arc::new(Inner { state: Mutex::new(state), changed: Condvar::new() });
        let monitor = Self { inner, port, _keeper: keeper };
        monitor.serve();
        monitor
    }

    /// One that nobody can connect to, until it [listens](Self::listen).
    pub fn refusing() -> Self {
        let monitor = Self::start(Habit::Right);
        monitor.refuse();
        monitor
    }

    fn serve(&self) {
        let listener = TcpListener::bind(("127.0.0.1", self.port)).unwrap();
        let inner = Arc::clone(&self.inner);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if !inner.lock().listens {
                    return;
                }
                // A client may go at any time.
                let _ = inner.visit(&stream);
            }
        });
    }

    /// Closes the port.
    pub fn refuse(&self) {
        self.inner.change(|state| state.listens = false);
        // The thread looks when somebody comes, and drops the listener then.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        let gone = || TcpStream::connect(("127.0.0.1", self.port)).is_err();
        assert!(crate::processes::until(Duration::from_secs(20), gone), "it listens still");
    }

    /// Opens the port again.
    pub fn listen(&self) {
        self.inner.change(|state| state.listens = true);
        self.serve();
    }

    /// Where it is.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Changes its habit, and releases whom it holds.
    pub fn behave(&self, habit: Habit) {
        self.inner.change(|state| state.habit = habit);
    }

    /// Has it no bad habit any more.
    pub fn repair(&self) {
        self.behave(Habit::Right);
    }

    /// What it was told, in order.
    pub fn said(&self) -> Vec<String> {
        self.inner.lock().said.clone()
    }

    /// Waits until it was told `words`.
    #[track_caller]
    pub fn hears(&self, words: &str) {
        self.wait(|state| state.said.iter().any(|said| said == words));
    }

    /// Waits until it was told as often as this.
    #[track_caller]
    pub fn hears_so_much(&self, times: usize) {
        self.wait(|state| state.said.len() >= times);
    }

    /// Waits until somebody has come.
    #[track_caller]
    pub fn is_visited(&self) {
        self.wait(|state| state.visits > 0);
    }

    #[track_caller]
    fn wait(&self, holds: impl Fn(&State) -> bool) {
        let (state, limit) = (self.inner.lock(), Duration::from_secs(60));
        let waited = self.inner.changed.wait_timeout_while(state, limit, |state| !holds(state));
        let (state, out) = waited.unwrap();
        assert!(!out.timed_out(), "{:?} heard only {:?}", state.habit, state.said);
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.inner.change(|state| {
            state.listens = false;
            state.habit = Habit::Closes;
        });
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn visit(&self, mut stream: &TcpStream) -> std::io::Result<()> {
        self.change(|state| state.visits += 1);
        let habit = self.lock().habit;
        match habit {
            Habit::Closes => return Ok(()),
            Habit::Silent => {
                self.stay(habit, || Ok(()));
                return Ok(());
            }
            Habit::Trickles => {
                self.stay(habit, || stream.write_all(b"r"));
                return Ok(());
            }
            Habit::Garbage => {
                self.stay(habit, || stream.write_all(b"HTTP/1.1 400 Bad Request \x1b[31m\0"));
                return Ok(());
            }
            Habit::Right | Habit::Leaves | Habit::Forgets | Habit::Late => {}
        }
        stream.write_all(b"ready\n")?;
        if habit == Habit::Leaves {
            return Ok(());
        }
        stream.set_read_timeout(Some(LINE))?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line)?;
        match habit {
            Habit::Forgets => return Ok(()),
            Habit::Late => std::thread::sleep(LINE),
            _ => {}
        }
        stream.write_all(b"done\n")?;
        if !line.trim().is_empty() {
            self.change(|state| state.said.push(line.trim().to_owned()));
        }
        Ok(())
    }

    /// Does `deed` now and then, as long as it has that habit and the other side is there.
    fn stay(&self, habit: Habit, mut deed: impl FnMut() -> std::io::Result<()>) {
        let mut state = self.lock();
        while state.habit == habit && deed().is_ok() {
            let pause = Duration::from_millis(50);
            state = self.changed.wait_timeout(state, pause).unwrap().0;
        }
    }
}

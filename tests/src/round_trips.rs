use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How long a round trip takes. What a client sends within that time after something has come, whether
/// because of that or not, counts as sent because of it: on a busy machine it counts too many.
const ROUND_TRIP: Duration = Duration::from_millis(25);

/// Counts the round trips of a client that follow each other: a new connection is one, and each answer
/// is one more than what the client had received before it asked.
#[derive(Clone, Default)]
pub struct RoundTrips(Arc<Mutex<Count>>);

#[derive(Default)]
struct Count {
    trips: u64,
    /// How often they were taken: the end of an earlier connection counts no more.
    taken: u64,
}

impl RoundTrips {
    /// A way to the server at `address`. Returns its near end, `ADDRESS:PORT`.
    pub fn to(&self, address: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = listener.local_addr().unwrap().to_string();
        let (server, trips) = (address.to_owned(), self.clone());
        thread::spawn(move || {
            for client in listener.incoming() {
                let server = TcpStream::connect(&server).unwrap();
                trips.carry(client.unwrap(), server);
            }
        });
        near
    }

    /// How many there were so far. The count begins anew.
    pub fn take(&self) -> u64 {
        let mut count = self.0.lock().unwrap();
        count.taken += 1;
        std::mem::take(&mut count.trips)
    }

    fn so_far(&self) -> u64 {
        self.0.lock().unwrap().trips
    }

    fn carry(&self, client: TcpStream, server: TcpStream) {
        let connected = Instant::now() + ROUND_TRIP;
        let (ready, taken) = (self.so_far() + 1, self.0.lock().unwrap().taken);
        let asked = Arc::new(AtomicU64::new(ready));
        for stream in [&client, &server] {
            stream.set_nodelay(true).unwrap();
        }
        let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        let (trips, asks) = (self.clone(), Arc::clone(&asked));
        thread::spawn(move || {
            let mut room = [0; 64 << 10];
            while let Ok(read @ 1..) = from.read(&mut room) {
                asks.store(ready.max(trips.so_far()), Ordering::SeqCst);
                if to.write_all(&room[..read]).is_err() {
                    break;
                }
            }
            // The other side may be gone.
            let _ = to.shutdown(Shutdown::Write);
        });
        let (mut from, mut to, trips) = (server, client, self.clone());
        let (sends, arrives) = channel();
        thread::spawn(move || {
            let mut room = [0; 64 << 10];
            while let Ok(read @ 1..) = from.read(&mut room) {
                let there = asked.load(Ordering::SeqCst) + 1;
                let at = Instant::now().max(connected) + ROUND_TRIP;
                if sends.send((at, there, room[..read].to_vec())).is_err() {
                    break;
                }
            }
        });
        thread::spawn(move || {
            for (at, there, bytes) in arrives {
                thread::sleep(at.saturating_duration_since(Instant::now()));
                let mut count = trips.0.lock().unwrap();
                if count.taken == taken {
                    count.trips = count.trips.max(there);
                }
                drop(count);
                if to.write_all(&bytes).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Write);
        });
    }
}

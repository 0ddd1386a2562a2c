use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A way to a server that takes time: half a round trip each direction, and a whole one for the
/// connection, as over a real one. How fast it is then is only this machine's affair.
pub(crate) struct Link {
    address: String,
}

impl Link {
    /// A link to the server at `address`.
    pub(crate) fn to(address: &str, round_trip: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let link = Self { address: listener.local_addr().unwrap().to_string() };
        let server = address.to_owned();
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
                let connected = Instant::now() + round_trip;
                carry(&client, &server, connected, round_trip / 2);
                carry(&server, &client, connected, round_trip / 2);
            }
        });
        link
    }

    /// Its near end, `ADDRESS:PORT`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

/// Carries what comes `from` on, each piece `delay` later, and none that set out before the
/// connection was there.
fn carry(from: &TcpStream, to: &TcpStream, connected: Instant, delay: Duration) {
    let (mut from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    to.set_nodelay(true).unwrap();
    let (pieces, due) = channel();
    thread::spawn(move || {
        let mut room = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = from.read(&mut room) {
            let at = Instant::now().max(connected) + delay;
            if pieces.send((at, room[..read].to_vec())).is_err() {
                break;
            }
        }
    });
    thread::spawn(move || deliver(&due, to));
}

fn deliver(due: &Receiver<(Instant, Vec<u8>)>, mut to: TcpStream) {
    for (at, piece) in due {
        thread::sleep(at.saturating_duration_since(Instant::now()));
        if to.write_all(&piece).is_err() {
            break;
        }
    }
    // Its end comes with the last piece. The other side may be gone.
    let _ = to.shutdown(Shutdown::Write);
}

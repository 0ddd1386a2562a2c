use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::skip;

/// A name server. It is silent, until it is told to answer; then every name is 127.0.0.1.
pub struct Dns {
    address: Ipv4Addr,
    answers: Arc<AtomicBool>,
    questions: Arc<AtomicUsize>,
}

impl Dns {
    /// Starts one at an address of its own on the loopback. It skips the test where its port, the one
    /// that a resolver asks, can't be had.
    pub fn start() -> Self {
        let address = Ipv4Addr::new(127, fastrand::u8(1..), fastrand::u8(..), fastrand::u8(1..255));
        let socket = match UdpSocket::bind((address, 53)) {
            Ok(socket) => socket,
            Err(why) => skip(&format!("no name server can listen at {address} port 53: {why}")),
        };
        let answers = Arc::new(AtomicBool::new(false));
        let questions = Arc::default();
        let (told, asked) = (Arc::clone(&answers), Arc::<AtomicUsize>::clone(&questions));
        std::thread::spawn(move || {
            let mut question = [0; 512];
            // The client may have gone.
            while let Ok((n, from)) = socket.recv_from(&mut question) {
                asked.fetch_add(1, Ordering::Relaxed);
                if told.load(Ordering::Relaxed) {
                    let _ = socket.send_to(&answer(&question[..n]), from);
                }
            }
        });
        Self { address, answers, questions }
    }

    /// What `resolv.conf` says to have it asked.
    pub fn resolv_conf(&self) -> String {
        format!("nameserver {}\n", self.address)
    }

    /// Its address.
    pub fn address(&self) -> Ipv4Addr {
        self.address
    }

    /// How many packets came to it.
    pub fn questions(&self) -> usize {
        self.questions.load(Ordering::Relaxed)
    }

    /// Answers from now on.
    pub fn answer(&self) {
        self.answers.store(true, Ordering::Relaxed);
    }
}

/// The answer to a question (RFC 1035, 4.1): one address for type A, none for others.
fn answer(question: &[u8]) -> Vec<u8> {
    const HEADER: usize = 12;
    const A: &[u8] = &[0, 1];
    let Some(name) = question.get(HEADER..).and_then(|rest| rest.iter().position(|b| *b == 0))
    else {
        return Vec::new();
    };
    let end = HEADER + name + 5;
    let kind = question.get(end - 4..end - 2);
    let mut text = question[..end.min(question.len())].to_vec();
    // It is an answer, recursion is there; one question, so many answers, nothing else.
    let count = u8::from(kind == Some(A));
    text[2..HEADER].copy_from_slice(&[0x81, 0x80, 0, 1, 0, count, 0, 0, 0, 0]);
    if count == 1 {
        // The name of the question, A, IN, for a second, four bytes.
        text.extend_from_slice(&[0xc0, HEADER as u8, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4]);
        text.extend_from_slice(&Ipv4Addr::LOCALHOST.octets());
    }
    text
}

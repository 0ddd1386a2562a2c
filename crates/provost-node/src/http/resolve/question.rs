//! One question to one name server: as much of DNS as a stub needs (RFC 1035, 4).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

/// What is asked for: the types of records with an address.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    A = 1,
    Aaaa = 28,
}

/// The head of a message, in bytes.
const HEAD: usize = 12;
/// The class of the internet.
const IN: u16 = 1;
/// The flags of a reply: that it is one, that it was truncated, and its code.
const ANSWER: u8 = 0x80;
const TRUNCATED: u8 = 0x02;
const CODE: u8 = 0x0f;
const NO_SUCH_NAME: u8 = 3;

/// The addresses of `name` that `server` knows; none if it knows that there are none. Waits until
/// the caller gives up: forged replies may come before the server's.
pub(crate) async fn ask(server: SocketAddr, name: &str, kind: Kind) -> io::Result<Vec<IpAddr>> {
    let question = Question::of(name, kind)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it isn't a valid host name"))?;
    let any: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    socket.send(&question.message).await?;
    let mut buffer = [0; 4096];
    loop {
        let n = socket.recv(&mut buffer).await?;
        match question.read(&buffer[..n]) {
            Some(Reply::Addresses(found)) => return Ok(found),
            Some(Reply::Code(code)) => return Err(refused(code)),
            Some(Reply::Truncated) => return ask_again(server, &question).await,
            None => {}
        }
    }
}

/// Asks by TCP for what doesn't fit into a datagram.
async fn ask_again(server: SocketAddr, question: &Question) -> io::Result<Vec<IpAddr>> {
    let mut stream = TcpStream::connect(server).await?;
    // A question has no more than 300 bytes.
    let length = (question.message.len() as u16).to_be_bytes();
    stream.write_all(&[&length, &question.message[..]].concat()).await?;
    let mut answer = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut answer).await?;
    match question.read(&answer) {
        Some(Reply::Addresses(found)) => Ok(found),
        Some(Reply::Code(code)) => Err(refused(code)),
        Some(Reply::Truncated) | None => Err(io::Error::other("the reply is malformed")),
    }
}

fn refused(code: u8) -> io::Error {
    let name = match code {
        2 => "SERVFAIL",
        5 => "REFUSED",
        _ => "an error",
    };
    io::Error::other(format!("the name server responded {name} (code {code})"))
}

/// A question, and the message that asks it.
pub(super) struct Question {
    message: Vec<u8>,
    kind: Kind,
}

/// A name server's reply.
pub(super) enum Reply {
    Addresses(Vec<IpAddr>),
    /// An error code.
    Code(u8),
    /// It didn't fit into a datagram.
    Truncated,
}

impl Question {
    /// None if no name server can be asked for that name.
    pub(super) fn of(name: &str, kind: Kind) -> Option<Self> {
        let name = name.strip_suffix('.').unwrap_or(name);
        let [high, low] = fastrand::u16(..).to_be_bytes();
        // One question; the server is asked to recurse.
        let mut message = vec![high, low, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            let length = u8::try_from(label.len()).ok().filter(|n| (1..64).contains(n))?;
            message.push(length);
            message.extend(label.as_bytes());
        }
        message.push(0);
        message.extend([0, kind as u8]);
        message.extend(IN.to_be_bytes());
        (name.len() <= 253).then_some(Self { message, kind })
    }

    /// The number by which its reply is known.
    pub(super) fn id(&self) -> [u8; 2] {
        [self.message[0], self.message[1]]
    }

    /// Reads `answer` as its reply. None if it is the reply to another one.
    pub(super) fn read(&self, answer: &[u8]) -> Option<Reply> {
        let flags = answer.get(2..4)?;
        let is_ours = answer[..2] == self.id() && flags[0] & ANSWER != 0;
        let asked = answer.get(HEAD..self.message.len())?;
        if !is_ours || !asked.eq_ignore_ascii_case(&self.message[HEAD..]) {
            return None;
        }
        match flags[1] & CODE {
            0 if flags[0] & TRUNCATED != 0 => return Some(Reply::Truncated),
            0 => {}
            NO_SUCH_NAME => return Some(Reply::Addresses(Vec::new())),
            code => return Some(Reply::Code(code)),
        }
        let records = u16::from_be_bytes([answer[6], answer[7]]);
        let mut rest = answer.get(self.message.len()..)?;
        let mut found = Vec::new();
        for _ in 0..records {
            rest = after_name(rest)?;
            let (head, data) = rest.split_at_checked(10)?;
            let number = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
            let (data, after) = data.split_at_checked(usize::from(number(8)))?;
            // Other kinds, such as an alias, are followed by the addresses.
            if (number(0), number(2)) == (self.kind as u16, IN) {
                found.push(match self.kind {
                    Kind::A => <[u8; 4]>::try_from(data).ok()?.into(),
                    Kind::Aaaa => <[u8; 16]>::try_from(data).ok()?.into(),
                });
            }
            rest = after;
        }
        Some(Reply::Addresses(found))
    }
}

/// What follows the name at the start of `text`. The name ends with an empty label, or with a
/// pointer to an earlier one, which needn't be followed.
fn after_name(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        match *text.first()? {
            0 => return text.get(1..),
            0xc0.. => return text.get(2..),
            n => text = text.get(usize::from(n) + 1..)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_reply_is_refused_without_panic() {
        let question = Question::of("mn.example", Kind::A).unwrap();
        let mut answer = question.message.clone();
        (answer[2], answer[3], answer[7]) = (ANSWER, 0, 2);
        // An alias first, then its address.
        answer.extend([0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 4, 1, b'x', 0xc0, 15]);
        answer.extend([1, b'x', 0xc0, 15, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 0, 0, 1]);
        let Some(Reply::Addresses(found)) = question.read(&answer) else { panic!() };
        assert_eq!(found, [IpAddr::from([10, 0, 0, 1])]);
        for end in 0..answer.len() {
            assert!(question.read(&answer[..end]).is_none(), "{end}");
            for byte in [0, 1, 0x3f, 0xc0, 0xff] {
                let mut broken = answer.clone();
                broken[end] = byte;
                // It may be read as something else, but must not panic.
                let _ = question.read(&broken);
            }
        }
    }

    #[test]
    fn an_invalid_name_is_not_asked_for() {
        let long = "x".repeat(64);
        for name in ["", ".", "a..b", long.as_str(), &"a.".repeat(130)] {
            assert!(Question::of(name, Kind::A).is_none(), "{name}");
        }
    }
}

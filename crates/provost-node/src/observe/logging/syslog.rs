//! Syslog to a server, as RFC 5424 has it.

use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::layer::Sink;
use super::message::{Context, Message, Severity};
use super::queue::MessageQueue;
use crate::settings::messages::SyslogServer;

/// local4, to which xCAT's nodes log.
const FACILITY: u8 = 20;
/// The longest message, in bytes: RFC 5424, 6.1, asks servers to take 2048.
const MOST: usize = 2000;
/// How long a server may take to accept a connection, or a message.
const TIME: Duration = Duration::from_secs(5);
/// The first wait for a server that can't be reached; the next ones are its doubles.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// No wait is above this.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A server, and the tag of the messages to it.
pub struct Syslog {
    transport: Transport,
    tag: &'static str,
}

enum Transport {
    Udp(UdpSocket),
    Tcp(MessageQueue),
}

impl Syslog {
    /// None where there is no room for a socket or a thread.
    pub fn new(server: SyslogServer, tag: &'static str) -> Option<Self> {
        let transport = match server {
            SyslogServer::Udp(address) => udp(address).ok().map(Transport::Udp),
            SyslogServer::Tcp(address) => {
                MessageQueue::new(move |lines| tcp(address, lines)).map(Transport::Tcp)
            }
        };
        Some(Self { transport: transport?, tag })
    }

    /// Sends `line`. It waits for nothing.
    pub fn send(&self, severity: Severity, context: &Context, line: &str) {
        let tag = self.tag;
        let message = message(tag, severity, context, line);
        match &self.transport {
            // A refusal that came back for an earlier message is reported with this one, which
            // then hasn't gone.
            Transport::Udp(socket) => match socket.send(message.as_bytes()) {
                Err(e) if e.kind() == ErrorKind::ConnectionRefused => {
                    let _ = socket.send(message.as_bytes());
                }
                // Syslog by UDP promises nothing.
                _ => {}
            },
            Transport::Tcp(queue) => {
                let note = |n| format!("dropped {n} messages: syslog server unreachable");
                let note = |n| framed(&self::message(tag, Severity::Warning, context, &note(n)));
                queue.send(framed(&message), note);
            }
        }
    }

    /// Takes no more messages, and waits a second at most for those on their way.
    pub(super) fn finish(&self) {
        if let Transport::Tcp(queue) = &self.transport {
            queue.finish();
        }
    }
}

impl Sink for Syslog {
    const LEAST: Severity = Severity::Info;

    fn write(&self, message: &Message) {
        for line in &message.lines {
            self.send(message.severity, &message.context, line);
        }
    }
}

fn udp(address: SocketAddr) -> std::io::Result<UdpSocket> {
    let any = match address {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let socket = UdpSocket::bind(any)?;
    socket.set_nonblocking(true)?;
    socket.connect(address)?;
    Ok(socket)
}

/// Writes what comes to the server, and connects again where that broke off.
fn tcp(address: SocketAddr, lines: &Receiver<Vec<u8>>) {
    let mut connection: Option<TcpStream> = None;
    let mut wait = FIRST_WAIT;
    for line in lines {
        loop {
            if connection.is_none() {
                connection = connect(address).ok();
            }
            if connection.as_mut().is_some_and(|stream| stream.write_all(&line).is_ok()) {
                break;
            }
            // Half a message would spoil the next one.
            connection = None;
            // A server that is down answers at once; don't ask it without pause.
            std::thread::sleep(wait);
            wait = (wait * 2).min(LONGEST_WAIT);
        }
        wait = FIRST_WAIT;
    }
}

fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, TIME)?;
    stream.set_write_timeout(Some(TIME))?;
    Ok(stream)
}

/// With its length before it: RFC 6587, 3.4.1.
fn framed(message: &str) -> Vec<u8> {
    format!("{} {message}", message.len()).into_bytes()
}

fn message(tag: &str, severity: Severity, context: &Context, text: &str) -> String {
    let priority = FACILITY * 8 + severity as u8;
    let (now, pid) = (provost_record::now(), std::process::id());
    let node = field(&context.node, 255);
    let id = field(context.stage.as_ref().unwrap_or(&context.service), 32);
    let mut message = format!("<{priority}>1 {now} {node} {tag} {pid} {id} - {text}");
    message.truncate(message.floor_char_boundary(MOST));
    message
}

/// A field of the header: so many printable characters, or a dash.
fn field(text: &str, most: usize) -> String {
    let field: String = text.chars().filter(char::is_ascii_graphic).take(most).collect();
    if field.is_empty() { "-".to_owned() } else { field }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_as_rfc_5424_has_it_and_not_too_long() {
        let context =
            Context { node: "cn 001".into(), stage: Some("été".into()), ..Context::default() };
        let text = message("provost", Severity::Error, &context, &"ä".repeat(3000));
        assert!(text.starts_with("<163>1 20") && text.len() <= MOST, "{text}");
        let words: Vec<&str> = text.splitn(8, ' ').collect();
        assert_eq!((words[2], words[3], words[5], words[6]), ("cn001", "provost", "t", "-"));
        assert!(words[7].starts_with("ää") && words[7].ends_with('ä'));
    }
}

//! Where the node's own messages go besides the console and LOG/provost.log.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use crate::failure::Failure;

/// The port of a syslog server that is named without one.
pub const SYSLOG_PORT: u16 = 514;
/// The value that turns one of them off.
const OFF: &str = "off";

/// Where messages go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageSettings {
    /// The syslog server, usually the management node's.
    pub syslog: Option<SyslogServer>,
    /// The socket of the systemd journal.
    pub journal: Option<PathBuf>,
}

/// A syslog server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyslogServer {
    /// One datagram a message; `udp://ADDRESS`.
    Udp(SocketAddr),
    /// One connection, each message with its length before it; `tcp://ADDRESS`.
    Tcp(SocketAddr),
}

impl MessageSettings {
    /// Reads `[log] syslog` and `[log] journal`.
    pub fn read(syslog: &str, journal: &str) -> Result<Self, Failure> {
        let is_on = |value: &&str| *value != OFF;
        let syslog = Some(syslog).filter(is_on).map(|text| {
            let hint = "write it as udp://ADDRESS or tcp://ADDRESS:PORT, with an address, which \
                        needs no DNS; or as \"off\"";
            let unusable = || format!("the syslog server {text:?} can't be used");
            server(text).ok_or_else(|| Failure::config(unusable(), hint))
        });
        let journal = Some(journal).filter(is_on).map(PathBuf::from);
        Ok(Self { syslog: syslog.transpose()?, journal })
    }
}

fn server(text: &str) -> Option<SyslogServer> {
    let (protocol, address) = text.split_once("://")?;
    let address = address.strip_suffix('/').unwrap_or(address);
    let bare = address.strip_prefix('[').and_then(|a| a.strip_suffix(']')).unwrap_or(address);
    let with_port = |ip: IpAddr| SocketAddr::new(ip, SYSLOG_PORT);
    let address = address.parse().ok().or_else(|| Some(with_port(bare.parse().ok()?)))?;
    match protocol {
        "udp" => Some(SyslogServer::Udp(address)),
        "tcp" => Some(SyslogServer::Tcp(address)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_syslog_server_is_a_protocol_and_an_address() {
        let server = |text| server(text).map(|server| format!("{server:?}"));
        assert_eq!(server("udp://10.0.0.1").as_deref(), Some("Udp(10.0.0.1:514)"));
        assert_eq!(server("tcp://10.0.0.1:6514/").as_deref(), Some("Tcp(10.0.0.1:6514)"));
        assert_eq!(server("udp://[fd00::1]").as_deref(), Some("Udp([fd00::1]:514)"));
        assert_eq!(server("tcp://[fd00::1]:1").as_deref(), Some("Tcp([fd00::1]:1)"));
        for wrong in ["10.0.0.1", "udp://mgmt", "http://10.0.0.1", "udp://10.0.0.1:x", ""] {
            assert_eq!(server(wrong), None, "{wrong}");
        }
    }
}

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use crate::failure::Failure;

/// Where syslog servers listen.
const PORT: u16 = 514;
/// Where systemd's journal takes messages.
const JOURNAL: &str = "/run/systemd/journal/socket";
/// What turns one of them off.
const OFF: &str = "off";

/// Where messages go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MessageSettings {
    pub(crate) syslog: Option<Server>,
    /// The socket of systemd's journal.
    pub(crate) journal: Option<PathBuf>,
}

/// A syslog server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Server {
    Udp(SocketAddr),
    Tcp(SocketAddr),
}

impl MessageSettings {
    /// Reads `[log] syslog` and `[log] journal`.
    pub(crate) fn read(syslog: Option<&str>, journal: Option<&str>) -> Result<Self, Failure> {
        let syslog = match syslog {
            None | Some(OFF) => None,
            Some(text) => Some(server(text).ok_or_else(|| {
                let hint = "write it as udp://ADDRESS or tcp://ADDRESS:PORT, with an address, which \
                            needs no DNS; or as \"off\"";
                Failure::config(format!("the syslog server {text:?} can't be used"), hint)
            })?),
        };
        let journal = Some(journal.unwrap_or(JOURNAL)).filter(|path| *path != OFF);
        Ok(Self { syslog, journal: journal.map(PathBuf::from) })
    }
}

fn server(text: &str) -> Option<Server> {
    let (protocol, address) = text.split_once("://")?;
    let address = address.strip_suffix('/').unwrap_or(address);
    let bare = address.strip_prefix('[').and_then(|a| a.strip_suffix(']')).unwrap_or(address);
    let with_port = |ip: IpAddr| SocketAddr::new(ip, PORT);
    let address = address.parse().ok().or_else(|| Some(with_port(bare.parse().ok()?)))?;
    match protocol {
        "udp" => Some(Server::Udp(address)),
        "tcp" => Some(Server::Tcp(address)),
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

//! The PROXY protocol, by which a TCP proxy names the address of its client: versions 1 and 2 of haproxy's
//! doc/proxy-protocol.txt.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::serve::Listener;
use ppp::{v1, v2};
use provost_steplog::wording::error_chain;
use provost_store::Network;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// How long a proxy may take to send the header.
const WITHIN: Duration = Duration::from_secs(5);
/// The length of version 2's signature, in bytes. No header of either version is shorter.
const SIGNATURE: usize = v2::PROTOCOL_PREFIX.len();
/// The length of version 2's fixed part, in bytes; its last two say how long the rest is.
const FIXED: usize = SIGNATURE + 4;
/// The longest header of version 1, in bytes, with its line end.
const LONGEST_V1: usize = 107;
/// The longest header of version 2 that is accepted, in bytes. Addresses take 232 at most; the rest are extensions, which
/// are ignored.
const LONGEST_V2: usize = 2048;
/// How many connections may wait for their header at the same time. Each uses a file descriptor, of those that aren't
/// for nodes' connections.
const MOST_WAITING: usize = 512;
/// The least time between two messages about connections that were closed.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// A TCP listener. Connections from proxies begin with a header; others have none.
pub(crate) struct ProxiedListener {
    tcp: TcpListener,
    proxies: Vec<Network>,
    /// Connections of proxies whose header is being read, each in a task of its own: none holds up another.
    waiting: JoinSet<Result<(TcpStream, SocketAddr), (SocketAddr, HeaderError)>>,
    logged: Option<Instant>,
}

/// Why a connection of a proxy is closed.
#[derive(Debug, thiserror::Error)]
enum HeaderError {
    #[error("no whole PROXY header came within {} s", WITHIN.as_secs())]
    Late,
    #[error("it doesn't begin with a PROXY header")]
    Missing,
    #[error("it ended within the PROXY header")]
    Truncated,
    #[error("its PROXY header is longer than {0} bytes")]
    TooLong(usize),
    #[error("its PROXY header is wrong")]
    WrongV1(#[source] v1::BinaryParseError),
    #[error("its PROXY header is wrong")]
    WrongV2(#[source] v2::ParseError),
    #[error("{MOST_WAITING} connections wait for their PROXY header already")]
    TooMany,
    /// As health checks do that only connect.
    #[error("it ended without a byte")]
    Unused,
    #[error("reading its PROXY header")]
    Read(#[source] io::Error),
}

impl ProxiedListener {
    pub(crate) fn new(tcp: TcpListener, proxies: Vec<Network>) -> Self {
        Self { tcp, proxies, waiting: JoinSet::new(), logged: None }
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }

    /// The next connection, and the address of its client: that in the header, if a proxy has sent one.
    pub(crate) async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            tokio::select! {
                // First those whose header is there, so that they don't count as waiting.
                biased;
                Some(read) = self.waiting.join_next() => match read {
                    Ok(Ok(connection)) => return connection,
                    Ok(Err((proxy, error))) => self.report(proxy, &error),
                    // It panicked, which is in the log already.
                    Err(_) => {}
                },
                (stream, peer) = Listener::accept(&mut self.tcp) => {
                    if !self.proxies.iter().any(|proxies| proxies.contains(peer.ip())) {
                        return (stream, peer);
                    }
                    if self.waiting.len() < MOST_WAITING {
                        self.waiting.spawn(with_client(stream, peer));
                    } else {
                        self.report(peer, &HeaderError::TooMany);
                    }
                }
            }
        }
    }

    /// Logs that a connection of a proxy was closed, once a minute at most.
    fn report(&mut self, proxy: SocketAddr, error: &HeaderError) {
        let is_recent = self.logged.is_some_and(|at| at.elapsed() < LOG_INTERVAL);
        if is_recent || matches!(error, HeaderError::Unused) {
            return;
        }
        self.logged = Some(Instant::now());
        let hint = "have it send the PROXY protocol (nginx: proxy_protocol on; haproxy: send-proxy-v2), or remove it \
                    from `proxies` under [tls] of provostd.toml";
        let address = proxy.ip().to_canonical();
        tracing::warn!(hint, "closed a connection of the proxy {address}: {}", error_chain(error));
    }
}

/// Reads the header of a proxy's connection. Returns it with the address of its client.
async fn with_client(
    mut stream: TcpStream,
    proxy: SocketAddr,
) -> Result<(TcpStream, SocketAddr), (SocketAddr, HeaderError)> {
    match read(&mut stream).await {
        Ok(client) => Ok((stream, client.unwrap_or(proxy))),
        Err(error) => Err((proxy, error)),
    }
}

/// Reads a header, and nothing of what follows it. Returns the client's address, unless the header names none: the
/// connection is the proxy's own then.
async fn read(io: &mut (impl AsyncRead + Unpin)) -> Result<Option<SocketAddr>, HeaderError> {
    timeout(WITHIN, read_header(io)).await.unwrap_or(Err(HeaderError::Late))
}

async fn read_header(io: &mut (impl AsyncRead + Unpin)) -> Result<Option<SocketAddr>, HeaderError> {
    let mut header = Vec::with_capacity(LONGEST_V1);
    fill(io, &mut header, SIGNATURE).await?;
    if header == v2::PROTOCOL_PREFIX {
        return read_v2(io, header).await;
    }
    if !header.starts_with(v1::PROTOCOL_PREFIX.as_bytes()) {
        return Err(HeaderError::Missing);
    }
    // Byte by byte, because what follows its end is the client's, and only its end says how long it is.
    while header.last() != Some(&b'\n') {
        if header.len() == LONGEST_V1 {
            return Err(HeaderError::TooLong(LONGEST_V1));
        }
        let longer = header.len() + 1;
        fill(io, &mut header, longer).await?;
    }
    let parsed = v1::Header::try_from(&header[..]).map_err(HeaderError::WrongV1)?;
    Ok(match parsed.addresses {
        v1::Addresses::Tcp4(ip) => Some((ip.source_address, ip.source_port).into()),
        v1::Addresses::Tcp6(ip) => Some((ip.source_address, ip.source_port).into()),
        v1::Addresses::Unknown => None,
    })
}

/// Reads the rest of a header of version 2.
async fn read_v2(
    io: &mut (impl AsyncRead + Unpin),
    mut header: Vec<u8>,
) -> Result<Option<SocketAddr>, HeaderError> {
    fill(io, &mut header, FIXED).await?;
    let length = FIXED + usize::from(u16::from_be_bytes([header[FIXED - 2], header[FIXED - 1]]));
    if length > LONGEST_V2 {
        return Err(HeaderError::TooLong(LONGEST_V2));
    }
    fill(io, &mut header, length).await?;
    let parsed = v2::Header::try_from(&header[..]).map_err(HeaderError::WrongV2)?;
    Ok(match (parsed.command, parsed.addresses) {
        (v2::Command::Proxy, v2::Addresses::IPv4(ip)) => {
            Some((ip.source_address, ip.source_port).into())
        }
        (v2::Command::Proxy, v2::Addresses::IPv6(ip)) => {
            Some((ip.source_address, ip.source_port).into())
        }
        // LOCAL, or the address of a socket in the file system, or of a family that the proxy doesn't know.
        _ => None,
    })
}

/// Reads on until the header has this length.
async fn fill(
    io: &mut (impl AsyncRead + Unpin),
    header: &mut Vec<u8>,
    length: usize,
) -> Result<(), HeaderError> {
    let missing = length.saturating_sub(header.len()) as u64;
    let read = io.take(missing).read_to_end(header).await;
    match read {
        Ok(_) if header.len() == length => Ok(()),
        _ if header.is_empty() => Err(HeaderError::Unused),
        Ok(_) => Err(HeaderError::Truncated),
        Err(error) => Err(HeaderError::Read(error)),
    }
}

#[cfg(test)]
mod tests;

//! Connections of the nodes' TLS listener. The handshake is part of the first read, so that a client
//! which takes its time for it holds up nobody else, and is under the time-outs of a request.

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::serve::Listener;
use provost_bundle::Digest;
use provost_store::KeyDigest;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::server::TlsStream;
use tokio_rustls::{Accept, TlsAcceptor};

use crate::listener;
use crate::listener::client_address::{ClientAddress, ClientKey};
use crate::listener::proxy_protocol::ProxiedListener;

/// A listener whose clients speak TLS.
pub(crate) struct TlsListener {
    pub(crate) tcp: ProxiedListener,
    pub(crate) acceptor: TlsAcceptor,
}

/// The address of a client that speaks TLS.
pub(crate) struct TlsAddress {
    address: SocketAddr,
    key: ClientKey,
}

impl ClientAddress for TlsAddress {
    fn ip(&self) -> IpAddr {
        ClientAddress::ip(&self.address)
    }

    fn is_private(&self) -> bool {
        true
    }

    fn key(&self) -> ClientKey {
        ClientKey::clone(&self.key)
    }
}

impl Listener for TlsListener {
    type Io = TlsConnection;
    type Addr = TlsAddress;

    async fn accept(&mut self) -> (TlsConnection, TlsAddress) {
        let (mut stream, address) = self.tcp.accept().await;
        listener::tune(&mut stream);
        let accept = Box::new(self.acceptor.accept(stream));
        let key = ClientKey::default();
        let connection = TlsConnection::Handshake(accept, ClientKey::clone(&key));
        (connection, TlsAddress { address, key })
    }

    fn local_addr(&self) -> io::Result<TlsAddress> {
        let address = self.tcp.local_addr()?;
        Ok(TlsAddress { address, key: ClientKey::default() })
    }
}

/// A connection.
pub(crate) enum TlsConnection {
    /// The key is put there where the client has proved one.
    Handshake(Box<Accept<TcpStream>>, ClientKey),
    Open(Box<TlsStream<TcpStream>>),
    Failed,
}

impl TlsConnection {
    fn poll_open(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Pin<&mut TlsStream<TcpStream>>>> {
        if let Self::Handshake(accept, key) = self {
            match ready!(Pin::new(accept.as_mut()).poll(cx)) {
                Ok(stream) => {
                    if let Some(proved) = proved_key(&stream) {
                        // It is set once, here.
                        let _ = key.set(proved);
                    }
                    *self = Self::Open(Box::new(stream));
                }
                Err(e) => {
                    *self = Self::Failed;
                    return Poll::Ready(Err(e));
                }
            }
        }
        Poll::Ready(match self {
            Self::Open(stream) => Ok(Pin::new(stream.as_mut())),
            _ => Err(io::ErrorKind::NotConnected.into()),
        })
    }
}

/// The digest of the public key of the client's certificate, which the handshake has proved to be its
/// own.
fn proved_key(stream: &TlsStream<TcpStream>) -> Option<KeyDigest> {
    let certificate = stream.get_ref().1.peer_certificates()?.first()?;
    let parsed = ParsedCertificate::try_from(certificate).ok()?;
    Some(*Digest::of(&parsed.subject_public_key_info()).bytes())
}

impl AsyncRead for TlsConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_open(cx))?.poll_read(cx, room)
    }
}

impl AsyncWrite for TlsConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_open(cx))?.poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_open(cx))?.poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Open(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
            // Nothing is written yet.
            _ => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Open(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
            _ => Poll::Ready(Ok(())),
        }
    }
}

use std::error::Error;
use std::io;
use std::time::Duration;

use provost_steplog::wording::error_chain;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use super::peers::Peer;
use crate::listener::Stop;

/// The longest request, in bytes.
const MAX_REQUEST: usize = 4096;
/// How long a node may take for its request, and for each further step.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);

/// Why a node gets no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum RequestError {
    #[error("it sent nothing for {TIMEOUT:?}")]
    Silent,
    #[error("its request has no end within {MAX_REQUEST} bytes; it begins with {0:?}")]
    Endless(String),
    #[error("unknown request {0:?}")]
    Unknown(String),
    #[error(transparent)]
    Store(#[from] provost_store::StoreError),
    #[error("it reports with a token, so its plan is served only with that token")]
    HasToken,
    #[error("reading its plan")]
    Plan(#[source] Box<dyn Error + Send + Sync>),
    #[error("TLS")]
    Tls(#[source] io::Error),
    /// The connection was closed.
    #[error(transparent)]
    Closed(#[from] io::Error),
}

impl RequestError {
    /// Logs the error, unless the node has only closed the connection.
    pub(super) fn log(&self, peer: &Peer, port: &str) {
        let Peer { node, address } = peer;
        let error = error_chain(self);
        match self {
            Self::Closed(_) => {}
            Self::Store(e) => {
                tracing::error!(hint = e.hint(), "{port}: {node} at {address}: {error}");
            }
            _ => tracing::warn!("{port}: {node} at {address}: {error}"),
        }
    }
}

/// Reads until `end` has come. What comes after it is ignored.
pub(super) async fn read_request(
    stream: &mut (impl AsyncRead + Unpin),
    end: &[u8],
    mut stop: Stop,
) -> Result<String, RequestError> {
    let mut request = Vec::new();
    let reading = async {
        let mut room = [0; MAX_REQUEST];
        loop {
            let read = stream.read(&mut room).await?;
            if read == 0 {
                return Err(RequestError::Closed(io::ErrorKind::UnexpectedEof.into()));
            }
            request.extend_from_slice(&room[..read]);
            if let Some(at) = request.windows(end.len()).position(|window| window == end) {
                request.truncate(at);
                return Ok(());
            }
            if request.len() >= MAX_REQUEST {
                return Err(RequestError::Endless(shortened(&request)));
            }
        }
    };
    tokio::select! {
        read = timeout(TIMEOUT, reading) => read.unwrap_or(Err(RequestError::Silent))?,
        // The node sends it again to the next daemon.
        () = stop.wait() => return Err(RequestError::Closed(io::ErrorKind::Interrupted.into())),
    }
    match String::from_utf8(request) {
        Ok(request) => Ok(request),
        Err(e) => Err(RequestError::Unknown(shortened(e.as_bytes()))),
    }
}

/// The beginning of a request, for the log.
pub(super) fn shortened(request: &[u8]) -> String {
    String::from_utf8_lossy(&request[..request.len().min(80)]).into_owned()
}

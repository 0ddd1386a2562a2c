//! For nodes that still run xCAT's own scripts: the port that takes their status, and the one
//! that has their `mypostscript`. They have no token; their address tells who they are.

mod monitor;
mod peers;
mod tls;
mod verb;
mod xcatd;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use provost_plan::{Plan, mypostscript};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

pub(crate) use self::monitor::talk as monitor;
use self::peers::Peers;
pub use self::tls::TlsError;
pub(crate) use self::tls::acceptor;
pub(crate) use self::xcatd::talk as xcatd;
use crate::App;
use crate::door::{self, Stop};

/// How many are served at once, at each of the two ports.
const SEATS: usize = 4096;
/// How many of them one address may have.
const OF_ONE: usize = 64;
/// The longest request, in bytes.
const REQUEST: usize = 4096;
/// How long a node may take for its request, and for each further step.
const PATIENCE: Duration = Duration::from_secs(10);

/// What both ports go by.
pub(crate) struct Xcat {
    app: Arc<App>,
    peers: Peers,
}

/// Why a node gets no answer.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("it keeps provostd waiting for {PATIENCE:?}")]
    Silent,
    #[error("its request has no end within {REQUEST} bytes; it begins with {0:?}")]
    Endless(String),
    #[error("{0:?} is nothing that provostd knows")]
    Unknown(String),
    #[error("{0}")]
    Store(#[from] provost_store::StoreError),
    #[error("its plan can't be read: {0}")]
    Plan(String),
    #[error("TLS: {0}")]
    Tls(std::io::Error),
    /// It went away.
    #[error("{0}")]
    Gone(#[from] std::io::Error),
}

impl Xcat {
    /// With `dns`, an address that no plan has is looked up.
    pub(crate) fn new(app: Arc<App>, dns: bool) -> Self {
        Self { peers: Peers::new(app.www.join("plans"), dns), app }
    }

    /// The node at the other end. Whoever else is there gets nothing.
    async fn node(&self, stream: &TcpStream) -> Option<(String, IpAddr)> {
        // One that has gone already has no address.
        let from = stream.peer_addr().ok()?.ip().to_canonical();
        Some((self.peers.node(from).await?, from))
    }

    /// What `node` runs, as xCAT would have written it for one that reaches it at `master`.
    async fn mypostscript(&self, node: &str, master: IpAddr) -> Result<String, Refused> {
        let path = self.app.www.join(format!("plans/{node}.toml"));
        let bytes = tokio::fs::read(&path).await.map_err(|e| Refused::Plan(e.to_string()))?;
        let plan = Plan::parse(&bytes).map_err(|e| Refused::Plan(e.to_string()))?;
        Ok(mypostscript::write(&plan, master.to_canonical()))
    }
}

/// Serves those who come, each in a task of its own, until `stop`. Whoever comes while all seats
/// are taken waits in the kernel's queue; whoever wants more of them than one may have is let go.
pub(crate) async fn serve<F: Future<Output = ()> + Send + 'static>(
    mut listener: TcpListener,
    mut stop: Stop,
    talk: impl Fn(TcpStream) -> F,
) {
    let seats = Arc::new(Semaphore::new(SEATS));
    let (mut guests, mut seated) = (JoinSet::new(), HashMap::<_, usize>::new());
    loop {
        let guest = async {
            let seat = Arc::clone(&seats).acquire_owned().await;
            (seat, Listener::accept(&mut listener).await.0)
        };
        tokio::select! {
            (seat, mut stream) = guest => {
                // One that has gone already has no address.
                let Ok(from) = stream.peer_addr().map(|from| from.ip()) else { continue };
                let its = seated.entry(from).or_default();
                if *its == OF_ONE {
                    continue;
                }
                *its += 1;
                door::tune(&mut stream);
                let talking = talk(stream);
                guests.spawn(async move {
                    talking.await;
                    drop(seat);
                    from
                });
            }
            Some(left) = guests.join_next() => {
                if let Ok(from) = left
                    && let Entry::Occupied(mut its) = seated.entry(from)
                {
                    *its.get_mut() -= 1;
                    if *its.get() == 0 {
                        its.remove();
                    }
                }
            }
            () = stop.wait() => break,
        }
    }
    drop(listener);
    // What is stored already is still acknowledged; PATIENCE bounds the rest, or the daemon's end.
    while guests.join_next().await.is_some() {}
}

/// Reads until `end` has come. What comes after it isn't wanted.
async fn read_request(
    stream: &mut (impl AsyncRead + Unpin),
    end: &[u8],
    mut stop: Stop,
) -> Result<String, Refused> {
    let mut request = Vec::new();
    let reading = async {
        let mut room = [0; REQUEST];
        loop {
            let read = stream.read(&mut room).await?;
            if read == 0 {
                return Err(Refused::Gone(std::io::ErrorKind::UnexpectedEof.into()));
            }
            request.extend_from_slice(&room[..read]);
            if let Some(at) = request.windows(end.len()).position(|window| window == end) {
                request.truncate(at);
                return Ok(());
            }
            if request.len() >= REQUEST {
                return Err(Refused::Endless(shortened(&request)));
            }
        }
    };
    tokio::select! {
        read = timeout(PATIENCE, reading) => read.unwrap_or(Err(Refused::Silent))?,
        // It says it again to the next daemon.
        () = stop.wait() => return Err(Refused::Gone(std::io::ErrorKind::Interrupted.into())),
    }
    match String::from_utf8(request) {
        Ok(request) => Ok(request),
        Err(e) => Err(Refused::Unknown(shortened(e.as_bytes()))),
    }
}

/// Enough of a request to see in the log what it is.
fn shortened(request: &[u8]) -> String {
    String::from_utf8_lossy(&request[..request.len().min(80)]).into_owned()
}

impl Refused {
    /// Tells the admin, unless a node just hung up.
    fn log(&self, node: &str, from: IpAddr, port: &str) {
        match self {
            Self::Gone(_) => {}
            Self::Store(error) => {
                tracing::error!(hint = error.hint(), "{port}: {node} at {from}: {error}");
            }
            _ => tracing::warn!("{port}: {node} at {from}: {self}"),
        }
    }
}

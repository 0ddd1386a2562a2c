//! TLS between nodes and the management node, through a relay that has no certificate for nodes: it
//! passes on what it can't read, and so spools nothing of it.

use std::sync::Arc;
use std::time::Duration;

use provost_record::wording::error_chain;
use reqwest::Url;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::listener::{self, Stop};

/// How long an upstream may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(4);
/// How many connections are passed on at once: each uses two file descriptors.
const AT_ONCE: usize = 4096;

/// Where an upstream takes TLS, `HOST:PORT`: where its URL says so, else at the port `own`, which is the
/// one port that a manifest names for all servers.
pub(super) fn target(url: &Url, own: u16) -> String {
    let port = if url.scheme() == "https" { url.port_or_known_default() } else { None };
    format!("{}:{}", url.host_str().unwrap_or_default(), port.unwrap_or(own))
}

/// Passes connections on, each to the first of `targets` that accepts it.
pub(super) async fn serve(listener: TcpListener, targets: Vec<String>, mut stop: Stop) {
    let (permits, targets) = (Arc::new(Semaphore::new(AT_ONCE)), Arc::new(targets));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.wait() => return,
        };
        let Ok((mut node, _)) = accepted else {
            // Out of file descriptors: it is better in a moment.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else { continue };
        listener::tune(&mut node);
        let targets = Arc::clone(&targets);
        tokio::spawn(async move {
            if let Some(mut upstream) = connect(&targets).await {
                listener::tune(&mut upstream);
                // Fails where one of them goes away.
                let _ = tokio::io::copy_bidirectional(&mut node, &mut upstream).await;
            }
            drop(permit);
        });
    }
}

async fn connect(targets: &[String]) -> Option<TcpStream> {
    for target in targets {
        match timeout(CONNECT, TcpStream::connect(target)).await {
            Ok(Ok(stream)) => return Some(stream),
            Ok(Err(e)) => tracing::debug!("connecting to {target}: {}", error_chain(&e)),
            Err(_) => tracing::debug!("connecting to {target}: not within {CONNECT:?}"),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_goes_to_the_port_that_the_manifest_names() {
        let target = |url: &str| target(&url.parse().unwrap(), 8482);
        assert_eq!(target("http://10.0.0.1:8480/"), "10.0.0.1:8482");
        assert_eq!(target("http://[fd00::1]:8480/"), "[fd00::1]:8482");
        assert_eq!(target("https://mn/"), "mn:443");
    }
}

use std::net::IpAddr;
use std::sync::Arc;

use provost_record::now;
use provost_store::{Claim, ClaimContent};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::context::Xcat;
use super::peers::Peer;
use super::request::{RequestError, TIMEOUT, read_request, shortened};
use super::verb::Verb;

/// The name of this listener in the log.
const PORT: &str = "xcat.monitor";

/// Answers one request of a node. The connection of an unknown address is closed.
pub(crate) async fn answer(xcat: Arc<Xcat>, mut stream: TcpStream) {
    let Some(peer) = xcat.peer(&stream).await else { return };
    if let Err(error) = converse(&xcat, &peer, &mut stream).await {
        error.log(&peer, PORT);
    }
}

async fn converse(xcat: &Xcat, peer: &Peer, stream: &mut TcpStream) -> Result<(), RequestError> {
    let Peer { node, address } = peer;
    send(stream, b"ready\n").await?;
    let line = read_request(stream, b"\n", xcat.stop.clone()).await?;
    let verb =
        Verb::parse(&line).ok_or_else(|| RequestError::Unknown(shortened(line.as_bytes())))?;
    match verb {
        Verb::Claim(content) => {
            store(xcat, node, *address, content).await?;
            // Only when it is durable: a node without this answer sends its claim again.
            send(stream, b"done\n").await
        }
        Verb::GetPostscript => {
            let master = stream.local_addr()?.ip();
            let text = xcat.mypostscript(node, master).await? + "#END OF SCRIPT\n";
            send(stream, text.as_bytes()).await
        }
        Verb::SyncFiles => {
            tracing::warn!(
                hint = "add Provost's postscript `syncfiles` to its list",
                "{PORT}: {node} asks for syncfiles, which provostd doesn't do"
            );
            send(stream, b"syncfiles done\n").await
        }
        Verb::Ignored => {
            let line = shortened(line.as_bytes());
            tracing::info!("{PORT}: ignoring {line:?} of {node} at {address}");
            send(stream, b"done\n").await
        }
    }
}

async fn store(
    xcat: &Xcat,
    node: &str,
    by: IpAddr,
    content: ClaimContent,
) -> Result<(), RequestError> {
    let word = match &content {
        ClaimContent::Status { status, .. } => status.as_str().to_owned(),
        ClaimContent::Program { program, appstatus } => format!("{program}={appstatus}"),
    };
    let claim = Claim { node: node.to_owned(), by, content };
    if xcat.store.claim(claim, now()).await? {
        tracing::info!("{PORT}: {node} at {by}: {word}");
    } else {
        tracing::warn!(
            "{PORT}: {node} at {by}: {word} has no effect: the node reports with a token"
        );
    }
    Ok(())
}

async fn send(stream: &mut TcpStream, text: &[u8]) -> Result<(), RequestError> {
    timeout(TIMEOUT, stream.write_all(text)).await.map_err(|_| RequestError::Silent)??;
    Ok(())
}

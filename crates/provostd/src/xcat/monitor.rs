use std::net::IpAddr;
use std::sync::Arc;

use provost_record::now;
use provost_store::{Claim, Says};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::verb::Verb;
use super::{PATIENCE, Refused, Xcat, read_request};

/// What the log calls this port.
const PORT: &str = "xcat.monitor";

/// Takes what a node says of itself. Whoever is no node is let go without a word.
pub(crate) async fn talk(xcat: Arc<Xcat>, mut stream: TcpStream) {
    let Some((node, from)) = xcat.node(&stream).await else { return };
    if let Err(refused) = hear(&xcat, &node, from, &mut stream).await {
        refused.log(&node, from, PORT);
    }
}

async fn hear(
    xcat: &Xcat,
    node: &str,
    from: IpAddr,
    stream: &mut TcpStream,
) -> Result<(), Refused> {
    say(stream, b"ready\n").await?;
    let line = read_request(stream, b"\n", xcat.app.stop.clone()).await?;
    let verb =
        Verb::parse(&line).ok_or_else(|| Refused::Unknown(super::shortened(line.as_bytes())))?;
    match verb {
        Verb::Claim(says) => {
            take(xcat, node, from, says).await?;
            // Not before it is durable: the node says it again to whoever doesn't say this.
            say(stream, b"done\n").await
        }
        Verb::GetPostscript => {
            let master = stream.local_addr()?.ip();
            let text = xcat.mypostscript(node, master).await? + "#END OF SCRIPT\n";
            say(stream, text.as_bytes()).await
        }
        Verb::SyncFiles => {
            tracing::warn!(
                hint = "give it the postscript `syncfiles` of Provost",
                "{PORT}: {node} wants its files brought up to date, which provostd doesn't do"
            );
            say(stream, b"syncfiles done\n").await
        }
        Verb::Nothing => {
            let line = super::shortened(line.as_bytes());
            tracing::info!("{PORT}: {node} at {from}: {line:?}, for which nothing is done");
            say(stream, b"done\n").await
        }
    }
}

async fn take(xcat: &Xcat, node: &str, by: IpAddr, says: Says) -> Result<(), Refused> {
    let word = match &says {
        Says::Status { status, .. } => status.as_str().to_owned(),
        Says::Program { program, appstatus } => format!("{program}={appstatus}"),
    };
    let claim = Claim { node: node.to_owned(), by, says };
    if xcat.app.store.claim(claim, now()).await? {
        tracing::info!("{PORT}: {node} at {by}: {word}");
    } else {
        tracing::warn!(
            "{PORT}: {node} at {by}: {word}, which doesn't count: it has no token, and what has \
             one says more"
        );
    }
    Ok(())
}

async fn say(stream: &mut TcpStream, text: &[u8]) -> Result<(), Refused> {
    timeout(PATIENCE, stream.write_all(text)).await.map_err(|_| Refused::Silent)??;
    Ok(())
}

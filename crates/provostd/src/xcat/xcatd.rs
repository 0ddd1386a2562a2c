use std::fmt::Write;
use std::net::IpAddr;
use std::sync::Arc;

use provost_steplog::wording::error_chain;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::context::Xcat;
use super::request::{RequestError, TIMEOUT, read_request, shortened};

/// The name of this listener in the log.
const PORT: &str = "xcat.xcatd";

/// Answers one request of a node. The connection of an unknown address is closed.
pub(crate) async fn answer(xcat: Arc<Xcat>, tls: TlsAcceptor, stream: TcpStream) {
    let Some(peer) = xcat.peer(&stream).await else { return };
    // A connection that is closed already has no address.
    let Ok(here) = stream.local_addr() else { return };
    let answered = match timeout(TIMEOUT, tls.accept(stream)).await {
        Ok(Ok(mut stream)) => converse(&xcat, &peer.node, here.ip(), &mut stream).await,
        Ok(Err(error)) => Err(RequestError::Tls(error)),
        Err(_) => Err(RequestError::Silent),
    };
    if let Err(error) = answered {
        error.log(&peer, PORT);
    }
}

async fn converse(
    xcat: &Xcat,
    node: &str,
    here: IpAddr,
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
) -> Result<(), RequestError> {
    let request = read_request(stream, b"</xcatrequest>", xcat.stop.clone()).await?;
    let answered = match element(&request, "command") {
        // The argument names a node as well, but only the address is proof of it.
        Some("getpostscript") => xcat.mypostscript(node, here).await,
        Some(command) => Err(RequestError::Unknown(shortened(command.as_bytes()))),
        None => Err(RequestError::Unknown(shortened(request.as_bytes()))),
    };
    let text = match &answered {
        Ok(script) => reply("data", script),
        Err(error) => reply("error", &error_chain(error)),
    };
    let sending = async {
        stream.write_all(text.as_bytes()).await?;
        stream.shutdown().await
    };
    timeout(TIMEOUT, sending).await.map_err(|_| RequestError::Silent)??;
    answered.map(drop)
}

/// The text of the first element `name`.
fn element<'r>(request: &'r str, name: &str) -> Option<&'r str> {
    let (_, rest) = request.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text.trim())
}

/// xCAT's answer, an element `name` a line.
fn reply(name: &str, text: &str) -> String {
    let mut reply = String::from("<xcatresponse>\n");
    for line in text.lines() {
        // Writing to a String can't fail.
        let _ = writeln!(reply, "<{name}>{}</{name}>", escape(line));
    }
    reply.push_str("<serverdone></serverdone>\n</xcatresponse>\n");
    reply
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&apos;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_element() {
        assert_eq!(element("<command> a </command>", "command"), Some("a"));
        assert_eq!(element("<command>a</cmd>", "command"), None);
        assert_eq!(
            reply("data", "A='1 < 2'\nB=\"&lt;\" >C"),
            "<xcatresponse>\n<data>A=&apos;1 &lt; 2&apos;</data>\n\
             <data>B=&quot;&amp;lt;&quot; &gt;C</data>\n<serverdone></serverdone>\n\
             </xcatresponse>\n"
        );
    }
}

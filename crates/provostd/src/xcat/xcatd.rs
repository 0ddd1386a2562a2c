use std::fmt::Write;
use std::net::IpAddr;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::{PATIENCE, Refused, Xcat, read_request, shortened};

/// What the log calls this port.
const PORT: &str = "xcat.xcatd";

/// Answers one request of a node's. Whoever is no node is let go without a word.
pub(crate) async fn talk(xcat: Arc<Xcat>, tls: TlsAcceptor, stream: TcpStream) {
    let Some((node, from)) = xcat.node(&stream).await else { return };
    // One that has gone already has none.
    let Ok(here) = stream.local_addr() else { return };
    let shaken = timeout(PATIENCE, tls.accept(stream)).await;
    let answered = match shaken.map_err(|_| Refused::Silent) {
        Ok(Ok(mut stream)) => answer(&xcat, (&node, here.ip()), &mut stream).await,
        Ok(Err(error)) => Err(Refused::Tls(error)),
        Err(silent) => Err(silent),
    };
    if let Err(refused) = answered {
        refused.log(&node, from, PORT);
    }
}

async fn answer(
    xcat: &Xcat,
    (node, here): (&str, IpAddr),
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
) -> Result<(), Refused> {
    let request = read_request(stream, b"</xcatrequest>", xcat.app.stop.clone()).await?;
    let answered = match element(&request, "command") {
        // The argument names a node; its address does so, too, and can't be just anybody's.
        Some("getpostscript") => xcat.mypostscript(node, here).await,
        Some(command) => Err(Refused::Unknown(shortened(command.as_bytes()))),
        None => Err(Refused::Unknown(shortened(request.as_bytes()))),
    };
    let text = match &answered {
        Ok(script) => reply("data", script),
        Err(refused) => reply("error", &refused.to_string()),
    };
    let saying = async {
        stream.write_all(text.as_bytes()).await?;
        stream.shutdown().await
    };
    timeout(PATIENCE, saying).await.map_err(|_| Refused::Silent)??;
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
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_element() {
        assert_eq!(element("<command> a </command>", "command"), Some("a"));
        assert_eq!(element("<command>a</cmd>", "command"), None);
        assert_eq!(
            reply("data", "A='1 < 2'\nB=\"&\""),
            "<xcatresponse>\n<data>A=&apos;1 &lt; 2&apos;</data>\n\
             <data>B=&quot;&amp;&quot;</data>\n<serverdone></serverdone>\n</xcatresponse>\n"
        );
    }
}

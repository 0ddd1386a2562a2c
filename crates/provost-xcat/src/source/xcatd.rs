//! A node's `mypostscript` from xcatd itself: XML over TLS.

use std::cell::Cell;
use std::fmt::Display;
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::Arc;

use provost_http::one_line;
use provost_http::resolve::Names;
use provost_node::failure::Failure;
use provost_node::fetch::FetchError;
use provost_node::settings::{Settings, Xcat};
use provost_record::Cause;
use provost_steplog::wording;
use reqwest::Url;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use super::certificates::client_config;
use super::listing::unescaped;
use super::refusals::Refusals;
use crate::status::monitor;

/// The longest answer, in bytes.
const LONGEST: usize = 4 << 20;
/// How an answer ends.
const END: &str = "<serverdone>";
const HINT: &str = "see on the management node that xcatd runs (lsxcatd -a) and that no firewall is \
     before its port; or have its web server hand the file out: chdef -t site \
     precreatemypostscripts=1, then nodeset";
const CERTIFICATE: &str = "let `ca` under [fetch] name a copy of xcatd's own certificate: on the \
     management node /etc/xcat/cert/server-cert.pem";

const CIPHERS: &str = "it has no cipher of today's, as an xcatd on an old system: without `ca` under \
     [fetch] the script comes from its port for status, unproved; or have its web server hand the \
     file out: chdef -t site precreatemypostscripts=1, then nodeset";
const SHAKING: &str = "the TLS handshake";

/// Asks the xcatd on the host of `server` for the mypostscript of this node, once, and waits until
/// `deadline`. Returns its text and the port that it is from.
pub(super) async fn getpostscript(
    settings: &Settings,
    xcat: &Xcat,
    server: &Url,
    refusals: &Refusals,
    deadline: Instant,
) -> Result<(String, u16), FetchError> {
    let host = server.host_str().unwrap_or_default();
    let asked = format!("asking xcatd at {host}:{} for a mypostscript", xcat.xcatd_port);
    let said = Cell::new(false);
    let exchange = Exchange { settings, server, refusals, deadline, asked: &asked, said };
    let Some(text) = exchange.with(host, xcat.xcatd_port).await? else {
        // An xcatd whose certificate isn't checked is trusted no less without TLS.
        let port = xcat.monitor_port;
        let script = monitor::getpostscript(settings, port, server, deadline).await;
        return script.map(|text| (text, port)).map_err(FetchError::silent);
    };
    let refused = |why: &str, hint: &str| {
        let message = format!("{asked}: {why}");
        Err(FetchError::give_up(Failure::new(Cause::Fetch, message, hint)))
    };
    if let Some(error) = elements(&text, "error").next() {
        let hint =
            "check that lsdef on the management node knows this node by that name and address";
        return refused(&format!("it refuses: {}", one_line(&error)), hint);
    }
    let lines: Vec<String> = elements(&text, "data").map(unindented).collect();
    if lines.is_empty() {
        return refused("it has none for this node", "check that lsdef there knows this node");
    }
    Ok((lines.join("\n") + "\n", xcat.xcatd_port))
}

struct Exchange<'a> {
    settings: &'a Settings,
    server: &'a Url,
    refusals: &'a Refusals,
    /// Until when it waits for what is accepted.
    deadline: Instant,
    asked: &'a str,
    /// Whether it has said that it waits.
    said: Cell<bool>,
}

impl Exchange<'_> {
    /// None where we have no cipher in common, and no certificate of it is configured.
    async fn with(&self, host: &str, port: u16) -> Result<Option<String>, FetchError> {
        let connect = self.settings.fetch.connect;
        let bare = host.trim_matches(['[', ']']);
        let addresses = match bare.parse() {
            Ok(address) => vec![address],
            Err(_) => {
                Names::new(connect).look_up(bare).await.map_err(|e| self.miss(&e, e.hint()))?
            }
        };
        let Some(address) = addresses.first() else { return Err(self.miss(&"no address", HINT)) };
        let tcp = TcpStream::connect((*address, port));
        let tcp = match tokio::time::timeout(connect.duration(), tcp).await {
            Ok(connected) => connected.map_err(|e| self.broken("connecting", &e))?,
            Err(_) => return Err(self.miss(&format!("connecting: nothing within {connect}"), HINT)),
        };
        self.refusals.end(self.server);
        let name = ServerName::try_from(bare.to_owned()).map_err(|e| self.miss(&e, HINT))?;
        let config =
            client_config(self.settings).ok_or_else(|| self.miss(&"no cryptography", HINT))?;
        let tls = TlsConnector::from(Arc::new(config)).connect(name, tcp);
        let shaken = async { Ok(tls.await) };
        let mut tls = match self.wait_for(SHAKING, shaken).await? {
            Err(e) if self.settings.ca.is_none() && has_no_common_cipher(&e) => return Ok(None),
            shaken => shaken.map_err(|e| self.broken(SHAKING, &e))?,
        };
        let request = format!(
            "<xcatrequest>\n   <command>getpostscript</command>\n   <arg>{}</arg>\n</xcatrequest>\n",
            self.settings.node
        );
        let sent = async {
            tls.write_all(request.as_bytes()).await?;
            tls.flush().await
        };
        self.wait_for("sending the request", sent).await?;
        let mut answer = Vec::new();
        loop {
            let read = tls.read_buf(&mut answer);
            let n = self.wait_for("its answer", read).await?;
            // The end may have come in two pieces.
            let new = answer.len().saturating_sub(n + END.len());
            if String::from_utf8_lossy(&answer[new..]).contains(END) {
                break;
            }
            if n == 0 {
                return Err(
                    self.miss(&format!("the connection ended after {} bytes", answer.len()), HINT)
                );
            }
            if answer.len() > LONGEST {
                let message = format!("{}: its answer has more than {LONGEST} bytes", self.asked);
                return Err(FetchError::give_up(Failure::new(Cause::Fetch, message, HINT)));
            }
        }
        Ok(Some(String::from_utf8_lossy(&answer).into_owned()))
    }

    /// Waits for a part of what was asked on an accepted connection. xcatd serves one node after the
    /// other: who gives up and asks again stands in its queue twice.
    async fn wait_for<T>(
        &self,
        what: &str,
        doing: impl Future<Output = std::io::Result<T>>,
    ) -> Result<T, FetchError> {
        let begun = Instant::now();
        let stalled = self.deadline.min(begun + self.settings.fetch.stall.duration());
        let mut doing = pin!(doing);
        let mut done = timeout_at(stalled, &mut doing).await;
        if done.is_err() && stalled < self.deadline {
            if !self.said.replace(true) {
                tracing::info!("fetch: waiting: {} (it may be serving other nodes)", self.asked);
            }
            done = timeout_at(self.deadline, doing).await;
        }
        match done {
            Ok(done) => done.map_err(|e| self.broken(what, &e)),
            Err(_) => {
                let waited = wording::duration(begun.elapsed());
                Err(self.miss(&format!("{what}: nothing within {waited}"), HINT))
            }
        }
    }

    fn broken(&self, what: &str, e: &std::io::Error) -> FetchError {
        let miss = self.miss(&format!("{what}: {e}"), HINT);
        let of_tls = e.get_ref().and_then(|e| e.downcast_ref());
        match (e.kind(), of_tls) {
            (ErrorKind::ConnectionRefused, _) => self.refusals.miss(self.server, miss.failure),
            (_, Some(rustls::Error::InvalidCertificate(_))) => {
                FetchError::give_up(Failure { hint: CERTIFICATE.to_owned(), ..miss.failure })
            }
            _ if has_no_common_cipher(e) => {
                FetchError::give_up(Failure { hint: CIPHERS.to_owned(), ..miss.failure })
            }
            _ => miss,
        }
    }

    fn miss(&self, why: &dyn Display, hint: &str) -> FetchError {
        FetchError::silent(Failure::new(Cause::Fetch, format!("{}: {why}", self.asked), hint))
    }
}

/// Whether both sides have no cipher in common: perl's TLS on old systems has no key exchange by
/// elliptic curves, and ours has no other.
fn has_no_common_cipher(e: &std::io::Error) -> bool {
    use rustls::{AlertDescription, Error};
    let of_tls = e.get_ref().and_then(|e| e.downcast_ref());
    let alerts = [AlertDescription::HandshakeFailure, AlertDescription::ProtocolVersion];
    match of_tls {
        Some(Error::AlertReceived(alert)) => alerts.contains(alert),
        Some(Error::PeerIncompatible(_)) => true,
        _ => false,
    }
}

/// The texts of the elements `name`, which contain no others. The answer needn't be well-formed XML:
/// it is one document after the other, and its end may be missing.
fn elements<'t>(xml: &'t str, name: &str) -> impl Iterator<Item = String> + 't {
    let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = xml;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(&begin)?;
        let (text, after) = after.split_once(&end)?;
        rest = after;
        Some(unescaped(text))
    })
}

/// A line without the newline and blanks that some xcatds put before the end of an element, which
/// xCAT's own client ignores.
fn unindented(mut line: String) -> String {
    if let Some(at) = line.rfind('\n').filter(|at| line[*at..].trim().is_empty()) {
        line.truncate(at);
    }
    line
}

#[cfg(test)]
mod tests {
    use provost_bundle::Limit;
    use tokio::time::Instant;

    use super::*;
    use provost_node::fetch::retry::try_servers;
    use provost_node::settings::Input;

    #[tokio::test(start_paused = true)]
    async fn an_xcatd_that_refuses_connections_is_given_a_minute() {
        let (settings, _) = Input::read(None, Vec::new()).usable();
        let xcat = Xcat {
            install_dir: String::new(),
            tftp_dir: String::new(),
            // Where nobody listens.
            xcatd_port: 1,
            monitor_port: 1,
            max_file_mib: 1,
            max_total_mib: 1,
            is_published: false,
        };
        let servers = [Url::parse("http://127.0.0.1/").unwrap()];
        let refusals = Refusals::default();
        let (begun, limit) = (Instant::now(), Limit::seconds(600));
        let ask = |server, until| getpostscript(&settings, &xcat, server, &refusals, until);
        let unserved = try_servers(&servers, limit, |_| {}, ask).await.err().unwrap();
        assert!(unserved.why.failure.message.contains("refused"), "{}", unserved.why.failure);
        let waited = begun.elapsed().as_secs();
        assert!((60..=66).contains(&waited), "{waited} s");
        assert!(refusals.is_any());
    }

    #[test]
    fn an_answer_is_read_element_by_element() {
        let xml = "<xcatresponse>\n<data>a=&apos;1 &amp;lt; 2&apos;</data>\n<data></data>\n\
                   <data>two\nlines</data></xcatresponse>\n<xcatresponse><serverdone></serverdone>";
        let data: Vec<String> = elements(xml, "data").collect();
        assert_eq!(data, ["a='1 &lt; 2'", "", "two\nlines"]);
        let unescaped: Vec<String> =
            elements("<data>a & b</data>\n<data>c</data>", "data").collect();
        assert_eq!(unescaped, ["a & b", "c"]);
        assert_eq!(elements("<error>no</err", "error").next(), None);
    }
}

//! A node's `mypostscript` from xcatd itself: XML over TLS.

use provost_record::wording;
use std::fmt::Display;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use provost_record::Cause;
use reqwest::Url;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::listing::unescaped;
use super::refusals::Refusals;
use crate::failure::Failure;
use crate::fetch::FetchError;
use crate::http::resolve::Names;
use crate::settings::{Settings, Xcat};

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

/// Asks the xcatd of the host of `server` for the mypostscript of this node. Returns the port where
/// it had it, too.
pub(crate) async fn getpostscript(
    settings: &Settings,
    xcat: &Xcat,
    server: &Url,
    refusals: &Refusals,
) -> Result<(String, u16), FetchError> {
    let host = server.host_str().unwrap_or_default();
    let asked = format!("asking xcatd at {host}:{} for a mypostscript", xcat.xcatd_port);
    let exchange = Exchange { settings, server, refusals, asked: &asked };
    let Some(text) = exchange.with(host, xcat.xcatd_port).await? else {
        // Nobody who could be anybody is less trusted without TLS.
        let port = xcat.monitor_port;
        let script = crate::xcat::getpostscript(settings, port, server).await;
        return script.map(|text| (text, port)).map_err(FetchError::silent);
    };
    let refused = |why: &str, hint: &str| {
        let message = format!("{asked}: {why}");
        Err(FetchError::give_up(Failure::new(Cause::Fetch, message, hint)))
    };
    if let Some(error) = elements(&text, "error").next() {
        let hint = "see that lsdef on the management node knows this node by that name and address";
        return refused(&format!("it refuses: {}", crate::http::one_line(&error)), hint);
    }
    let lines: Vec<String> = elements(&text, "data").map(unindented).collect();
    if lines.is_empty() {
        return refused("it has none for this node", "see that lsdef there knows this node");
    }
    Ok((lines.join("\n") + "\n", xcat.xcatd_port))
}

struct Exchange<'a> {
    settings: &'a Settings,
    server: &'a Url,
    refusals: &'a Refusals,
    asked: &'a str,
}

impl Exchange<'_> {
    /// None where it speaks no TLS of ours, and nobody has said by what it is to be known.
    async fn with(&self, host: &str, port: u16) -> Result<Option<String>, FetchError> {
        let (connect, stall) = (self.settings.fetch.connect, self.settings.fetch.stall);
        let bare = host.trim_matches(['[', ']']);
        let addresses = match bare.parse() {
            Ok(address) => vec![address],
            Err(_) => {
                Names::new(connect).look_up(bare).await.map_err(|e| self.miss(&e, e.hint()))?
            }
        };
        let Some(address) = addresses.first() else { return Err(self.miss(&"no address", HINT)) };
        let tcp =
            self.within(connect.duration(), "connecting", TcpStream::connect((*address, port)));
        let tcp = tcp.await?;
        self.refusals.end(self.server);
        let name = ServerName::try_from(bare.to_owned()).map_err(|e| self.miss(&e, HINT))?;
        let tls = TlsConnector::from(Arc::new(self.config()?)).connect(name, tcp);
        let shaken = async { Ok(tls.await) };
        let mut tls = match self.within(stall.duration(), SHAKING, shaken).await? {
            Err(e) if self.settings.ca.is_none() && is_of_another_kind(&e) => return Ok(None),
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
        self.within(stall.duration(), "sending the request", sent).await?;
        let mut answer = Vec::new();
        loop {
            let read = tls.read_buf(&mut answer);
            let n = self.within(stall.duration(), "its answer", read).await?;
            // The mark may have come in two pieces.
            let new = answer.len().saturating_sub(n + END.len());
            if String::from_utf8_lossy(&answer[new..]).contains(END) {
                break;
            }
            if n == 0 {
                return Err(self.miss(&format!("it broke off after {} bytes", answer.len()), HINT));
            }
            if answer.len() > LONGEST {
                let message = format!("{}: its answer has more than {LONGEST} bytes", self.asked);
                return Err(FetchError::give_up(Failure::new(Cause::Fetch, message, HINT)));
            }
        }
        Ok(Some(String::from_utf8_lossy(&answer).into_owned()))
    }

    async fn within<T>(
        &self,
        limit: Duration,
        what: &str,
        doing: impl Future<Output = std::io::Result<T>>,
    ) -> Result<T, FetchError> {
        match tokio::time::timeout(limit, doing).await {
            Ok(done) => done.map_err(|e| self.broken(what, &e)),
            Err(_) => {
                Err(self
                    .miss(&format!("{what}: nothing within {}", wording::duration(limit)), HINT))
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
            _ if is_of_another_kind(e) => {
                FetchError::give_up(Failure { hint: CIPHERS.to_owned(), ..miss.failure })
            }
            _ => miss,
        }
    }

    fn miss(&self, why: &dyn Display, hint: &str) -> FetchError {
        FetchError::silent(Failure::new(Cause::Fetch, format!("{}: {why}", self.asked), hint))
    }

    fn config(&self) -> Result<ClientConfig, FetchError> {
        let known = self.settings.ca.clone();
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(known.iter().flatten().cloned());
        let provider = CryptoProvider::get_default();
        let provider = provider.ok_or_else(|| self.miss(&"no cryptography", HINT))?;
        let verifier = Certificates { known, roots, provider: provider.clone() };
        let config = ClientConfig::builder();
        let config = config.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        Ok(config.with_no_client_auth())
    }
}

/// Whether there is no TLS that both sides speak: perl's of old systems has no key exchange by
/// elliptic curves, and ours no other.
fn is_of_another_kind(e: &std::io::Error) -> bool {
    use rustls::{AlertDescription, Error};
    let of_tls = e.get_ref().and_then(|e| e.downcast_ref());
    let alerts = [AlertDescription::HandshakeFailure, AlertDescription::ProtocolVersion];
    match of_tls {
        Some(Error::AlertReceived(alert)) => alerts.contains(alert),
        Some(Error::PeerIncompatible(_)) => true,
        _ => false,
    }
}

/// By what xcatd is known: one of these certificates, whatever stands in it, or one that they vouch
/// for and that has the name or address by which it is asked. xCAT's own certificates are of the
/// first kind only: they are valid from 1960 on, which is before all time here, have no address in
/// them, and their authority has issued one to each of its users as well. Where there are none it
/// could be anybody, as with xCAT's own client.
#[derive(Debug)]
struct Certificates {
    known: Option<Vec<CertificateDer<'static>>>,
    roots: RootCertStore,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Certificates {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.known.as_ref().is_some_and(|known| !known.contains(end_entity)) {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            let algorithms = self.provider.signature_verification_algorithms.all;
            let roots = &self.roots;
            verify_server_cert_signed_by_trust_anchor(
                &certificate,
                roots,
                intermediates,
                now,
                algorithms,
            )?;
            verify_server_name(&certificate, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// The texts of the elements `name`, which have no others in them.
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

/// A line without the break and the blanks that an xcatd puts before the end of an element. xCAT's own
/// client doesn't look at them.
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
    use crate::fetch::retry::try_servers;
    use crate::settings::Input;

    #[tokio::test(start_paused = true)]
    async fn an_xcatd_that_refuses_connections_is_given_a_minute() {
        let (settings, _) = Input::read(None, Vec::new()).usable();
        let xcat = Xcat {
            install_dir: String::new(),
            tftp_dir: String::new(),
            // Where nobody listens.
            xcatd_port: 1,
            monitor_port: 1,
            is_published: false,
        };
        let servers = [Url::parse("http://127.0.0.1/").unwrap()];
        let refusals = Refusals::default();
        let (begun, limit) = (Instant::now(), Limit::seconds(600));
        let ask = |server| getpostscript(&settings, &xcat, server, &refusals);
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
        assert_eq!(elements("<error>no</err", "error").next(), None);
    }
}

//! HTTP as a client: for a node's fetching and reporting, and for the webhooks of the management node.
//!
//! A server is known over TLS by the public keys that a manifest names or by certificates that are
//! given; the client is known by an [`Identity`]. Names come from the hosts file and the name servers
//! of resolv.conf.

pub mod backoff;
mod csr;
mod identity;
pub mod no_route;
mod private_transport;
pub mod resolve;
mod verifier;
pub mod zone;

use std::time::Duration;

use provost_bundle::Limit;
use reqwest::Proxy;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use rustls::pki_types::CertificateDer;

pub use identity::MOST as MOST_CERTIFICATE;
pub use identity::{Identity, ShownIdentity};
pub use private_transport::{Asking, PrivateTransport};
use resolve::Names;

/// How long an idle connection is kept for the next request: through a run with a report each second, and less than
/// the three seconds after which provostd may give its place to another node.
const IDLE: Duration = Duration::from_secs(2);
/// How many idle connections are kept to each server, of those that fetching had at once. A server has
/// places for some thousands, of all nodes.
const IDLE_CONNECTIONS: usize = 1;

/// The HTTP client of this process.
#[derive(Clone, Default)]
pub struct Client {
    /// For what is public: it proves nothing.
    requests: reqwest::Client,
    /// For what only this node may know and say.
    private: reqwest::Client,
    transport: PrivateTransport,
}

impl Client {
    /// How it sends what is private.
    pub fn transport(&self) -> &PrivateTransport {
        &self.transport
    }

    /// By what it proves whose client it is.
    pub fn identity(&self) -> &Identity {
        self.transport.identity()
    }

    /// The client for what is private. Its connections over TLS prove this node's key, once it has made one;
    /// before that it must not be used. Without TLS what is private shares the connections of the rest.
    pub fn private(&self) -> &reqwest::Client {
        if self.transport.tls().is_some() { &self.private } else { &self.requests }
    }
}

impl std::ops::Deref for Client {
    type Target = reqwest::Client;

    fn deref(&self) -> &reqwest::Client {
        &self.requests
    }
}

/// What a client goes by.
#[derive(Clone, Copy, Debug)]
pub struct ClientOptions<'a> {
    /// How long a server may take to accept a connection.
    pub connect: Limit,
    /// For how long no byte may come.
    pub stall: Limit,
    /// The proxy, `http://ADDRESS:PORT`.
    pub proxy: Option<&'a str>,
    /// Whose certificates count.
    pub ca: &'a [CertificateDer<'static>],
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The proxy has no usable URL.
    #[error("the proxy {proxy:?} can't be used: {why}")]
    Proxy {
        /// As it was given.
        proxy: String,
        /// Why.
        why: String,
    },
    /// The certificates can't be used.
    #[error("using the CA certificates: {0}")]
    Ca(String),
}

impl ClientError {
    /// What an admin can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Proxy { .. } => {
                "write `proxy` under [fetch] as http://ADDRESS:PORT, or remove it"
            }
            Self::Ca(_) => "`ca` under [fetch] must name a file of PEM certificates",
        }
    }
}

impl Client {
    /// A client that does nothing by itself: no proxy from the environment's, no redirect, no retry.
    pub fn new(options: ClientOptions<'_>) -> Result<Self, ClientError> {
        let builder = || {
            reqwest::Client::builder()
                .user_agent(format!("provost/{}", provost_api::VERSION))
                .connect_timeout(options.connect.duration())
                .read_timeout(options.stall.duration())
                .pool_idle_timeout(IDLE)
                .pool_max_idle_per_host(IDLE_CONNECTIONS)
                .redirect(reqwest::redirect::Policy::none())
                .dns_resolver(Names::new(options.connect))
                .retry(reqwest::retry::never())
                .no_proxy()
        };
        let proxy = options.proxy.map(|proxy| {
            let unusable = |why| ClientError::Proxy { proxy: proxy.to_owned(), why };
            let url = zone::parse_url(proxy).map_err(unusable)?;
            // The HTTP library would take what follows for a host.
            if !matches!(url.scheme(), "http" | "https") {
                return Err(unusable("it isn't a URL of HTTP".to_owned()));
            }
            Proxy::all(url).map_err(|e| unusable(reason(&e)))
        });
        let proxy = proxy.transpose()?;
        let unusable = |e: &(dyn std::error::Error + 'static)| ClientError::Ca(reason(e));
        let transport = PrivateTransport::default();
        let (tls, private) =
            verifier::configs(options.ca, transport.clone()).map_err(|e| unusable(&e))?;
        let build = |tls| {
            let builder = builder().tls_backend_preconfigured(tls);
            let builder = match &proxy {
                Some(proxy) => builder.proxy(proxy.clone()),
                None => builder,
            };
            builder.build().map_err(|e| unusable(&e))
        };
        Ok(Self { requests: build(tls)?, private: build(private)?, transport })
    }
}

/// Why a request failed: the innermost error. Those around it name the client's layers and repeat
/// the URL, which the caller names.
pub fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    innermost(error).to_string()
}

/// The last error in the chain of sources.
pub fn innermost<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> &'e (dyn std::error::Error + 'static) {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost
}

/// A server's text as one line, of at most 500 characters.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(500).collect()
}

/// Reads a response's body, of which at most `most` bytes.
pub async fn body(mut response: reqwest::Response, most: usize) -> reqwest::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await? {
        body.extend_from_slice(&bytes[..bytes.len().min(most - body.len())]);
        if body.len() == most {
            break;
        }
    }
    Ok(body)
}

/// How long a server asks to wait: a number of seconds, or a time (RFC 9110, 10.2.3).
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let wait = http_date(text)?.duration_since(jiff::Timestamp::now());
    Some(wait.try_into().unwrap_or(Duration::ZERO))
}

/// A time as HTTP writes it (RFC 9110, 5.6.7).
pub fn http_date(text: &str) -> Option<jiff::Timestamp> {
    jiff::fmt::rfc2822::parse(text).ok().map(|time| time.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_in_seconds_or_as_a_time() {
        let wait = |text: &'static str| {
            retry_after(&HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]))
        };
        assert_eq!(wait(" 7"), Some(Duration::from_secs(7)));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert!(wait("Fri, 06 Nov 2099 08:49:37 GMT").unwrap() > Duration::from_secs(1 << 30));
        assert_eq!(wait("soon"), None);
        assert_eq!(wait("-1"), None);
    }
}

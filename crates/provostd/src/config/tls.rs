use std::net::SocketAddr;
use std::path::PathBuf;

use provost_http::zone;
use provost_store::Network;
use serde::{Deserialize, Deserializer, de};

/// The listeners over TLS.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "TlsSection")]
pub struct TlsConfig {
    /// Whether nodes have none.
    pub off: bool,
    /// Their address; by default that of the nodes' other listener, two ports above it.
    pub listen: Option<SocketAddr>,
    /// The address of the admins' listener over TLS; there is none unless it is named.
    pub admin: Option<SocketAddr>,
    /// Names and addresses of this server that its certificate has besides its host name.
    pub names: Vec<String>,
    /// The TCP proxies whose connections begin with a header of the PROXY protocol.
    pub proxies: Vec<Network>,
    /// The site's own certificate; without one provostd's own authority issues one.
    pub files: Option<TlsFiles>,
}

/// A certificate of the site.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate and its chain, PEM.
    pub cert: PathBuf,
    /// Its secret key, PEM.
    pub key: PathBuf,
}

impl TlsFiles {
    /// Both, or none.
    pub(crate) fn of(
        cert: Option<PathBuf>,
        key: Option<PathBuf>,
    ) -> Result<Option<Self>, &'static str> {
        match (cert, key) {
            (Some(cert), Some(key)) => Ok(Some(Self { cert, key })),
            (None, None) => Ok(None),
            _ => Err("`cert` and `key` must be set together"),
        }
    }
}

/// `[tls]` as it is written.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct TlsSection {
    /// Whether nodes have none.
    #[serde(default)]
    off: bool,
    /// Their address, such as "0.0.0.0:8482".
    #[serde(default, deserialize_with = "some_address")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    listen: Option<SocketAddr>,
    /// The address of the admins' listener over TLS, such as "0.0.0.0:8483"; there is none unless it
    /// is named.
    #[serde(default, deserialize_with = "some_address")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    admin: Option<SocketAddr>,
    /// Names and addresses of this machine that its certificate has.
    #[serde(default)]
    names: Vec<String>,
    /// Addresses and networks of TCP proxies, such as "10.0.0.2": their connections begin with a header of the PROXY
    /// protocol, which names the client.
    #[serde(default, deserialize_with = "networks")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    proxies: Vec<Network>,
    /// The site's own certificate with its chain, PEM.
    cert: Option<PathBuf>,
    /// Its secret key, PEM.
    key: Option<PathBuf>,
}

/// An address and port, with an interface where that is link-local.
pub(super) fn address<'de, D: Deserializer<'de>>(value: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(value)?;
    zone::parse_address(&text).map_err(de::Error::custom)
}

fn some_address<'de, D: Deserializer<'de>>(value: D) -> Result<Option<SocketAddr>, D::Error> {
    address(value).map(Some)
}

fn networks<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<Network>, D::Error> {
    let networks = Vec::<String>::deserialize(value)?;
    let parsed: Result<_, _> = networks.iter().map(|network| network.parse()).collect();
    parsed.map_err(|error| de::Error::custom(format!("`proxies`: {error}")))
}

impl TryFrom<TlsSection> for TlsConfig {
    type Error = &'static str;

    fn try_from(section: TlsSection) -> Result<Self, Self::Error> {
        let TlsSection { off, listen, admin, names, proxies, cert, key } = section;
        let files = TlsFiles::of(cert, key)?;
        if names.iter().any(|name| !name.is_ascii() || name.is_empty()) {
            return Err("`names` must be host names in ASCII, or addresses");
        }
        Ok(Self { off, listen, admin, names, proxies, files })
    }
}

impl TlsConfig {
    /// Where it listens, if it does; `plain` is the nodes' other listener.
    pub(crate) fn address(&self, plain: SocketAddr) -> Option<SocketAddr> {
        let port = match plain.port() {
            0 => 0,
            port => port.checked_add(2).unwrap_or(8482),
        };
        let address = self.listen.unwrap_or(SocketAddr::new(plain.ip(), port));
        (!self.off).then_some(address)
    }
}

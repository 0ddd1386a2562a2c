use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use provost_bundle::Tls;
use provost_node::settings::parse_server;
use reqwest::Url;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::config::{ConfigError, Guard, TlsConfig, TlsFiles};

/// Where a relay looks for its configuration if none is named.
const FILE: &str = "/etc/provost/relay.toml";

/// `relay.toml`: the configuration of a relay.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RelayConfig {
    /// The management nodes' URLs, tried in order.
    #[serde(default)]
    pub upstreams: Vec<String>,
    /// By what the upstreams are known over TLS: the line of `provostd ca show --tls`. What is private
    /// then goes to that port of theirs.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub upstream_tls: Option<Tls>,
    /// Whose certificates count for upstreams with an https URL, PEM.
    pub upstream_ca: Option<PathBuf>,
    /// The folder that the relay writes to; created with mode 0700 where there is none.
    #[serde(default = "data")]
    pub data: PathBuf,
    /// The nodes' listener.
    #[serde(default = "listen")]
    pub listen: SocketAddr,
    /// The admins' listener over TCP: `/healthz` and `/metrics`.
    pub admin: Option<SocketAddr>,
    /// The nodes' listener over TLS.
    #[serde(default, deserialize_with = "tls")]
    #[cfg_attr(feature = "schema", schemars(with = "RelayTls"))]
    pub tls: TlsConfig,
    /// When a node is held while no upstream can be reached.
    #[serde(default)]
    pub guard: Guard,
}

/// `[tls]` as it is written.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct RelayTls {
    /// Whether there is none.
    #[serde(default)]
    off: bool,
    /// Its address, such as "0.0.0.0:8482".
    listen: Option<SocketAddr>,
    /// A certificate with its chain, PEM, by which the relay takes reports over TLS itself.
    cert: Option<PathBuf>,
    /// Its secret key, PEM.
    key: Option<PathBuf>,
}

fn tls<'de, D: Deserializer<'de>>(from: D) -> Result<TlsConfig, D::Error> {
    let RelayTls { off, listen, cert, key } = RelayTls::deserialize(from)?;
    let files = TlsFiles::of(cert, key).map_err(D::Error::custom)?;
    Ok(TlsConfig { off, listen, files, ..TlsConfig::default() })
}

fn data() -> PathBuf {
    "/var/lib/provost-relay".into()
}

fn listen() -> SocketAddr {
    ([0, 0, 0, 0], 8480).into()
}

impl RelayConfig {
    /// Reads `file`, if one is named, or else the usual one, if there is one; then `upstreams` take the
    /// place of those in it.
    pub fn load(file: Option<&Path>, upstreams: &[String]) -> Result<Self, ConfigError> {
        let path = file.unwrap_or(Path::new(FILE));
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if file.is_none() && e.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(source) => {
                return Err(ConfigError::Unreadable { path: path.to_owned(), source });
            }
        };
        let invalid = |source| ConfigError::InvalidRelay { path: path.to_owned(), source };
        let mut config: Self = toml::from_str(&text).map_err(|e| invalid(Box::new(e).into()))?;
        if !upstreams.is_empty() {
            config.upstreams = upstreams.to_vec();
        }
        config.check().map_err(|why| invalid(why.into()))?;
        let path = std::path::absolute(path)
            .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        let tls = config.tls.files.map(|TlsFiles { cert, key }| TlsFiles {
            cert: folder.join(cert),
            key: folder.join(key),
        });
        Ok(Self {
            data: folder.join(config.data),
            upstream_ca: config.upstream_ca.map(|ca| folder.join(ca)),
            tls: TlsConfig { files: tls, ..config.tls },
            ..config
        })
    }

    /// The upstreams' URLs.
    pub(crate) fn urls(&self) -> Result<Vec<Url>, String> {
        let parse = |text: &String| parse_server(text, "").map_err(|failure| failure.text());
        self.upstreams.iter().map(parse).collect()
    }

    /// Refuses what would send a node's token where others can read it, or nowhere.
    fn check(&self) -> Result<(), String> {
        let urls = self.urls()?;
        if urls.is_empty() {
            return Err("no upstream is named".to_owned());
        }
        let is_https = |url: &Url| url.scheme() == "https";
        if urls.iter().any(is_https) && self.upstream_ca.is_none() && self.upstream_tls.is_none() {
            return Err("an upstream over https needs `upstream_ca` or `upstream_tls`".to_owned());
        }
        let is_private = self.upstream_tls.is_some() || urls.iter().all(is_https);
        if self.tls.files.is_some() && !is_private {
            let why = "with `cert` under [tls] nodes send their tokens over TLS, so the upstreams need \
                       `upstream_tls` or https";
            return Err(why.to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), String> {
        toml::from_str::<RelayConfig>(text).unwrap().check()
    }

    #[test]
    fn what_would_lose_a_token_is_refused() {
        let http = "upstreams = ['http://10.0.0.1:8480']\n";
        let https = "upstreams = ['https://mn:8482']\n";
        let cert = "[tls]\ncert = 'c'\nkey = 'k'\n";
        let pinned = format!("upstream_tls = '8482:{}'\n", "0".repeat(64));
        assert_eq!(check(http), Ok(()));
        assert_eq!(check(&format!("{http}{pinned}{cert}")), Ok(()));
        assert_eq!(check(&format!("{https}upstream_ca = 'ca.pem'\n{cert}")), Ok(()));
        for (text, why) in [
            ("", "no upstream"),
            (https, "`upstream_ca`"),
            (&*format!("{http}{cert}"), "tokens"),
            ("upstreams = ['mn']", "can't be used"),
        ] {
            assert!(check(text).unwrap_err().contains(why), "{text}");
        }
    }
}

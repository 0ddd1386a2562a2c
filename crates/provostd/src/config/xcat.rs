use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

/// Listeners for nodes that still run xCAT's own scripts. They have no token: a machine with a node's
/// address can report for that node, and gets its plan.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "XcatFile")]
pub struct XcatConfig {
    /// xCAT's port 3002: receives their status, and serves their `mypostscript`.
    pub monitor: Option<SocketAddr>,
    /// xCAT's port 3001: serves their `mypostscript` over TLS.
    pub xcatd: Option<Xcatd>,
    /// Whether an address that no plan has as IPADDR is looked up in DNS.
    pub dns: bool,
}

/// A listener with TLS.
#[derive(Clone, Debug)]
pub struct Xcatd {
    /// Its address.
    pub listen: SocketAddr,
    /// The certificate and its chain, PEM.
    pub tls_cert: PathBuf,
    /// Its secret key, PEM.
    pub tls_key: PathBuf,
}

/// `[xcat]` as it is written.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct XcatFile {
    /// Takes their status and serves their mypostscript, such as "0.0.0.0:3002".
    monitor: Option<SocketAddr>,
    /// Serves their mypostscript over TLS, such as "0.0.0.0:3001".
    xcatd: Option<SocketAddr>,
    /// Its certificate and chain, PEM.
    tls_cert: Option<PathBuf>,
    /// Its secret key, PEM.
    tls_key: Option<PathBuf>,
    /// Whether an address that no plan has is looked up.
    #[serde(default)]
    dns: bool,
}

impl TryFrom<XcatFile> for XcatConfig {
    type Error = &'static str;

    fn try_from(file: XcatFile) -> Result<Self, Self::Error> {
        let xcatd = match (file.xcatd, file.tls_cert, file.tls_key) {
            (Some(listen), Some(tls_cert), Some(tls_key)) => {
                Some(Xcatd { listen, tls_cert, tls_key })
            }
            (None, None, None) => None,
            _ => return Err("`xcatd`, `tls_cert` and `tls_key` must be set together"),
        };
        Ok(Self { monitor: file.monitor, xcatd, dns: file.dns })
    }
}

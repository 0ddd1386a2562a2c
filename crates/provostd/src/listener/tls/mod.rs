//! TLS for nodes: the authority by which they know this server, and their listener.

pub(crate) mod any_key;
pub(crate) mod authority;
pub(crate) mod connection;
pub(crate) mod pair;
pub(crate) mod rotation;
pub(crate) mod show;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use provost_bundle::Tls;

use crate::config::Config;
pub(crate) use authority::Authority;
pub use authority::AuthorityError;
pub(crate) use connection::TlsListener;
pub use pair::TlsError;
pub(crate) use pair::{CertificateValidity, Pair};
pub(crate) use show::{Show, ShowError, rotate};

/// What the nodes' TLS listener proves itself by: the site's own certificate, or one of this
/// management node's authority, which is made at the first start.
pub(crate) fn identity(config: &Config) -> Result<Pair, IdentityError> {
    match &config.tls.files {
        Some(files) => Ok(Pair::read(&files.cert, &files.key)?),
        None => Ok(Authority::open_or_make(&config.data)?.server(names(config))?),
    }
}

/// Whether [`identity`] would succeed; makes no authority.
pub(crate) fn check_identity(config: &Config) -> Result<(), IdentityError> {
    let pair = match &config.tls.files {
        Some(files) => Pair::read(&files.cert, &files.key)?,
        None => match Authority::open(&config.data) {
            Err(AuthorityError::File { source, .. })
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                return Ok(());
            }
            opened => opened?.server(names(config))?,
        },
    };
    Ok(pair.acceptor().map(drop)?)
}

/// The authority of this management node, which signs nodes' certificates.
pub(crate) fn authority(config: &Config) -> Result<Authority, AuthorityError> {
    Authority::open_or_make(&config.data)
}

/// How nodes reach the running daemon by TLS, if at all.
#[derive(Clone, Default)]
pub(crate) struct NodesTls(pub(crate) Option<Tls>);

impl NodesTls {
    /// At its port, by the keys that the configuration names or else those of the `authority`.
    pub(crate) fn at(
        port: u16,
        config: &Config,
        authority: &Authority,
    ) -> Result<Self, IdentityError> {
        let keys = match &config.tls.files {
            Some(files) => vec![Pair::read(&files.cert, &files.key)?.public_key()?],
            None => authority.keys()?,
        };
        Ok(Self(Some(Tls { port, keys })))
    }
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The site's own certificate.
    #[error(transparent)]
    Site(#[from] TlsError),
    /// The authority.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
}

impl IdentityError {
    /// Whether an authority couldn't be made for want of room.
    pub(crate) fn is_full_disk(&self) -> bool {
        matches!(self, Self::Authority(AuthorityError::File { source, .. })
            if source.kind() == std::io::ErrorKind::StorageFull)
    }

    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Site(_) => "set `cert` and `key` under [tls] of provostd.toml to PEM files that \
                              provostd's user may read"
                .to_owned(),
            Self::Authority(error) => error.hint(),
        }
    }
}

/// The names and addresses of this server. Nodes know it by the first; the others are for programs
/// that look for what they were given.
fn names(config: &Config) -> Vec<String> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let host = Some(host).filter(|host| !host.is_empty() && host.is_ascii());
    let bound = [config.tls.address(config.listen), config.tls.admin].into_iter().flatten();
    let bound = bound.map(|address| address.ip());
    let addresses = [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()];
    let addresses = addresses.into_iter().chain(bound.filter(|ip| !ip.is_unspecified()));
    let mut names = vec![Tls::SERVER.to_owned(), "localhost".to_owned()];
    names.extend(host);
    names.extend(addresses.map(|ip| ip.to_string()));
    names.extend(config.tls.names.iter().cloned());
    names.sort();
    names.dedup();
    names
}

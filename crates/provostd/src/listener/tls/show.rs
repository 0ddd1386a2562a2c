//! `provostd ca show`: by what nodes know this server.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use provost_bundle::{Digest, Tls};
use serde::Deserialize;

use super::IdentityError;
use super::authority::Authority;
use super::pair::{Pair, TlsError};
use super::rotation;
use crate::config::Config;

/// Why it can't be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShowError {
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error("reading {}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("showing the authority: [tls] of provostd.toml says `off = true`")]
    Off,
    #[error("rotating the authority: `cert` under [tls] of provostd.toml names the site's own")]
    Site,
    #[error("showing the authority: its port isn't known before provostd runs")]
    NoPort,
}

impl ShowError {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Identity(error) => error.hint(),
            Self::File { path, .. } => {
                format!("let this user read it: namei -l {}", path.display())
            }
            Self::Off => "remove `off` from [tls], and start provostd again".to_owned(),
            Self::Site => "replace the site's certificate as its authority does".to_owned(),
            Self::NoPort => "start provostd, or name a port: `listen` under [tls]".to_owned(),
        }
    }
}

/// What is shown.
pub(crate) struct Show {
    /// What `provostctl publish --tls` takes.
    line: Tls,
    /// The certificates, PEM.
    certificate: String,
}

#[derive(Deserialize)]
struct Listen {
    #[serde(rename = "nodesTls")]
    nodes_tls: Option<SocketAddr>,
}

impl Show {
    /// Of the management node.
    pub(crate) fn of(config: &Config) -> Result<Self, ShowError> {
        let Config { tls, listen, data, .. } = config;
        let address = tls.address(*listen).ok_or(ShowError::Off)?;
        if let Some(files) = &tls.files {
            let pair = Pair::read(&files.cert, &files.key).map_err(IdentityError::from)?;
            let key = pair.public_key().map_err(|e: TlsError| IdentityError::from(e))?;
            return Self::by_keys(pair, vec![key], address.port(), data);
        }
        // It doesn't make one, as a user that the daemon isn't.
        let authority = Authority::open(data).map_err(IdentityError::from)?;
        let pair = authority.server(Vec::new()).map_err(IdentityError::from)?;
        let keys = authority.keys().map_err(IdentityError::from)?;
        Self::by_keys(pair, keys, address.port(), data)
    }

    fn by_keys(pair: Pair, keys: Vec<Digest>, port: u16, data: &Path) -> Result<Self, ShowError> {
        let path = pair.cert_file;
        let certificate = std::fs::read_to_string(&path);
        let certificate = certificate.map_err(|source| ShowError::File { path, source })?;
        let port = match port {
            0 => bound_port(data).ok_or(ShowError::NoPort)?,
            port => port,
        };
        Ok(Self { line: Tls { port, keys }, certificate })
    }

    /// The line alone.
    pub(crate) fn line(&self) -> String {
        format!("{}\n", self.line)
    }

    /// All of it.
    pub(crate) fn text(&self) -> String {
        let Self { line, certificate } = self;
        format!(
            "for nodes: provostctl publish … --tls {line}\nfor other programs, such as curl \
             --cacert FILE:\n{certificate}"
        )
    }
}

/// `provostd ca rotate`: what was done, and what comes next.
pub(crate) fn rotate(config: &Config, finish: bool) -> Result<String, ShowError> {
    if config.tls.files.is_some() {
        return Err(ShowError::Site);
    }
    let data = &config.data;
    let done = match finish {
        false => {
            rotation::rotate(data).map_err(IdentityError::from)?;
            "made a new CA; nodes that trust the old one still connect"
        }
        true if rotation::finish(data).map_err(IdentityError::from)? => "dropped the old CA",
        true => "there is no old CA",
    };
    Ok(format!(
        "{done}\nnext: systemctl restart provostd, then: provostctl publish --tls \"$(provostd ca show --tls)\"\n"
    ))
}

/// The port that the running daemon has.
fn bound_port(data: &Path) -> Option<u16> {
    let text = std::fs::read(data.join("listen.json")).ok()?;
    let listen: Listen = serde_json::from_slice(&text).ok()?;
    listen.nodes_tls.map(|address| address.port())
}

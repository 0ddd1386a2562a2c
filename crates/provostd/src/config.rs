use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use provost_bundle::Limit;
use serde::Deserialize;

/// `provostd.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The folder that the daemon writes to; made with mode 0700 where there is none.
    #[serde(default = "data")]
    pub data: PathBuf,
    /// The folder that `provostctl publish` writes to.
    pub www: PathBuf,
    /// Where records are kept.
    #[serde(default)]
    pub store: StoreKind,
    /// The nodes' door.
    #[serde(default = "listen")]
    pub listen: SocketAddr,
    /// The admins' door: reads only, and asks nobody who they are.
    #[serde(default = "admin")]
    pub admin: SocketAddr,
    /// What nodes are given.
    #[serde(default)]
    pub node: NodeConfig,
    /// After how many attempts in vain a node is held.
    #[serde(default)]
    pub guard: Guard,
    /// How much longer than its stage may take a node may be silent before it is given up.
    #[serde(default = "lost_after")]
    pub lost_after: Limit,
}

/// What nodes are given besides the bundle.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeConfig {
    /// The program that installers fetch; `provost` beside the daemon's own.
    pub binary: PathBuf,
}

impl Default for NodeConfig {
    fn default() -> Self {
        // Where the daemon doesn't know its own place, installers get nothing.
        let here = std::env::current_exe().unwrap_or_default();
        Self { binary: here.with_file_name("provost") }
    }
}

/// When a node is held, so that it doesn't install or boot in vain for ever.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guard {
    /// The runs of kickstart and boot in a row that may end not well.
    #[serde(default = "max_attempts")]
    pub max_attempts: NonZeroU32,
}

impl Default for Guard {
    fn default() -> Self {
        Self { max_attempts: max_attempts() }
    }
}

/// Which store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum StoreKind {
    /// Embedded, in the folder `data`.
    #[default]
    Sqlite,
}

impl TryFrom<String> for StoreKind {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (scheme, _) = text.split_once("://").unwrap_or((&text, ""));
        match scheme {
            // What follows may hold a password, so it isn't repeated.
            "postgres" | "postgresql" => Err("this build has no PostgreSQL store yet".into()),
            "sqlite" if text == "sqlite" => Ok(Self::Sqlite),
            _ => Err(format!("no store is called {scheme:?}")),
        }
    }
}

fn data() -> PathBuf {
    "/var/lib/provostd".into()
}

fn listen() -> SocketAddr {
    ([0, 0, 0, 0], 8480).into()
}

fn admin() -> SocketAddr {
    ([127, 0, 0, 1], 8481).into()
}

fn lost_after() -> Limit {
    Limit::seconds(60)
}

fn max_attempts() -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(2)
}

/// What is wrong with the configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file can't be read.
    #[error("reading {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file doesn't say what it should.
    #[error("{}: {source}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where, and what.
        source: Box<toml::de::Error>,
    },
}

impl ConfigError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { .. } => "give --config the path of a readable provostd.toml".into(),
            Self::Invalid { source, .. } if source.message().contains("PostgreSQL") => {
                "write store = \"sqlite\"".into()
            }
            Self::Invalid { .. } => {
                "its keys are data, www, store (\"sqlite\"), listen and admin (\"ADDRESS:PORT\"), \
                 lost_after, [guard] max_attempts, and [node] binary"
                    .into()
            }
        }
    }
}

impl Config {
    /// Reads the file at `path`. Relative paths in it start at its folder.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
        let config: Self = toml::from_str(&text).map_err(|source| ConfigError::Invalid {
            path: path.to_owned(),
            source: Box::new(source),
        })?;
        // Absolute, so that whatever is said of them can be found from anywhere.
        let path = std::path::absolute(path)
            .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        let node = NodeConfig { binary: folder.join(config.node.binary) };
        Ok(Self { data: folder.join(config.data), www: folder.join(config.www), node, ..config })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        toml::from_str::<Config>(text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_said_has_a_default_and_what_is_not_known_is_refused() {
        let config: Config = toml::from_str("www = '/srv/www'").unwrap();
        assert_eq!((config.listen.port(), config.admin.port()), (8480, 8481));
        assert!(config.admin.ip().is_loopback());
        assert_eq!(config.store, StoreKind::Sqlite);
        assert_eq!((config.guard.max_attempts.get(), config.lost_after), (3, Limit::seconds(60)));
        assert!(error("www = '/w'\nlisten_on = 1").contains("listen_on"));
        assert!(error("www = '/w'\n[guard]\nmax_attempts = 0").contains("max_attempts"));
        assert!(error("").contains("www"));
    }

    #[test]
    fn a_store_that_this_build_lacks_is_refused_without_its_password() {
        let said = error("www = '/w'\nstore = 'postgres://u:secret@db'");
        assert!(said.contains("no PostgreSQL store yet"), "{said}");
        let said = toml::from_str::<Config>("www='/w'\nstore='mysql://u:secret@db'").unwrap_err();
        assert!(said.message().contains("\"mysql\"") && !said.message().contains("secret"));
    }
}

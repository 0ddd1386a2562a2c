//! Where a daemon's data is: those keys of `provostd.toml` that `provostctl backup` and `restore` need,
//! too.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::transfer::StoreLocation;
use crate::{PostgresFiles, PostgresUrl};

/// The name of a file in the daemon's folder while `provostctl restore` fills it.
pub const RESTORING: &str = "restore.partial";

/// A daemon's folders and its store.
#[derive(Clone, Debug, Deserialize)]
pub struct Location {
    /// The folder that the daemon writes to.
    #[serde(default = "default_data")]
    pub data: PathBuf,
    /// The folder that `provostctl publish` writes to.
    pub www: PathBuf,
    /// Where records are kept.
    #[serde(default)]
    pub store: StoreKind,
    /// How the database of `store` is reached.
    #[serde(default)]
    pub postgres: PostgresConfig,
}

/// All keys of `provostd.toml`: with a wrong one, another folder or store would be taken than is meant. What the others
/// have may be anything: `provostd` checks it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[expect(dead_code, reason = "serde reads the keys")]
struct Keys {
    data: Option<IgnoredAny>,
    www: Option<IgnoredAny>,
    store: Option<IgnoredAny>,
    postgres: Option<IgnoredAny>,
    listen: Option<IgnoredAny>,
    admin: Option<IgnoredAny>,
    operators: Option<IgnoredAny>,
    readers: Option<IgnoredAny>,
    node: Option<IgnoredAny>,
    guard: Option<IgnoredAny>,
    quota: Option<IgnoredAny>,
    retention: Option<IgnoredAny>,
    lost_after: Option<IgnoredAny>,
    tokens: Option<IgnoredAny>,
    tls: Option<IgnoredAny>,
    enroll: Option<IgnoredAny>,
    webhooks: Option<IgnoredAny>,
    hooks: Option<IgnoredAny>,
    metrics: Option<IgnoredAny>,
    page: Option<IgnoredAny>,
    xcat: Option<IgnoredAny>,
}

/// The folder `data` where the configuration has none.
pub fn default_data() -> PathBuf {
    "/var/lib/provostd".into()
}

impl Location {
    /// Reads the file at `path`.
    pub fn load(path: &Path) -> Result<Self, ReadError> {
        read::<Keys>(path)?;
        read::<Self>(path).map(|(location, folder)| location.relative_to(&folder))
    }

    /// The same, with relative paths that start at `folder`.
    pub fn relative_to(self, folder: &Path) -> Self {
        let file = |path: Option<PathBuf>| path.map(|path| folder.join(path));
        let PostgresConfig { password_file, ca } = self.postgres;
        let postgres = PostgresConfig { password_file: file(password_file), ca: file(ca) };
        let (data, www) = (folder.join(self.data), folder.join(self.www));
        Self { data, www, store: self.store, postgres }
    }

    /// Where records are kept, for copying them.
    pub fn place(&self) -> StoreLocation {
        match &self.store {
            StoreKind::Sqlite => StoreLocation::Sqlite(self.data.clone()),
            StoreKind::Postgres(url) => StoreLocation::Postgres(url.clone(), self.postgres.files()),
        }
    }
}

/// How a PostgreSQL database is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct PostgresConfig {
    /// A file with the password on its first line.
    pub password_file: Option<PathBuf>,
    /// CA file (PEM) of the server; turns TLS on.
    pub ca: Option<PathBuf>,
}

impl PostgresConfig {
    /// As [`Postgres`](crate::Postgres) takes them.
    pub fn files(&self) -> PostgresFiles {
        PostgresFiles { password: self.password_file.clone(), ca: self.ca.clone() }
    }
}

/// Which store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum StoreKind {
    /// Embedded, in the folder `data`.
    #[default]
    Sqlite,
    /// A PostgreSQL database, which many daemons may share.
    Postgres(PostgresUrl),
}

impl TryFrom<String> for StoreKind {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (scheme, _) = text.split_once("://").unwrap_or((&text, ""));
        match scheme {
            // What follows may hold a password, so it isn't repeated.
            "postgres" | "postgresql" => text.parse().map(Self::Postgres),
            "sqlite" if text == "sqlite" => Ok(Self::Sqlite),
            _ => Err(format!(
                "unknown store {scheme:?}; expected \"sqlite\" or \"postgres://USER@HOST/NAME\""
            )),
        }
    }
}

/// Why `provostd.toml` can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file can't be read.
    #[error("reading {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file's content is wrong.
    #[error("{}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where, and what.
        source: Box<toml::de::Error>,
    },
}

impl ReadError {
    /// Whether a key is unknown or missing; else a value is wrong, or the file isn't TOML.
    pub fn is_about_keys(&self) -> bool {
        let Self::Invalid { source, .. } = self else { return false };
        ["unknown field", "missing field"].iter().any(|what| source.message().starts_with(what))
    }

    /// What an admin can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "name a readable provostd.toml with --config",
            Self::Invalid { .. } if !self.is_about_keys() => {
                "correct that value: provostd.toml(5) says what the key takes"
            }
            Self::Invalid { .. } => {
                "use these keys: data, www, store (\"sqlite\" or \"postgres://USER@HOST/NAME\"), [postgres] \
                 password_file and ca"
            }
        }
    }
}

/// The most bytes of a configuration: of what is nested in it, each takes much more memory.
const MOST: u64 = 1 << 20;

/// Reads the configuration at `path`, and its folder, at which relative paths start. No error shows a
/// secret that is in the file.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<(T, PathBuf), ReadError> {
    let unreadable = |source| ReadError::Unreadable { path: path.to_owned(), source };
    let text = provost_fs::read_given_text(path, MOST).map_err(unreadable)?;
    let content = toml::from_str(&text).map_err(|mut source: toml::de::Error| {
        // The line that is shown with the error may have a password.
        let shown = source.span().and_then(|at| text.get(at));
        if shown.is_some_and(|text| text.contains("://") || text.contains("secret")) {
            source.set_input(None);
        }
        ReadError::Invalid { path: path.to_owned(), source: Box::new(source) }
    })?;
    // Absolute, so that the paths in messages are valid in every folder.
    let path = std::path::absolute(path).map_err(unreadable)?;
    Ok((content, path.parent().unwrap_or(Path::new("/")).to_owned()))
}

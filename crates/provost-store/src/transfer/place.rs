use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use tokio::sync::mpsc;

use super::stream::{Counts, Part, stream};
use crate::postgres::transfer as postgres;
use crate::sqlite::transfer as sqlite;
use crate::{PostgresFiles, PostgresUrl, StoreError};

/// Where a store is, whether or not a daemon uses it.
#[derive(Clone, Debug)]
pub enum StoreLocation {
    /// In a daemon's folder `data`.
    Sqlite(PathBuf),
    /// A database, and the files to reach it.
    Postgres(PostgresUrl, PostgresFiles),
}

impl FromStr for StoreLocation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(path.into())),
            Some(("postgres" | "postgresql", _)) => {
                Ok(Self::Postgres(text.parse()?, PostgresFiles::default()))
            }
            // What it is may hold a password, so it isn't repeated.
            _ => Err("expected sqlite:DATA, with the folder that provostd.toml calls data, or \
                      postgres://USER@HOST:PORT/NAME"
                .to_owned()),
        }
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(data) => write!(f, "{}", sqlite::file(data).display()),
            Self::Postgres(url, _) => write!(f, "{url:?}"),
        }
    }
}

impl StoreLocation {
    /// Sends all that the store holds, as of one moment. The stream that isn't read any more is no
    /// error here: who reads it says why.
    pub async fn export(&self, parts: mpsc::Sender<Part>) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(data) => sqlite::export(data.clone(), parts).await,
            Self::Postgres(url, files) => postgres::export(url, files, parts).await,
        }
    }

    /// Stores all of a stream in a store that is empty, or nothing of it. Returns what was stored,
    /// durably.
    pub async fn import(&self, parts: mpsc::Receiver<Part>) -> Result<Counts, StoreError> {
        match self {
            Self::Sqlite(data) => sqlite::import(data.clone(), parts).await,
            Self::Postgres(url, files) => postgres::import(url, files, parts).await,
        }
    }

    /// Refuses a store that isn't empty, which nothing can be imported to.
    pub async fn check_empty(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(data) => sqlite::check_empty(data),
            Self::Postgres(url, files) => postgres::check_empty(url, files).await,
        }
    }

    /// Whether a daemon uses it, or did a few seconds ago.
    pub async fn is_in_use(&self) -> Result<bool, StoreError> {
        match self {
            Self::Sqlite(data) => Ok(sqlite::is_in_use(data)),
            Self::Postgres(url, files) => postgres::is_in_use(url, files).await,
        }
    }
}

/// Copies all from one store to another, which has to be empty.
pub async fn copy(from: &StoreLocation, to: &StoreLocation) -> Result<Counts, StoreError> {
    let (sender, receiver) = stream();
    let (exported, imported) = tokio::join!(from.export(sender), to.import(receiver));
    // A source that failed is why the target got no end.
    exported?;
    imported
}

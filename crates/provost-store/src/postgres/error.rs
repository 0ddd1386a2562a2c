use std::time::Duration;

use deadpool_postgres::{PoolError, TimeoutType};
use provost_steplog::wording::error_chain;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;

use crate::StoreError;
#[cfg(feature = "transfer")]
use crate::answer::NotEmpty;
use crate::answer::{Newer, Unreleased};

/// Why something with the database failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{}", words(.0))]
    Sql(#[from] tokio_postgres::Error),
    #[error("a value isn't what this build knows: {0}")]
    Value(#[from] serde_json::Error),
    #[error(transparent)]
    Unreadable(#[from] crate::sql::Unreadable),
    #[error("records can't be unpacked: {0}")]
    Records(#[from] std::io::Error),
    #[error("no connection was free within {0:?}")]
    Busy(Duration),
    #[error("the database didn't answer within {0:?}")]
    Slow(Duration),
    #[error("{0}")]
    Pool(String),
    #[error(transparent)]
    Newer(Newer),
    #[error("it is of an unreleased Provost")]
    Unreleased,
    #[cfg(feature = "transfer")]
    #[error("no provostd has ever used it")]
    NoStore,
    #[cfg(feature = "transfer")]
    #[error("it has a store already")]
    NotEmpty,
    #[error("the server is a standby, which takes no changes")]
    Standby,
    #[error("{0}")]
    Refused(String),
}

/// How long a connection may take to be made, and how long one waits for a free one.
pub(super) const CONNECT: Duration = Duration::from_secs(5);
pub(super) const WAIT: Duration = Duration::from_secs(10);

/// How long anything but pruning may take, where the server takes requests and answers none: less than admins'
/// programs wait, and longer than one waits for a lock.
pub(super) const ANSWER: Duration = Duration::from_secs(30);

/// What `work` comes to, if it does within `limit`.
pub(super) async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    timeout(limit, work).await.unwrap_or(Err(Failure::Slow(limit)))
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(e) => Self::Sql(e),
            PoolError::Timeout(TimeoutType::Wait) => Self::Busy(WAIT),
            PoolError::Timeout(_) => Self::Slow(CONNECT),
            other => Self::Pool(other.to_string()),
        }
    }
}

impl Failure {
    /// Whether another batch of the same transaction may be stored all the same.
    pub(super) fn is_of_one_batch(&self) -> bool {
        match self {
            Self::Sql(e) => e.as_db_error().is_some() && !e.is_closed(),
            Self::Value(_) | Self::Unreadable(_) | Self::Records(_) | Self::Refused(_) => true,
            _ => false,
        }
    }

    /// Whether the database may be there soon: it can't be reached, starts, or is full of clients.
    pub(super) fn passes(&self) -> bool {
        match self {
            Self::Sql(e) => match e.code() {
                None => true,
                Some(code) => [
                    SqlState::CANNOT_CONNECT_NOW,
                    SqlState::TOO_MANY_CONNECTIONS,
                    SqlState::ADMIN_SHUTDOWN,
                    SqlState::CRASH_SHUTDOWN,
                ]
                .contains(code),
            },
            Self::Busy(_) | Self::Slow(_) => true,
            _ => false,
        }
    }

    /// The error of `doing` something with the database that is called `name`.
    pub(super) fn of(&self, doing: &str, name: &str) -> StoreError {
        let doing = format!("{doing} the {name}");
        if let Self::Unreleased = self {
            let at = name.strip_prefix("database ").unwrap_or(name);
            return StoreError::new(doing, Unreleased::HINT, Unreleased(at.to_owned()));
        }
        match self {
            #[cfg(feature = "transfer")]
            Self::NotEmpty => StoreError::new(doing, self.hint(), NotEmpty),
            Self::Newer(newer) => StoreError::new(doing, self.hint(), *newer),
            _ => StoreError::new(doing, self.hint(), self.to_string()),
        }
    }

    fn hint(&self) -> String {
        let code = match self {
            Self::Sql(e) => e.code(),
            _ => None,
        };
        match (self, code) {
            (Self::Newer(_), _) => Newer::HINT.into(),
            #[cfg(feature = "transfer")]
            (Self::NoStore, _) => "name the database of `store` in provostd.toml".into(),
            #[cfg(feature = "transfer")]
            (Self::NotEmpty, _) => {
                "name a new database: createdb --owner USER NAME; or remove what this one has: psql \
                 --command 'DROP SCHEMA provost CASCADE'"
                    .into()
            }
            (Self::Standby, _) => "set `store` in provostd.toml to the primary server".into(),
            (_, Some(code)) if *code == SqlState::DISK_FULL => {
                "make room on the disk of the database's server, where PostgreSQL has its data or the \
                 tablespace of this database"
                    .into()
            }
            (_, Some(code))
                if [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION]
                    .contains(code) =>
            {
                "check the user in `store` and the password in `password_file` under [postgres] of \
                 provostd.toml, and pg_hba.conf of the database"
                    .into()
            }
            (_, Some(code)) if *code == SqlState::INVALID_CATALOG_NAME => {
                "create the database on its server: createdb --owner USER NAME".into()
            }
            (_, Some(code)) if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
                "let the user of `store` own the database: ALTER DATABASE NAME OWNER TO USER".into()
            }
            (_, Some(code)) if *code == SqlState::TOO_MANY_CONNECTIONS => {
                "raise max_connections in postgresql.conf: each provostd needs eleven".into()
            }
            _ => "check that PostgreSQL runs and can be reached: systemctl status postgresql, and \
                  `store` in provostd.toml"
                .into(),
        }
    }
}

/// What an error and its causes say, each once.
fn words(error: &tokio_postgres::Error) -> String {
    if let Some(db) = error.as_db_error() {
        return db.message().to_owned();
    }
    error_chain(error)
}

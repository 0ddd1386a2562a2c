//! `provostctl store`: moving what provostd knows to another store.

use std::path::PathBuf;

use provost_steplog::wording;
use provost_store::transfer::{Counts, StoreLocation, copy};
use provost_store::{PostgresFiles, StoreError};
use rustix::fs::Mode;

use crate::failure::Failure;
use crate::output;

/// `provostctl store`.
#[derive(clap::Subcommand)]
pub(crate) enum Store {
    /// Copy a store to another one, which must be empty
    ///
    /// Nodes, tokens, runs, records and logs. An interrupted copy leaves it empty: run it again.
    Copy {
        /// Store to read: sqlite:DATA, with the folder data of provostd.toml, or
        /// postgres://USER@HOST:PORT/NAME
        #[arg(long, value_name = "STORE")]
        from: StoreLocation,
        /// Store to fill, named likewise
        #[arg(long, value_name = "STORE")]
        to: StoreLocation,
        /// File with the database's password in its first line
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
        /// CA file (PEM) of the database server; turns TLS on
        #[arg(long, value_name = "FILE")]
        database_ca: Option<PathBuf>,
    },
}

impl Store {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let Self::Copy { from, to, password_file, database_ca } = self;
        private();
        let files = PostgresFiles { password: password_file, ca: database_ca };
        let with_files = |place| match place {
            StoreLocation::Postgres(url, _) => StoreLocation::Postgres(url, files.clone()),
            sqlite => sqlite,
        };
        let (from, to) = (with_files(from), with_files(to));
        to.check_empty().await.map_err(of_store)?;
        if from.is_in_use().await.map_err(of_store)? {
            output::note(&format!(
                "note: provostd uses {from}: what nodes report from now on isn't in the copy\n  hint: \
                 to move the site, stop provostd before: systemctl stop provostd"
            ));
        }
        let counts = copy(&from, &to).await.map_err(of_store)?;
        output::print(format!("copied {} from {from} to {to}\n", counted(&counts)).as_bytes())?;
        output::note(&match &to {
            StoreLocation::Sqlite(data) => format!(
                "  hint: set data = {data:?} and store = \"sqlite\" in provostd.toml, then: systemctl \
                 start provostd"
            ),
            StoreLocation::Postgres(..) => {
                "  hint: set store and [postgres] in provostd.toml to this database, \
                                    then: systemctl start provostd"
                    .to_owned()
            }
        });
        Ok(())
    }
}

/// What is written from now on is for this user alone.
pub(crate) fn private() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

pub(crate) fn of_store(error: StoreError) -> Failure {
    Failure::of(&error, error.hint())
}

/// `512 nodes, 3072 runs, 184320 records and 12 logs`.
pub(crate) fn counted(counts: &Counts) -> String {
    let count = |table: &str, what: &str| {
        let rows = counts.get(table).copied().unwrap_or_default();
        wording::count(usize::try_from(rows).unwrap_or(usize::MAX), what)
    };
    let [nodes, runs, records, logs] =
        ["node", "run", "record", "log"].map(|table| count(table, table));
    format!("{nodes}, {runs}, {records} and {logs}")
}

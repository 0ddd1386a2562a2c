//! What the stores take by themselves: records as rows, in large transactions that are synced.

use std::io::Write;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use provost_tests::Postgres;

use crate::usage::with_children;
use crate::{RECORDS, Taken};

/// How many rows a transaction of SQLite has.
const ROWS: usize = 1000;

const TABLE: &str = "CREATE TABLE record (run BIGINT NOT NULL, seq BIGINT NOT NULL, \
                     time BIGINT NOT NULL, json TEXT NOT NULL)";

/// What rows are found by.
#[derive(Clone, Copy)]
pub(crate) enum Rows {
    /// Nothing.
    Plain,
    /// Two indexes, the least that records need: the run and the record's number in it, so that none is stored twice,
    /// and the time, so that old ones can be deleted.
    Indexed,
}

impl Rows {
    /// What makes the table, in both stores.
    fn schema(self) -> Vec<&'static str> {
        match self {
            Self::Plain => vec![TABLE],
            Self::Indexed => vec![
                TABLE,
                "CREATE UNIQUE INDEX of_run ON record (run, seq)",
                "CREATE INDEX of_time ON record (time)",
            ],
        }
    }
}

/// A record's run, its number in that, and a time.
fn keys(nth: usize) -> (usize, usize, usize) {
    (nth / RECORDS, nth % RECORDS, nth)
}

/// By one thread, in this process.
pub(crate) fn sqlite(records: &[String], kind: Rows) -> Taken {
    let folder = tempfile::tempdir().unwrap();
    let mut db = rusqlite::Connection::open(folder.path().join("floor.db")).unwrap();
    db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").unwrap();
    db.execute_batch(&kind.schema().join(";")).unwrap();
    Taken::measured(
        records.len(),
        || vec![std::process::id()],
        || {
            for (nth, rows) in records.chunks(ROWS).enumerate() {
                let change = db.transaction().unwrap();
                let mut add =
                    change.prepare_cached("INSERT INTO record VALUES (?, ?, ?, ?)").unwrap();
                for (nth, json) in (nth * ROWS..).zip(rows) {
                    let (run, seq, time) = keys(nth);
                    add.execute((run as i64, seq as i64, time as i64, json)).unwrap();
                }
                drop(add);
                change.commit().unwrap();
            }
        },
    )
}

/// By one COPY of PostgreSQL's own client.
pub(crate) fn postgres(server: &Postgres, records: &[String], kind: Rows) -> Taken {
    let name = format!("floor_{}", kind.schema().len());
    let database = server.database(&name);
    kind.schema().into_iter().for_each(|sql| drop(server.sql(&name, sql)));
    let line = |(nth, json): (usize, &String)| {
        let (run, seq, time) = keys(nth);
        format!("{run}\t{seq}\t{time}\t{}\n", json.replace('\\', "\\\\"))
    };
    let lines = records.iter().enumerate().map(line).collect::<Vec<_>>().concat();
    let processes = || with_children(server.pid()).len();
    let before = processes();
    Taken::measured(
        records.len(),
        || with_children(server.pid()),
        || {
            let mut client = server.client(&name, "COPY record FROM STDIN");
            let mut client = client.stdin(Stdio::piped()).spawn().unwrap();
            client.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
            assert!(client.wait().unwrap().success(), "{database}");
            // What the client's server process used is counted when it has ended.
            while processes() > before {
                thread::sleep(Duration::from_millis(1));
            }
        },
    )
}

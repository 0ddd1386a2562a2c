//! What the stores take by themselves: records as rows with an index, in large transactions that are synced.

use std::io::Write;
use std::process::Stdio;

use provost_tests::Postgres;

use crate::Taken;
use crate::usage::with_children;

/// How many rows a transaction of SQLite has.
const ROWS: usize = 1000;

/// By one thread, in this process.
pub(crate) fn sqlite(records: &[String]) -> Taken {
    let folder = tempfile::tempdir().unwrap();
    let mut db = rusqlite::Connection::open(folder.path().join("floor.db")).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE record (id INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT",
    )
    .unwrap();
    Taken::measured(
        records.len(),
        || vec![std::process::id()],
        || {
            for (nth, rows) in records.chunks(ROWS).enumerate() {
                let change = db.transaction().unwrap();
                let mut add = change.prepare_cached("INSERT INTO record VALUES (?, ?)").unwrap();
                for (id, json) in (nth * ROWS..).zip(rows) {
                    add.execute((id as i64, json)).unwrap();
                }
                drop(add);
                change.commit().unwrap();
            }
        },
    )
}

/// By one COPY of PostgreSQL's own client.
pub(crate) fn postgres(server: &Postgres, records: &[String]) -> Taken {
    let database = server.database("floor");
    server.sql("floor", "CREATE TABLE record (id BIGINT PRIMARY KEY, json TEXT NOT NULL)");
    let line = |(id, json): (usize, &String)| format!("{id}\t{}\n", json.replace('\\', "\\\\"));
    let lines: Vec<String> = records.iter().enumerate().map(line).collect();
    Taken::measured(
        records.len(),
        || with_children(server.pid()),
        || {
            let mut client = server.client("floor", "COPY record FROM STDIN");
            let mut client = client.stdin(Stdio::piped()).spawn().unwrap();
            client.stdin.take().unwrap().write_all(lines.concat().as_bytes()).unwrap();
            assert!(client.wait().unwrap().success(), "{database}");
        },
    )
}

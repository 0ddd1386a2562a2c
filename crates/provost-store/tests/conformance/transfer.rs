//! All of a store as one stream: nothing is left out, and it is of one moment.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use provost_store::transfer::{Part, StoreLocation, Value, copy, stream};
use provost_store::{LogKind, PostgresFiles, Sqlite, Store, Token, Tokens, UploadedLog};
use provost_tests::{Postgres as Server, skip_part};
use rusqlite::Connection;
use rusqlite::types::Value as Sql;
use serde_json::json;

use crate::postgres::open;
use crate::suite::conforms;
use crate::{at, report};

/// What only one daemon's presence is about: it isn't the site's.
const NOT_OF_A_SITE: &str = "('version', 'watch')";

/// The first line that differs says enough.
#[track_caller]
fn same(expected: Vec<String>, found: Vec<String>) {
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(expected, found);
    }
    assert_eq!(expected.len(), found.len());
}

fn sqlite(data: &Path) -> StoreLocation {
    StoreLocation::Sqlite(data.to_owned())
}

fn postgres(url: &str) -> StoreLocation {
    StoreLocation::Postgres(url.parse().unwrap(), PostgresFiles::default())
}

/// Fills a store by all that the suite does, and each column of each table of its file, also of those
/// that nobody has thought of here.
async fn fill(data: &Path) {
    let store = Sqlite::open(data).unwrap();
    conforms(&store).await;
    let token = |byte| vec![Token { node: "rotated".into(), sha256: [byte; 32] }];
    store.set_tokens(token(101), at()).await.unwrap();
    store
        .rotate_tokens(token(102), at() + jiff::SignedDuration::from_hours(1), at())
        .await
        .unwrap();
    let log = UploadedLog { run: "a".into(), name: "09-ä b".into() };
    store.put_log("cn001", log, LogKind::Failure, (0..=255).collect()).await.unwrap();
    let log = UploadedLog { run: "b".into(), name: "01-x".into() };
    store.put_log("cn001", log, LogKind::Success, b"text".to_vec()).await.unwrap();
    drop(store);
    let db = Connection::open(data.join("provost.db")).unwrap();
    for (table, columns) in tables(&db) {
        let count = |what: &str| -> i64 {
            db.query_row(&format!("SELECT {what} FROM {table}"), [], |row| row.get(0)).unwrap()
        };
        let dummy = |kind: &str, n: i64| match kind {
            "INTEGER" => Sql::Integer(n),
            "BLOB" => Sql::Blob(vec![n as u8; 32]),
            _ => Sql::Text(format!("x{n}\t\\N")),
        };
        if count("count(*)") == 0 {
            let places = vec!["?"; columns.len()].join(", ");
            let values = columns.iter().map(|(_, kind)| dummy(kind, 1));
            let insert = format!("INSERT INTO {table} VALUES ({places})");
            db.execute(&insert, rusqlite::params_from_iter(values)).unwrap();
        }
        let key = columns[0].0.clone();
        for (column, kind) in columns {
            let distinct = format!("count(DISTINCT {column}) + max({column} IS NULL)");
            if count(&distinct) < 2 {
                // Of one row: the first column is the key, or its beginning.
                let set = format!(
                    "UPDATE {table} SET {column} = ? WHERE {key} = (SELECT max({key}) FROM {table})"
                );
                db.execute(&set, [dummy(&kind, 1)]).unwrap();
            }
        }
    }
}

/// The tables of a file, each with its columns and their types.
fn tables(db: &Connection) -> Vec<(String, Vec<(String, String)>)> {
    let select =
        "SELECT m.name, c.name, c.type FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
         WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid";
    let mut tables: Vec<(String, Vec<(String, String)>)> = Vec::new();
    let mut select = db.prepare(select).unwrap();
    let mut rows = select.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let table: String = row.get(0).unwrap();
        if tables.last().is_none_or(|(last, _)| *last != table) {
            tables.push((table, Vec::new()));
        }
        let column = (row.get(1).unwrap(), row.get(2).unwrap());
        tables.last_mut().unwrap().1.push(column);
    }
    tables
}

/// The records of a row that begins with the one with this id: a copy may have others together.
fn records((id, bytes, body): (i64, u32, Vec<u8>)) -> Vec<String> {
    let texts = match body.first() {
        Some(b'{') => body,
        _ => zstd::bulk::decompress(&body, 2 * bytes as usize).unwrap(),
    };
    let texts = String::from_utf8(texts).unwrap();
    (id..).zip(texts.lines()).map(|(id, text)| format!("record: {id} {text}")).collect()
}

/// All that a folder's store has: rows, and files with their times.
fn all_of_sqlite(data: &Path) -> Vec<String> {
    let db = Connection::open(data.join("provost.db")).unwrap();
    let mut all = Vec::new();
    let mut select = db.prepare("SELECT id, bytes, body FROM record").unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    all.extend(rows.flat_map(|row| records(row.unwrap())));
    for (table, columns) in tables(&db).into_iter().filter(|(table, _)| table != "record") {
        let mut select = db.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let mut rows = select.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values = (0..columns.len()).map(|n| row.get::<_, Sql>(n).unwrap());
            all.push(format!("{table}: {:?}", values.collect::<Vec<_>>()));
        }
    }
    let mut left = vec![data.join("logs")];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let of = std::fs::metadata(&path).unwrap();
        // PostgreSQL has microseconds.
        let at = of.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros();
        let name = path.strip_prefix(data).unwrap();
        all.push(format!("{name:?} {at} {:?}", std::fs::read(&path).unwrap()));
    }
    all.sort();
    all
}

/// Fills each column of each table of a database that has one value only.
fn fill_postgres(server: &Server, database: &str) {
    let columns = server.sql(
        database,
        &format!(
            "SELECT table_name, column_name, data_type FROM information_schema.columns
             WHERE table_schema = 'provost' AND table_name NOT IN {NOT_OF_A_SITE} AND is_identity = 'NO'"
        ),
    );
    for line in columns.lines() {
        let [table, column, kind] = line.split('|').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let dummy = match kind {
            "text" => "'x\t\\N'".to_owned(),
            "bytea" => "'\\x01'".to_owned(),
            "boolean" => "true".to_owned(),
            "timestamp with time zone" => "'2026-11-20 17:00:00.123456+01'".to_owned(),
            _ => "1".to_owned(),
        };
        let all = format!("SELECT * FROM provost.{table}");
        let rows = server.sql(database, &format!("SELECT count(*) FROM ({all}) AS rows"));
        assert_ne!(rows, "0", "no test fills the table {table}: let `fill` do it");
        let distinct = format!(
            "SELECT count(DISTINCT {column}) + count(DISTINCT ({column} IS NULL)) FROM provost.{table}"
        );
        if server.sql(database, &distinct) == "1" || server.sql(database, &distinct) == "2" {
            let set = format!(
                "UPDATE provost.{table} SET {column} = {dummy}
                 WHERE ctid = (SELECT max(ctid) FROM provost.{table})"
            );
            server.sql(database, &set);
        }
    }
}

fn all_of_postgres(server: &Server, database: &str) -> Vec<String> {
    let tables = server.sql(
        database,
        &format!(
            "SELECT table_name FROM information_schema.tables
             WHERE table_schema = 'provost' AND table_name NOT IN {NOT_OF_A_SITE} ORDER BY 1"
        ),
    );
    let packed = "SELECT (run << 24) + seq, bytes, encode(body, 'hex') FROM provost.record";
    let packed = server.sql(database, packed);
    let mut all = Vec::new();
    for line in packed.lines() {
        let mut columns = line.split('|');
        let mut column = || columns.next().unwrap();
        let (id, bytes) = (column().parse().unwrap(), column().parse().unwrap());
        all.extend(records((id, bytes, hex::decode(column()).unwrap())));
    }
    for table in tables.lines().filter(|table| *table != "record") {
        let rows = server.sql(database, &format!("SELECT t::text FROM provost.{table} AS t"));
        all.extend(rows.lines().map(|row| format!("{table}: {row}")));
    }
    all.sort();
    all
}

/// A PostgreSQL for a part of a test; where there is none, that part is noted.
fn started() -> Option<Server> {
    let missing = Server::missing();
    missing.iter().for_each(|missing| skip_part(missing));
    missing.is_none().then(Server::start)
}

#[tokio::test]
async fn a_copy_leaves_out_no_column_of_no_table() {
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [a, b, c] = folders.each_ref().map(|folder| folder.path().join("data"));
    std::fs::create_dir(&a).unwrap();
    fill(&a).await;
    let counts = copy(&sqlite(&a), &sqlite(&b)).await.unwrap();
    same(all_of_sqlite(&a), all_of_sqlite(&b));
    assert!(counts["node"] > 5 && counts["record"] > 10 && counts["log"] == 4, "{counts:?}");
    let store = Sqlite::open(&b).unwrap();
    let start = vec![report("cn001", "next", 1, json!({"phase": "service start"}))];
    assert_eq!(store.ingest("cn001", start, at()).await.unwrap().fresh, 1);

    let Some(server) = started() else { return };
    let urls = ["one", "two", "three"].map(|name| server.database(name));
    let [one, two, three] = urls.each_ref().map(|url| postgres(url));
    assert_eq!(copy(&sqlite(&a), &one).await.unwrap(), counts);
    copy(&one, &sqlite(&c)).await.unwrap();
    same(all_of_sqlite(&a), all_of_sqlite(&c));
    fill_postgres(&server, "one");
    copy(&one, &two).await.unwrap();
    let all = all_of_postgres(&server, "one");
    same(all.clone(), all_of_postgres(&server, "two"));
    let d = folders[0].path().join("d");
    copy(&two, &sqlite(&d)).await.unwrap();
    copy(&sqlite(&d), &three).await.unwrap();
    same(all.clone(), all_of_postgres(&server, "three"));
    let store = open(&urls[2]).await;
    let start = vec![report("cn001", "next", 1, json!({"phase": "service start"}))];
    let stored = store.ingest("cn001", start, at()).await.unwrap();
    assert_eq!(stored.fresh, 1, "its run has an id of its own");
}

/// Copies `from` while nodes report to `store`, and checks that what each node's state says of its
/// records is what there is of them.
async fn copies_one_moment(store: Arc<dyn Store>, from: StoreLocation) {
    let done = Arc::new(AtomicBool::new(false));
    let mut writers = tokio::task::JoinSet::new();
    for n in 0..8 {
        let (store, done) = (Arc::clone(&store), Arc::clone(&done));
        writers.spawn(async move {
            let node = format!("cn{n}");
            for seq in 1.. {
                let start = json!({"phase": "service start"});
                store.ingest(&node, vec![report(&node, "a", seq, start)], at()).await.unwrap();
                if done.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
    }
    for _ in 0..5 {
        let to = tempfile::tempdir().unwrap();
        copy(&from, &sqlite(to.path())).await.unwrap();
        let db = Connection::open(to.path().join("provost.db")).unwrap();
        let differ = "SELECT count(*) FROM node WHERE state ->> '$.records.all' <> (
                 SELECT coalesce(sum(bytes), 0) FROM run JOIN record ON record.id >> 24 = run.id
                 WHERE run.node = node.name)";
        let differ: i64 = db.query_row(differ, [], |row| row.get(0)).unwrap();
        assert_eq!(differ, 0);
    }
    done.store(true, Ordering::Relaxed);
    while let Some(writer) = writers.join_next().await {
        writer.unwrap();
    }
    assert!(store.nodes().await.unwrap().len() == 8);
}

#[tokio::test]
async fn a_copy_of_a_store_in_use_is_of_one_moment() {
    let data = tempfile::tempdir().unwrap();
    copies_one_moment(Arc::new(Sqlite::open(data.path()).unwrap()), sqlite(data.path())).await;
    let Some(server) = started() else { return };
    let url = server.database("used");
    let store = open(&url).await;
    assert!(!postgres(&url).is_in_use().await.unwrap());
    store.watch().await.unwrap();
    assert!(postgres(&url).is_in_use().await.unwrap());
    copies_one_moment(Arc::new(store), postgres(&url)).await;
}

#[tokio::test]
async fn what_was_cut_off_is_not_stored_and_can_be_copied_again() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    std::fs::create_dir(&from).unwrap();
    fill(&from).await;
    let mut targets = vec![sqlite(&to)];
    let server = started();
    let url = server.as_ref().map(|server| server.database("cut"));
    targets.extend(url.as_deref().map(postgres));
    for target in targets {
        // All but the end; and a row that isn't one.
        for damage in [false, true] {
            let ((sender, receiver), (all, mut parts)) = (stream(), stream());
            let place = sqlite(&from);
            let export = place.export(all);
            let pass = async move {
                while let Some(part) = parts.recv().await {
                    let part = match part {
                        Part::End if damage => Part::Rows(vec![vec![Value::Null; 2]]),
                        Part::End => return,
                        part => part,
                    };
                    if sender.send(part).await.is_err() {
                        return;
                    }
                }
            };
            let (_, (), imported) = tokio::join!(export, pass, target.import(receiver));
            let error = provost_steplog::wording::error_chain(&imported.unwrap_err());
            let why = if damage { "damaged" } else { "ended before its end" };
            assert!(error.contains(why) || damage && error.contains("values"), "{error}");
            target.check_empty().await.unwrap();
        }
        if let StoreLocation::Sqlite(data) = &target {
            let error = Sqlite::open(data).err().unwrap();
            assert!(error.hint().contains("again"), "{}", error.hint());
        }
        let counts = copy(&sqlite(&from), &target).await.unwrap();
        let again = copy(&sqlite(&from), &target).await.unwrap_err();
        let chain = provost_steplog::wording::error_chain(&again);
        assert!(chain.contains("it has a store already"), "{chain}");
        assert!(again.hint().contains("mv ") || again.hint().contains("createdb"), "{again}");
        let back =
            folder.path().join(counts["node"].to_string() + &again.to_string().replace('/', ""));
        assert_eq!(copy(&target, &sqlite(&back)).await.unwrap(), counts);
        same(all_of_sqlite(&back), all_of_sqlite(&from));
    }
}

#[tokio::test]
async fn a_source_without_a_store_is_an_error_and_makes_none() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    let error = copy(&sqlite(&from), &sqlite(&to)).await.unwrap_err();
    assert!(error.to_string().contains("from/provost.db"), "{error}");
    assert!(!from.exists());
    let Some(server) = started() else { return };
    let url = server.database("none");
    let error = copy(&postgres(&url), &sqlite(&to)).await.unwrap_err();
    assert!(error.hint().contains("`store`"), "{}", error.hint());
    let schemas = "SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'provost'";
    assert_eq!(server.sql("none", schemas), "0");
    copy(&sqlite(&from), &sqlite(&to)).await.unwrap_err();
    assert!(Sqlite::open(&to).is_err());
}

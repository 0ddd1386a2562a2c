use std::sync::Arc;

use jiff::SignedDuration;
use provost_steplog::wording::error_chain;
use provost_store::{PruneScope, Retention, Sqlite, Store, Tokens};
use serde_json::json;

use crate::enrolment::{enrols, many_at_once};
use crate::history::{keeps_history, many_daemons};
use crate::jobs::keeps_jobs;
use crate::notices::queues;
use crate::pruning::{ROOM, prunes};
use crate::suite::{conforms, many_writers};
use crate::{all_runs, at, report};

#[tokio::test]
async fn sqlite_conforms_and_keeps_all_over_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let store = Sqlite::open(data.path()).unwrap();
    conforms(&store).await;
    let (nodes, runs) = (store.nodes().await.unwrap(), all_runs(&store, "cn001").await);
    drop(store);
    assert!(!data.path().join("provost.db-wal").exists(), "closed in order");
    let store = Sqlite::open(data.path()).unwrap();
    assert_eq!(store.nodes().await.unwrap(), nodes);
    assert_eq!(all_runs(&store, "cn001").await.len(), runs.len());
    assert_eq!(store.token_owner([3; 32], at()).await.unwrap().as_deref(), Some("cn001"));
}

#[tokio::test]
async fn old_history_is_removed() {
    let data = tempfile::tempdir().unwrap();
    prunes(&Sqlite::open_with(data.path(), ROOM).unwrap()).await;
}

#[tokio::test]
async fn of_old_changes_the_newest_stay() {
    let data = tempfile::tempdir().unwrap();
    let store = Sqlite::open(data.path()).unwrap();
    let db = rusqlite::Connection::open(data.path().join("provost.db")).unwrap();
    let many = provost_api::limits::AUDIT + 20;
    let add = format!(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {many})
         INSERT INTO audit (at, who, source, action, request) SELECT n, 'root', 'x', 'x', 'x' FROM n"
    );
    db.execute_batch(&add).unwrap();
    let days = |days: i64| SignedDuration::from_hours(24 * days);
    let keep = Retention { runs: 1, age: days(90), logs: days(30) };
    store.prune(keep, PruneScope::Everywhere, at()).await.unwrap();
    let left = "SELECT count(*), min(id) FROM audit";
    let left = db.query_row(left, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(left, (provost_api::limits::AUDIT as i64, 21));
}

#[tokio::test]
async fn jobs_are_kept_for_all_to_see() {
    let data = tempfile::tempdir().unwrap();
    let store = Sqlite::open(data.path()).unwrap();
    keeps_jobs(&store, &store).await;
}

#[tokio::test]
async fn nodes_get_identities() {
    let data = tempfile::tempdir().unwrap();
    enrols(&Sqlite::open(data.path()).unwrap()).await;
}

#[tokio::test]
async fn what_happens_is_queued_for_receivers() {
    let folder = tempfile::tempdir().unwrap();
    queues(&Sqlite::open(folder.path()).unwrap()).await;
}

#[tokio::test]
async fn what_runs_did_is_kept_by_minute_and_hour() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Sqlite::open(folder.path()).unwrap());
    keeps_history(&*store).await;
    many_daemons([store.clone(), store]).await;
}

#[tokio::test]
async fn many_nodes_enrol_at_once() {
    let data = tempfile::tempdir().unwrap();
    many_at_once(Arc::new(Sqlite::open(data.path()).unwrap())).await;
}

#[tokio::test]
async fn many_writers_at_once_lose_nothing() {
    let data = tempfile::tempdir().unwrap();
    many_writers(Arc::new(Sqlite::open(data.path()).unwrap())).await;
}

#[tokio::test]
async fn a_write_that_fails_says_so_and_the_next_one_succeeds() {
    let data = tempfile::tempdir().unwrap();
    let store = Sqlite::open(data.path()).unwrap();
    let batch = || vec![report("cn001", "a", 1, json!({"phase": "service start"}))];
    let other = rusqlite::Connection::open(data.path().join("provost.db")).unwrap();
    other
        .execute_batch(
            "CREATE TRIGGER full BEFORE INSERT ON record BEGIN SELECT RAISE(ABORT, 'x'); END",
        )
        .unwrap();
    assert!(store.ingest("cn001", batch(), at()).await.is_err());
    assert!(store.nodes().await.unwrap().is_empty(), "nothing of it was kept");
    other.execute_batch("DROP TRIGGER full").unwrap();
    assert_eq!(store.ingest("cn001", batch(), at()).await.unwrap().fresh, 1);
}

#[test]
fn a_file_of_a_newer_version_is_left_alone() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("provost.db");
    let db = rusqlite::Connection::open(&file).unwrap();
    db.execute_batch("PRAGMA user_version = 99").unwrap();
    let Err(error) = Sqlite::open(data.path()) else { panic!("opened") };
    let chain = error_chain(&error);
    assert!(chain.contains("version 99"), "{chain}");
    assert!(error.is_of_other_version() && error.hint().contains("newer"), "{}", error.hint());

    std::fs::write(&file, "this is no database, and it is long enough to be looked at".repeat(20))
        .unwrap();
    let Err(error) = Sqlite::open(data.path()) else { panic!("opened") };
    assert!(error.hint().contains("aside"), "{error}: {}", error.hint());
}

#[test]
fn a_file_of_before_the_first_release_is_left_alone() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("provost.db");
    let db = rusqlite::Connection::open(&file).unwrap();
    db.execute_batch(include_str!("unreleased.sqlite.sql")).unwrap();
    drop(db);
    let before = std::fs::read(&file).unwrap();
    let Err(error) = Sqlite::open(data.path()) else { panic!("opened") };
    let expected = format!("the database in {} is of an unreleased Provost", data.path().display());
    assert!(error_chain(&error).contains(&expected), "{}", error_chain(&error));
    assert!(
        error.is_of_other_version() && error.hint().contains("move it aside"),
        "{}",
        error.hint()
    );
    assert_eq!(std::fs::read(&file).unwrap(), before, "nothing of it was changed");
}

#[tokio::test]
async fn a_file_gives_space_back() {
    let data = tempfile::tempdir().unwrap();
    let store = Sqlite::open(data.path()).unwrap();
    let db = rusqlite::Connection::open(data.path().join("provost.db")).unwrap();
    let pragma = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!((pragma("page_size"), pragma("auto_vacuum")), (1024, 2));
    let before = pragma("page_count");
    let many = (1..2000).map(|seq| {
        // So that it can't be compressed much.
        let text: String = (0..200u64).map(|n| (seq * n * n % 9973).to_string()).collect();
        report("cn002", "b", seq, json!({"phase": "service start", "errorMessage": text}))
    });
    store.ingest("cn002", many.collect(), at()).await.unwrap();
    assert!(pragma("page_count") > before + 100);
    store.remove(vec!["cn002".into()]).await.unwrap().unwrap();
    assert_eq!(pragma("freelist_count"), 0, "the file has given it back");
    assert_eq!(pragma("page_count"), before);
}

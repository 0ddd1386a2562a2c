//! What of the history is kept no longer.

use jiff::{SignedDuration, Timestamp};
use provost_store::{
    LogKind, MAX_RUNS, PruneScope, Pruned, Quota, Quotas, RecordQuota, Report, Retention, RunQuery,
    Status, Store, UploadedLog,
};
use serde_json::json;

use crate::{at, report};

/// Records of a run that are more than are removed at once.
const MANY: u64 = 4500;

/// The size that a log counts at least.
const SMALLEST_LOG: u64 = 64 * 1024;

/// Room for two of the runs with many records, but not for three; and for five logs.
pub(crate) const ROOM: Quotas = {
    let room = Quota { per_hour: u64::MAX / 2, all: MANY * 300 };
    let records = RecordQuota { bytes: room, per_hour: u64::MAX, runs_per_hour: u64::MAX };
    Quotas { records, logs: Quota { per_hour: 1 << 30, all: 5 * SMALLEST_LOG }, reserve: 0 }
};

fn days(days: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * days)
}

/// The records of a run that has ended, in about 140 bytes each, and each in a row of its own: every other one is
/// missing.
fn run(node: &str, run: &str, records: u64) -> Vec<Report> {
    let mut all = begun(node, run, records - 1);
    let end = json!({"phase": "service end", "result": "success"});
    all.push(report(node, run, 2 * records, end));
    all
}

/// The same of a run that was only begun.
fn begun(node: &str, run: &str, records: u64) -> Vec<Report> {
    let start = || json!({"phase": "service start"});
    (1..=records).map(|n| report(node, run, 2 * n, start())).collect()
}

async fn pruned(store: &dyn Store, keep: Retention, at: Timestamp) -> Pruned {
    let (expected, mut all) = (store.prunable(keep, at).await.unwrap(), Pruned::default());
    loop {
        let some = store.prune(keep, PruneScope::Everywhere, at).await.unwrap();
        all += some;
        if some == Pruned::default() {
            assert_eq!(all, expected, "what is removed is what was to be");
            return all;
        }
    }
}

async fn runs(store: &dyn Store, node: &str) -> Vec<String> {
    let newest = store.runs(node, RunQuery::newest(MAX_RUNS)).await.unwrap();
    newest.runs.into_iter().map(|run| run.run).collect()
}

/// What every store must do, with a quota of [`ROOM`].
pub(crate) async fn prunes(store: &dyn Store) {
    let keep = Retention { runs: 3, age: days(90), logs: days(30) };
    for n in 1..=5 {
        let name = format!("a{n}");
        store.ingest("cn001", run("cn001", &name, n), at()).await.unwrap();
        let log = UploadedLog { run: name, name: "01-x".into() };
        store.put_log("cn001", log, LogKind::Failure, vec![0; 100]).await.unwrap();
    }
    store.ingest("cn002", run("cn002", "b1", 2), at()).await.unwrap();
    let gone = pruned(store, keep, at()).await;
    assert_eq!((gone.runs, gone.records, gone.logs, gone.log_bytes), (2, 3, 2, 200));
    assert_eq!(runs(store, "cn001").await, ["a5", "a4", "a3"]);
    assert_eq!(store.logs("cn001").await.unwrap().len(), 3);
    assert_eq!(
        (runs(store, "cn002").await, store.node_of_run("a1").await.unwrap()),
        (vec!["b1".to_owned()], None)
    );
    assert!(store.records("a1", 0).await.unwrap().is_empty());

    // A late record is acknowledged and isn't stored.
    let late = store.ingest("cn001", run("cn001", "a2", 7), at()).await.unwrap();
    assert_eq!((late.fresh, late.repeats), (0, 7));
    assert_eq!(runs(store, "cn001").await, ["a5", "a4", "a3"]);
    assert_eq!(pruned(store, keep, at()).await, Pruned::default());

    // The newest run of a node stays for ever, and so does its status.
    let gone = pruned(store, keep, at() + days(91)).await;
    assert_eq!((gone.runs, gone.records), (2, 7));
    assert_eq!(
        (runs(store, "cn001").await, runs(store, "cn002").await.len()),
        (vec!["a5".to_owned()], 1)
    );
    assert_eq!(store.node("cn001").await.unwrap().unwrap().status, Status::Booted);
    // At last it is forgotten that there was a run.
    assert_eq!(pruned(store, keep, at() + days(181)).await.runs, 0);
    let again = store.ingest("cn001", run("cn001", "a2", 1), at() + days(181)).await.unwrap();
    assert_eq!(again.fresh, 1);

    // What is removed is free for the quota, also of more records than are removed at once.
    let keep = Retention { runs: 1, ..keep };
    for name in ["c1", "c2"] {
        store.ingest("cn003", run("cn003", name, MANY), at()).await.unwrap();
    }
    assert!(store.ingest("cn003", run("cn003", "c3", MANY), at()).await.is_err(), "no room");
    assert_eq!(pruned(store, keep, at()).await.records, MANY + 5, "and those of a5");
    store.ingest("cn003", run("cn003", "c3", MANY), at()).await.unwrap();
    assert_eq!(runs(store, "cn003").await, ["c3", "c2"]);
    of_new_runs(store, keep).await;
    of_success_logs(store).await;
    of_steps(store, keep).await;
    of_begun_runs(store, keep).await;
}

/// Where a node has its quota of logs, those of successful steps go for others.
async fn of_success_logs(store: &dyn Store) {
    use LogKind::{Failure, Success};
    let put = async |run: &str, kind| {
        let log = UploadedLog { run: run.to_owned(), name: "01-x".into() };
        store.put_log("cn006", log, kind, vec![0; 100]).await
    };
    let one = Pruned { logs: 1, log_bytes: 100, ..Pruned::default() };
    for (run, kind, gone) in [
        ("f1", Failure, Pruned::default()),
        ("s1", Success, Pruned::default()),
        ("s2", Success, Pruned::default()),
        ("s3", Success, Pruned::default()),
        ("f2", Failure, Pruned::default()),
        ("s3", Success, Pruned::default()),
        ("f3", Failure, one),
        ("s4", Success, one),
    ] {
        assert_eq!(put(run, kind).await.unwrap(), gone, "{run}");
    }
    let runs = async || -> Vec<_> {
        store.logs("cn006").await.unwrap().into_iter().map(|log| log.run).collect()
    };
    assert_eq!(runs().await, ["f1", "f2", "f3", "s3", "s4"]);
    put("f4", Failure).await.unwrap();
    put("f5", Failure).await.unwrap();
    assert!(put("s5", Success).await.unwrap_err().retry_after().is_some(), "no room");
    assert!(put("f6", Failure).await.unwrap_err().retry_after().is_some(), "no room");
    assert_eq!(runs().await, ["f1", "f2", "f3", "f4", "f5"]);
}

/// How a script ended last goes with the run in which it did.
async fn of_steps(store: &dyn Store, keep: Retention) {
    for (name, script) in [("d1", "old"), ("d2", "new"), ("d3", "new")] {
        let end =
            json!({"stage": script, "phase": "stage end", "result": "success", "durationMs": 1});
        store.ingest("cn004", vec![report("cn004", name, 1, end)], at()).await.unwrap();
    }
    let scripts = async || {
        let scripts = store.scripts().await.unwrap();
        scripts.into_iter().map(|script| script.name).collect::<Vec<_>>()
    };
    assert_eq!(scripts().await, ["new", "old"]);
    pruned(store, Retention { runs: 2, ..keep }, at()).await;
    assert_eq!(scripts().await, ["new"]);
    pruned(store, keep, at() + days(91)).await;
    assert_eq!(scripts().await, ["new"], "the newest run stays");
}

/// Of a run that has ended it is remembered that there was one, of one that was only begun nothing.
async fn of_begun_runs(store: &dyn Store, keep: Retention) {
    let steps = || {
        vec![
            report("cn005", "e2", 1, json!({"phase": "service start"})),
            report("cn005", "e2", 2, json!({"phase": "stage start", "stage": "fetch"})),
            report("cn005", "e2", 3, json!({"phase": "stage end", "stage": "fetch"})),
        ]
    };
    for batch in [begun("cn005", "e1", 1), steps(), run("cn005", "e3", 3), run("cn005", "e4", 1)] {
        store.ingest("cn005", batch, at()).await.unwrap();
    }
    let gone = pruned(store, keep, at()).await;
    assert_eq!((gone.runs, gone.records), (3, 7));
    let again = async |batch| store.ingest("cn005", batch, at()).await.unwrap().fresh;
    assert_eq!(again(run("cn005", "e3", 3)).await, 0, "it has ended");
    assert_eq!((again(begun("cn005", "e1", 1)).await, again(steps()).await), (1, 3));
}

/// A round looks at no node without a new run.
async fn of_new_runs(store: &dyn Store, keep: Retention) {
    let now = at() + SignedDuration::from_mins(10);
    let prune = async |keep| store.prune(keep, PruneScope::AtNewRuns, now).await.unwrap();
    let gone = prune(Retention { runs: 2, ..keep }).await;
    assert_eq!(gone, Pruned::default(), "it has looked at all");
    assert_eq!(prune(keep).await, Pruned::default(), "nothing is new");
    let log = UploadedLog { run: "c2".into(), name: "01-x".into() };
    store.put_log("cn003", log, LogKind::Failure, vec![0; 100]).await.unwrap();
    store.ingest("cn003", run("cn003", "c4", 1), at()).await.unwrap();
    let gone = prune(Retention { runs: 2, ..keep }).await;
    assert_eq!((gone.runs, gone.records, gone.logs), (1, MANY, 1));
    assert_eq!(runs(store, "cn003").await, ["c4", "c3"]);
    // By their age, all but the newest.
    store.ingest("cn003", run("cn003", "c5", 1), now).await.unwrap();
    let late = now + days(91);
    let gone =
        store.prune(Retention { runs: 9, ..keep }, PruneScope::AtNewRuns, late).await.unwrap();
    assert_eq!(gone.runs, 2);
    assert_eq!(runs(store, "cn003").await, ["c5"]);
}

//! The queues of what receivers are to be told.

use jiff::{SignedDuration, Timestamp};
use provost_record::Cause;
use provost_store::{HistoryScale, Notice, NoticeKind, Queued, Store, Storm, Subscription};
use serde_json::{Value, json};

use crate::{at, report};

fn later(minutes: i64) -> Timestamp {
    at() + SignedDuration::from_mins(minutes)
}

/// Who is told of what, in these tests.
pub(crate) fn subscribe(store: &dyn Store) {
    use NoticeKind::{Booted, Failed, Held, Lost, StormDone};
    let all =
        Subscription { receiver: "all".into(), kinds: vec![Booted, Failed, Held, Lost, StormDone] };
    let failures = Subscription { receiver: "failures".into(), kinds: vec![Failed] };
    store.subscribe(vec![all, failures]);
}

async fn queued(store: &dyn Store, receiver: &str) -> Vec<Queued> {
    store.queued(receiver, 100).await.unwrap()
}

/// What is in a queue: of whom, and what.
async fn told(store: &dyn Store, receiver: &str) -> Vec<(String, &'static str)> {
    let name = |notice: &Notice| notice.node.as_ref().map_or("", |node| &node.name).to_owned();
    let queued = queued(store, receiver).await;
    queued.iter().map(|q| (name(&q.notice), &*q.notice.kind.to_string().leak())).collect()
}

/// Stores records of a run, each twice.
pub(crate) async fn run(store: &dyn Store, node: &str, run: &str, records: &[Value]) {
    for _ in 0..2 {
        let records = records.iter().zip(1..);
        let batch = records.map(|(more, seq)| report(node, run, seq, more.clone()));
        store.ingest(node, batch.collect(), at()).await.unwrap();
    }
}

pub(crate) fn start() -> Value {
    json!({"phase": "service start"})
}

pub(crate) fn end(result: &str, more: Value) -> Value {
    let mut end = json!({"phase": "service end", "result": result});
    end.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    end
}

/// What happens is queued once, in order, for those who want it; the store is fresh and empty.
pub(crate) async fn queues(store: &dyn Store) {
    run(store, "cn000", "a", &[start(), end("failure", json!({}))]).await;
    assert_eq!(told(store, "all").await, [], "nobody had subscribed");
    subscribe(store);
    let why = json!({"cause": "exit", "exitCode": 7, "errorMessage": "no disk"});
    run(store, "cn001", "a", &[start(), end("failure", why)]).await;
    run(store, "cn001", "b", &[start(), end("success", json!({}))]).await;
    let of_rerun = |mut record: Value| {
        record["service"] = "run".into();
        record
    };
    run(store, "cn002", "c", &[start(), end("failure", json!({"cause": "held"}))]).await;
    let rerun = [start(), end("failure", json!({}))].map(of_rerun);
    run(store, "cn003", "d", &rerun).await;
    run(store, "cn004", "e", &[start()]).await;
    store.lose(later(600), later(600)).await.unwrap();
    let pair = |node: &str, what| (node.to_owned(), what);
    let four = [
        pair("cn001", "failed"),
        pair("cn001", "booted"),
        pair("cn002", "held"),
        pair("cn004", "lost"),
    ];
    assert_eq!(told(store, "all").await, four);
    assert_eq!(told(store, "failures").await, four[..1]);
    let failed = queued(store, "failures").await.remove(0).notice;
    let node = failed.node.unwrap();
    assert_eq!((failed.at, node.run.as_deref()), (at(), Some("a")));
    let detail = (node.detail.cause, node.detail.error_message.as_deref());
    assert_eq!(detail, (Some(Cause::Exit), Some("no disk")));

    let storm = Storm { nodes: 40, succeeded: 39, failed: 1, lost: 0, began: at() };
    let kind = NoticeKind::StormDone;
    let done = Notice { kind, at: later(1), node: None, storm: Some(storm) };
    store.end_storm(done.clone()).await.unwrap();
    assert_eq!(told(store, "all").await.len(), 4, "none is under way");
    for began in [at(), later(1)] {
        store.begin_storm(began).await.unwrap();
        assert_eq!(store.storm().await.unwrap(), Some(at()), "one is under way already");
    }
    // Of daemons that share the store, each may see its end.
    for _ in 0..2 {
        store.end_storm(done.clone()).await.unwrap();
        assert_eq!(store.storm().await.unwrap(), None);
    }
    let history = store.history(HistoryScale::Minute, at()).await.unwrap();
    let [result] = &*history.storms else { panic!("{history:?}") };
    assert_eq!((Some(&result.storm), result.ended), (done.storm.as_ref(), later(1)));
    let ids: Vec<i64> = queued(store, "all").await.iter().map(|queued| queued.id).collect();
    assert!(ids.is_sorted() && ids.len() == 5, "{ids:?}");
    store.delivered(ids[..3].to_vec()).await.unwrap();
    assert_eq!(told(store, "all").await, [pair("cn004", "lost"), pair("", "storm-done")]);
    assert_eq!(queued(store, "all").await[1].notice, done);
    assert_eq!(told(store, "failures").await.len(), 1, "another queue");
    let lengths = store.queue_lengths().await.unwrap();
    assert_eq!(lengths, [("all".to_owned(), 2), ("failures".to_owned(), 1)]);
    assert_eq!(store.queued("all", 1).await.unwrap().len(), 1);

    // The storm's is the older one by its time, the lost one's by its number.
    assert_eq!(store.drop_notices("all", 1, at()).await.unwrap(), 1);
    assert_eq!(told(store, "all").await, [pair("", "storm-done")]);
    assert_eq!(store.drop_notices("all", 1, later(2)).await.unwrap(), 1);
    assert_eq!(store.drop_notices("all", 0, later(2)).await.unwrap(), 0);
    assert_eq!(store.queue_lengths().await.unwrap(), [("failures".to_owned(), 1)]);
    assert!(store.delivers().await.unwrap());
}

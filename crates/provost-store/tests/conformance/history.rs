//! What runs did and how nodes stood, by minute and by hour.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use provost_store::{
    HistoryPoint, HistoryScale, NodesByStatus, Notice, NoticeKind, Status, Store, Storm,
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{at, report};

fn seconds(seconds: i64) -> Timestamp {
    at() + SignedDuration::from_secs(seconds)
}

/// Stores records of a run of `service`, twice: the second time they are there already.
async fn run(store: &dyn Store, (node, run): (&str, &str), records: &[Value], second: i64) {
    for _ in 0..2 {
        let numbered = (1..).zip(records);
        let batch = numbered.map(|(seq, record)| report(node, run, seq, record.clone()));
        store.ingest(node, batch.collect(), seconds(second)).await.unwrap();
    }
}

fn begins() -> Value {
    json!({"phase": "service start"})
}

fn ends(result: &str, ms: u64) -> Value {
    json!({"phase": "service end", "result": result, "durationMs": ms})
}

/// How many runs began, ended well and failed, and when.
fn counts(points: &[HistoryPoint]) -> Vec<(i64, u64, u64, u64)> {
    let second = |point: &HistoryPoint| point.at.duration_since(at()).as_secs();
    points.iter().map(|p| (second(p), p.runs.began, p.runs.succeeded, p.runs.failed)).collect()
}

async fn minutes(store: &dyn Store) -> Vec<HistoryPoint> {
    store.history(HistoryScale::Minute, at()).await.unwrap().points
}

/// Nothing is missed or counted twice, however often it comes and is added; the store is fresh and empty.
pub(crate) async fn keeps_history(store: &dyn Store) {
    run(store, ("cn001", "a"), &[begins(), ends("success", 60_000)], 10).await;
    run(store, ("cn002", "b"), &[begins(), begins(), ends("failure", 7)], 59).await;
    // A run that began in one minute and ended in another one; no boot; one that only begins.
    run(store, ("cn003", "c"), &[begins()], 59).await;
    run(store, ("cn003", "c"), &[begins(), ends("success", 180_000)], 130).await;
    let mut rerun = ends("success", 9);
    rerun["service"] = "run".into();
    run(store, ("cn001", "d"), &[rerun], 130).await;
    run(store, ("cn004", "e"), &[begins()], 3600).await;
    let expected = [(0, 3, 1, 1), (120, 1, 2, 0), (3600, 1, 0, 0)];
    assert_eq!(counts(&minutes(store).await), expected);
    for _ in 0..2 {
        store.fold_history(seconds(3700)).await.unwrap();
        assert_eq!(counts(&minutes(store).await), expected);
    }
    run(store, ("cn005", "f"), &[begins(), ends("success", 60_000)], 20).await;
    store.fold_history(seconds(3700)).await.unwrap();
    let points = minutes(store).await;
    assert_eq!(counts(&points)[0], (0, 4, 2, 1), "added to what was there");
    let p50 = points[0].runs.boots.percentile(50).unwrap() as f64;
    assert!((p50 / 60_000.0 - 1.0).abs() < 0.03, "{p50}");
    let rest = store.history(HistoryScale::Minute, seconds(60)).await.unwrap().points;
    assert_eq!(counts(&rest), expected[1..]);
    let hours = store.history(HistoryScale::Hour, at()).await.unwrap().points;
    assert_eq!(counts(&hours), [(0, 5, 4, 1), (3600, 1, 0, 0)]);
    let slow = hours[0].runs.boots.percentile(95).unwrap() as f64;
    assert!((slow / 180_000.0 - 1.0).abs() < 0.03, "{slow}");
    nodes(store).await;
    let storm = Storm { nodes: 12, began: seconds(10), ..Storm::default() };
    store.begin_storm(storm.began).await.unwrap();
    let done =
        Notice { kind: NoticeKind::StormDone, at: seconds(370), node: None, storm: Some(storm) };
    store.end_storm(done).await.unwrap();

    // After a day the minutes are gone, and the hours are there; after a year all is gone but how nodes stood last.
    store.fold_history(seconds(27 * 3600)).await.unwrap();
    assert_eq!(counts(&minutes(store).await), []);
    let hours = store.history(HistoryScale::Hour, at()).await.unwrap().points;
    assert_eq!(counts(&hours), [(0, 5, 4, 1), (3600, 1, 0, 0)]);
    let storms = async || store.history(HistoryScale::Hour, at()).await.unwrap().storms.len();
    assert_eq!(storms().await, 1);
    store.fold_history(seconds(370 * 86_400)).await.unwrap();
    assert_eq!(store.history(HistoryScale::Hour, at()).await.unwrap().points, []);
    assert_eq!(storms().await, 0);
}

/// How many nodes have each status.
async fn nodes(store: &dyn Store) {
    assert_eq!(store.nodes_noted().await.unwrap(), None);
    let nodes = |booted| NodesByStatus::from([(Status::Booted, booted), (Status::Failed, 1)]);
    for (second, booted) in [(3600, 2), (3659, 3), (3720, 9)] {
        store.note_nodes(nodes(booted), seconds(second)).await.unwrap();
    }
    assert_eq!(store.nodes_noted().await.unwrap(), Some((seconds(3720), nodes(9))));
    let series = store.history(HistoryScale::Minute, seconds(3600)).await.unwrap();
    assert_eq!(series.nodes_before, None);
    let noted: Vec<_> = series.points.into_iter().map(|point| point.nodes).collect();
    assert_eq!(noted, [Some(nodes(3)), Some(nodes(9))], "the last one of each minute");
    assert_eq!(counts(&minutes(store).await)[2], (3600, 1, 0, 0), "and what runs did");
    let hours = store.history(HistoryScale::Hour, at()).await.unwrap().points;
    assert_eq!(hours[1].nodes, Some(nodes(9)));
    let later = store.history(HistoryScale::Minute, seconds(3720)).await.unwrap();
    assert_eq!(later.nodes_before, Some(nodes(3)));
    let next = store.history(HistoryScale::Minute, seconds(9000)).await.unwrap();
    assert_eq!((next.points.len(), next.nodes_before), (0, Some(nodes(9))));
}

/// Daemons that store and add at once count each run once.
pub(crate) async fn many_daemons(stores: [Arc<impl Store>; 2]) {
    let day = 400 * 86_400;
    let mut tasks = JoinSet::new();
    for n in 0..60 {
        let (store, other) = (stores[n % 2].clone(), stores[(n + 1) % 2].clone());
        tasks.spawn(async move {
            let (node, name) = (format!("n{n}"), format!("r{n}"));
            run(&*store, (&node, &name), &[begins(), ends("success", 5000)], day + n as i64).await;
            other.fold_history(seconds(day)).await.unwrap();
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    let all = stores[0].history(HistoryScale::Hour, seconds(day)).await.unwrap().points;
    assert_eq!(counts(&all), [(day, 60, 60, 0)]);
}

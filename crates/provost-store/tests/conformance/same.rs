//! Whatever comes, in whatever batches, both stores say the same of it.

use std::collections::BTreeMap;
use std::iter::repeat_with;

use fastrand::Rng;
use jiff::SignedDuration;
use provost_store::{HistoryScale, Ingested, Report, ScriptReport, Sqlite, Standing, Store};
use provost_tests::{Postgres as Server, repeats, seed};
use serde_json::json;

use crate::{all_runs, at, postgres, report};

const NODES: [&str; 3] = ["cn001", "cn002", "cn003"];
const SCRIPTS: [&str; 3] = ["syslog", "mount", "otherpkgs"];

/// Records of a node's runs, in the order in which it wrote them. A run may go on after a reboot, with another bundle,
/// or have no end.
fn life(random: &mut Rng, node: &str) -> Vec<Report> {
    let mut reports = Vec::new();
    let mut bundle = random.u64(1..5);
    for number in 0..random.usize(1..6) {
        let run = format!("{node}-{number}");
        let service = ["kickstart", "boot", "boot", "run", "upgrade"][random.usize(..5)];
        let mut seq = 0;
        let mut add = |more: serde_json::Value| {
            seq += 1;
            let mut record = more;
            record["service"] = service.into();
            reports.push(report(node, &run, seq, record));
        };
        for _ in 0..random.usize(1..3) {
            bundle += random.u64(0..2);
            add(json!({"phase": "service start", "attempt": 1, "bootId": "b"}));
            add(json!({"phase": "stage start", "stage": "fetch", "limitMs": 5000}));
            add(
                json!({"phase": "stage end", "stage": "fetch", "result": "success", "bundle": bundle,
                "plan": bundle * 2, "stages": SCRIPTS}),
            );
            for _ in 0..random.usize(0..4) {
                let stage = SCRIPTS[random.usize(..SCRIPTS.len())];
                add(json!({"phase": "stage start", "stage": stage}));
                let ms = random.u64(1..1000);
                add(match random.usize(..4) {
                    0 => {
                        json!({"phase": "stage end", "stage": stage, "result": "failure", "durationMs": ms,
                        "cause": (["exit", "timeout", "melted"][random.usize(..3)]),
                        "errorMessage": "no disk"})
                    }
                    1 => json!({"phase": "stage end", "stage": stage, "result": "success",
                        "skipped": "done", "durationMs": ms}),
                    _ => json!({"phase": "stage end", "stage": stage, "result": "success",
                        "durationMs": ms}),
                });
            }
        }
        match random.usize(..4) {
            0 => {}
            1 => add(json!({"phase": "service end", "result": "failure", "cause": "exit"})),
            _ => add(json!({"phase": "service end", "result": "success"})),
        }
    }
    reports
}

/// Cuts them into batches, of which some are repeated or out of order.
fn batches(random: &mut Rng, reports: &[Report], in_order: bool) -> Vec<Vec<Report>> {
    let mut batches: Vec<Vec<Report>> = Vec::new();
    let mut rest = reports;
    while !rest.is_empty() {
        let (batch, more) = rest.split_at(random.usize(1..=rest.len().min(12)));
        batches.push(batch.to_vec());
        rest = more;
    }
    if !in_order {
        for _ in 0..random.usize(0..3) {
            let again = batches[random.usize(..batches.len())].clone();
            batches.insert(random.usize(..=batches.len()), again);
            let (a, b) = (random.usize(..batches.len()), random.usize(..batches.len()));
            batches.swap(a, b);
        }
    }
    batches
}

/// All that a store says.
async fn all(store: &dyn Store) -> String {
    let mut scripts = BTreeMap::<&str, ScriptReport>::new();
    for script in SCRIPTS {
        scripts.insert(script, store.script(script).await.unwrap());
    }
    let mut runs = Vec::new();
    for node in NODES {
        for run in all_runs(store, node).await {
            let texts = run.reports.iter().map(|report| report.json.get().to_owned());
            runs.push((node, texts.collect::<Vec<_>>()));
        }
        let standing: Standing = store.standing(node, None).await.unwrap();
        runs.push((node, vec![format!("{standing:?}")]));
    }
    let summaries = store.scripts().await.unwrap();
    let before = store.history(HistoryScale::Minute, at()).await.unwrap();
    store.fold_history(at()).await.unwrap();
    let history = store.history(HistoryScale::Minute, at()).await.unwrap();
    assert_eq!(before, history, "also of what isn't added yet");
    let (nodes, statuses) = (store.nodes().await.unwrap(), store.statuses().await.unwrap());
    let (seen, due) = (store.seen().await.unwrap(), store.next_due().await.unwrap());
    format!(
        "{nodes:#?} {statuses:?} {seen:?} {due:?} {summaries:?} {history:?} {scripts:#?} {runs:#?}"
    )
}

async fn ingest(store: &dyn Store, node: &str, batch: &[Report]) -> Ingested {
    store.ingest(node, batch.to_vec(), at()).await.unwrap()
}

#[tokio::test]
async fn both_stores_say_the_same_of_whatever_comes() {
    let server = Server::start();
    let mut random = Rng::with_seed(seed());
    for number in 0..repeats(10, 200) {
        let folders = repeat_with(|| tempfile::tempdir().unwrap()).take(2).collect::<Vec<_>>();
        let [sqlite, one_by_one] = [0, 1].map(|n: usize| Sqlite::open(folders[n].path()).unwrap());
        let postgres = postgres::open(&server.database(&format!("same{number}"))).await;
        let in_order = random.bool();
        for node in NODES {
            let reports = life(&mut random, node);
            for batch in batches(&mut random, &reports, in_order) {
                let both =
                    (ingest(&sqlite, node, &batch).await, ingest(&postgres, node, &batch).await);
                assert_eq!(both.0, both.1, "{batch:#?}");
                for report in &batch {
                    ingest(&one_by_one, node, std::slice::from_ref(report)).await;
                }
            }
        }
        let late = at() + SignedDuration::from_hours(1);
        let due = late - SignedDuration::from_secs(1);
        let mut lost = Vec::new();
        for store in [&sqlite as &dyn Store, &postgres, &one_by_one] {
            let mut by_name = store.lose(due, late).await.unwrap();
            by_name.sort_by(|a, b| a.node.cmp(&b.node));
            lost.push(by_name);
        }
        assert!(lost.iter().all(|other| *other == lost[0]), "{lost:#?}");
        let said = all(&sqlite).await;
        assert_eq!(said, all(&postgres).await);
        assert_eq!(said, all(&one_by_one).await, "the batches make no difference");
    }
}

//! Jobs of admins, and what becomes of one whose daemon is gone.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use provost_store::{Job, JobState, PruneScope, Retention, Store, StoredJob};

use crate::at;

fn job(id: &str) -> Job {
    Job {
        id: id.to_owned(),
        began: at(),
        who: "lee".to_owned(),
        action: "boot".to_owned(),
        script: None,
        nodes: "cn[001-003]".to_owned(),
        typed: BTreeMap::from([("provost boot".to_owned(), "cn[001-003]".to_owned())]),
        audit: Some(7),
    }
}

async fn state(store: &dyn Store, id: &str) -> JobState {
    store.job(id).await.unwrap().unwrap().state
}

/// `another` may be the same store, or another daemon's.
pub(crate) async fn keeps_jobs(store: &dyn Store, another: &dyn Store) {
    let mut events = another.events();
    store.begin_job(job("a")).await.unwrap();
    store.note_job("a".into(), vec![("cn001".into(), None)]).await.unwrap();
    let failure = Some("No route to host".to_owned());
    store.note_job("a".into(), vec![("cn002".into(), failure.clone())]).await.unwrap();
    let results = BTreeMap::from([("cn001".to_owned(), None), ("cn002".to_owned(), failure)]);
    let expected = StoredJob { job: job("a"), state: JobState::Running, results };
    assert_eq!(another.job("a").await.unwrap().unwrap(), expected);
    for node in ["cn001", "cn002"] {
        match crate::next(&mut events).await {
            provost_store::Event::Job(news) => {
                assert_eq!((&*news.job, &*news.node), ("a", node));
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(another.job("b").await.unwrap().is_none());

    // One whose daemon says nothing any more, unless it has said something since.
    let running = another.running_jobs().await.unwrap();
    assert_eq!(running, [("a".to_owned(), 0)]);
    store.beat_jobs(vec!["a".into()]).await.unwrap();
    assert!(!another.interrupt_job("a".into(), 0, at()).await.unwrap());
    assert_eq!(another.running_jobs().await.unwrap(), [("a".to_owned(), 1)]);
    assert!(another.interrupt_job("a".into(), 1, at()).await.unwrap());
    assert!(!another.interrupt_job("a".into(), 1, at()).await.unwrap(), "once");
    assert_eq!(state(store, "a").await, JobState::Interrupted(at()));
    assert_eq!(store.running_jobs().await.unwrap(), []);
    // It was only slow.
    store.beat_jobs(vec!["a".into()]).await.unwrap();
    assert_eq!(state(another, "a").await, JobState::Running);
    store.end_job("a".into(), at()).await.unwrap();
    store.beat_jobs(vec!["a".into()]).await.unwrap();
    assert_eq!(state(another, "a").await, JobState::Done(at()));
    assert!(!another.interrupt_job("a".into(), 3, at()).await.unwrap());

    let newest = another.newest_jobs(9).await.unwrap();
    let [all] = &newest[..] else { panic!("{newest:?}") };
    assert_eq!(
        (&all.job, all.state, all.ended, all.failed),
        (&job("a"), JobState::Done(at()), 2, 1)
    );

    // They are kept for as long as runs are.
    let later = Job { began: at() + SignedDuration::from_hours(30), ..job("b") };
    store.begin_job(later).await.unwrap();
    for n in 0..25 {
        store.begin_job(job(&format!("old{n}"))).await.unwrap();
    }
    let age = SignedDuration::from_hours(24);
    let keep = Retention { runs: 1, age, logs: age };
    let now = at() + SignedDuration::from_hours(36);
    store.prune(keep, PruneScope::Everywhere, now).await.unwrap();
    for gone in ["a", "old0", "old24"] {
        assert!(another.job(gone).await.unwrap().is_none(), "{gone}");
    }
    assert!(another.job("b").await.unwrap().is_some());
    assert_eq!(another.newest_jobs(9).await.unwrap().len(), 1);
    store.begin_job(job("a")).await.unwrap();
    assert!(another.job("a").await.unwrap().unwrap().results.is_empty(), "with its results");
}

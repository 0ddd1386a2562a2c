//! What every store must do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use provost_record::Cause;
use provost_store::{
    Admin, Arrival, AuditEntry, Claim, ClaimContent, Event, LogKind, Lost, Released, Role,
    RunQuery, ScriptReport, ServiceChange, ServiceChangeKind, Standing, Status, Step, Store,
    StoredRun, Token, UploadedLog,
};
use serde_json::json;

use crate::{all_runs, at, next, report};

/// What every store must do; it is fresh and empty.
pub(crate) async fn conforms(store: &dyn Store) {
    tokens(store).await;
    rotation(store).await;
    records(store).await;
    runs_of_two_nodes(store).await;
    newest_runs(store).await;
    logs(store).await;
    attempts(store).await;
    boots(store).await;
    silence(store).await;
    claims(store).await;
    statuses(store).await;
    steps(store).await;
    steps_over_a_reboot(store).await;
    removal(store).await;
    admins(store).await;
    audit(store).await;
}

async fn tokens(store: &dyn Store) {
    assert!(store.nodes().await.unwrap().is_empty());
    let token = |node: &str, byte| Token { node: node.into(), sha256: [byte; 32] };
    let new = store.set_tokens(vec![token("cn002", 2), token("cn001", 1)], at()).await.unwrap();
    assert_eq!(new, ["cn002", "cn001"]);
    assert_eq!(store.token_owner([1; 32], at()).await.unwrap().as_deref(), Some("cn001"));
    let new = store.set_tokens(vec![token("cn001", 3), token("cn001", 3)], at()).await.unwrap();
    assert!(new.is_empty(), "it was known");
    assert_eq!(
        store.token_owner([1; 32], at()).await.unwrap(),
        None,
        "the new one replaces the old"
    );
    assert_eq!(store.token_owner([3; 32], at()).await.unwrap().as_deref(), Some("cn001"));
    // The second of these is another node's: neither is given.
    assert!(store.set_tokens(vec![token("cn003", 4), token("cn004", 2)], at()).await.is_err());
    let names = ["cn003", "cn001", "cn002"].map(str::to_owned).to_vec();
    assert_eq!(store.without_token(names).await.unwrap(), ["cn003"]);
    let nodes = store.nodes().await.unwrap();
    let names: Vec<_> = nodes.iter().map(|n| (n.name.as_str(), n.status)).collect();
    assert_eq!(names, [("cn001", Status::Defined), ("cn002", Status::Defined)]);
    assert!(store.node("nobody").await.unwrap().is_none());
    let named = ["cn002", "nobody", "cn001"].map(str::to_owned).to_vec();
    let named = store.nodes_named(named).await.unwrap();
    assert_eq!(named.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), ["cn001", "cn002"]);
}

async fn rotation(store: &dyn Store) {
    let token = |byte| vec![Token { node: "turn".into(), sha256: [byte; 32] }];
    let later = |minutes| at() + SignedDuration::from_mins(minutes);
    let owner = async |byte, minutes| {
        store.token_owner([byte; 32], later(minutes)).await.unwrap().is_some()
    };
    assert_eq!(store.rotate_tokens(token(20), later(60), at()).await.unwrap(), ["turn"]);
    assert!(owner(20, 0).await);
    store.rotate_tokens(token(21), later(60), at()).await.unwrap();
    assert!(owner(20, 0).await && owner(20, 59).await, "the new one wasn't used");
    assert!(!owner(20, 60).await, "its time has come");
    // Once more: the node has the first one still, and nobody the second.
    store.rotate_tokens(token(22), later(120), later(1)).await.unwrap();
    assert!(owner(20, 119).await && !owner(21, 1).await);
    assert!(owner(22, 2).await, "this ends the old one");
    assert!(!owner(20, 2).await && owner(22, 2).await && owner(22, 999).await);
    store.rotate_tokens(token(23), later(60), later(3)).await.unwrap();
    assert!(owner(22, 3).await);
    store.set_tokens(token(24), later(4)).await.unwrap();
    assert!(!owner(22, 4).await && !owner(23, 4).await && owner(24, 4).await, "at once");
    store.rotate_tokens(token(25), later(60), later(5)).await.unwrap();
    store.remove(vec!["turn".into()]).await.unwrap().unwrap();
    assert!(!owner(24, 5).await && !owner(25, 5).await);
}

async fn admins(store: &dyn Store) {
    let later = |minutes| at() + SignedDuration::from_mins(minutes);
    let admin = |name: &str, role, from| Admin {
        name: name.into(),
        role,
        created: later(from),
        until: later(from + 60),
    };
    let owner =
        async |byte, minutes| store.admin_of_token([byte; 32], later(minutes)).await.unwrap();
    assert!(store.add_admin(admin("lee", Role::Operate, 0), [40; 32]).await.unwrap());
    assert!(store.add_admin(admin("ann", Role::Read, 0), [41; 32]).await.unwrap());
    assert!(!store.add_admin(admin("lee", Role::Publish, 59), [42; 32]).await.unwrap(), "taken");
    assert_eq!(owner(40, 59).await, Some(admin("lee", Role::Operate, 0)));
    assert_eq!((owner(40, 60).await, owner(42, 59).await), (None, None));
    // Its name is free once its time has come.
    assert!(store.add_admin(admin("lee", Role::Publish, 60), [42; 32]).await.unwrap());
    assert_eq!((owner(40, 0).await, owner(42, 61).await.unwrap().role), (None, Role::Publish));
    let all = store.admins().await.unwrap();
    assert_eq!(all, [admin("ann", Role::Read, 0), admin("lee", Role::Publish, 60)]);
    assert!(store.remove_admin("lee").await.unwrap() && !store.remove_admin("lee").await.unwrap());
    assert_eq!(owner(42, 61).await, None, "at once");
    // A node's token is no admin's, and the other way round.
    assert_eq!(store.token_owner([41; 32], at()).await.unwrap(), None);
}

async fn audit(store: &dyn Store) {
    let entry = |minute| AuditEntry {
        at: at() + SignedDuration::from_mins(minute),
        who: "lee".into(),
        from: "10.0.0.9".into(),
        action: "release".into(),
        request: serde_json::value::to_raw_value(&json!({"nodes": "cn[001-002]"})).unwrap(),
        result: None,
    };
    let first = store.note_change(entry(0), false).await.unwrap();
    let second = store.note_change(entry(1), true).await.unwrap();
    store.note_result(second, "done".into()).await.unwrap();
    store.note_result(second, "something else".into()).await.unwrap();
    assert_ne!(first, second);
    let all = store.changes(Timestamp::UNIX_EPOCH).await.unwrap();
    let results: Vec<_> = all.iter().map(|entry| entry.result.as_deref()).collect();
    assert_eq!(results, [None, Some("done")]);
    let newer = store.changes(entry(1).at).await.unwrap();
    assert_eq!(newer.len(), 1);
    let (found, expected) = (&newer[0], entry(1));
    assert_eq!((found.at, &found.who, &found.from), (expected.at, &expected.who, &expected.from));
    assert_eq!((&found.action, found.request.get()), (&expected.action, expected.request.get()));
}

async fn records(store: &dyn Store) {
    let mut events = store.events();
    let first = vec![
        report("cn001", "a", 1, json!({"phase": "service start", "colour": "green"})),
        report("cn001", "a", 2, json!({"phase": "stage start", "stage": "fetch"})),
    ];
    let ingested = store.ingest("cn001", first.clone(), at()).await.unwrap();
    assert_eq!((ingested.fresh, ingested.repeats), (2, 0));

    let mut again = first.clone();
    let end = json!({"phase": "service end", "result": "failure", "cause": "fetch"});
    again.push(report("cn001", "a", 3, end));
    let ingested = store.ingest("cn001", again, at()).await.unwrap();
    assert_eq!((ingested.fresh, ingested.repeats), (1, 2));

    let node = store.node("cn001").await.unwrap().unwrap();
    assert_eq!(node.status, Status::Failed);
    assert_eq!(node.last_seen, Some(at()));
    assert_eq!(store.node_of_run("a").await.unwrap().as_deref(), Some("cn001"));
    let records = store.records("a", 0).await.unwrap();
    assert_eq!(records.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(records[0].1.get(), first[0].json.get(), "unknown keys are kept");
    assert_eq!(store.records("a", 2).await.unwrap().len(), 1);
    let mut told = Vec::new();
    for (count, kind) in [(2, ServiceChangeKind::Began), (1, ServiceChangeKind::Failed)] {
        let Event::Records(arrivals) = next(&mut events).await else {
            panic!("those that were new")
        };
        let services = vec![ServiceChange { kind, is_run: false }];
        assert_eq!(arrivals.parts, [Arrival { node: "cn001".into(), records: count, services }]);
        told.extend(arrivals.texts().await.unwrap().iter().map(|json| json.get().to_owned()));
    }
    let stored: Vec<&str> = records.iter().map(|(_, json)| json.get()).collect();
    assert_eq!(told, stored);

    // What can't be stored takes nothing else with it, and is said.
    let bad = vec![
        report("cn001", "a", 4, json!({"phase": "service start"})),
        report("cn001", "a", u64::MAX, json!({"phase": "service start"})),
    ];
    assert!(store.ingest("cn001", bad, at()).await.is_err());
    assert_eq!(store.records("a", 0).await.unwrap().len(), 3);
}

async fn runs_of_two_nodes(store: &dyn Store) {
    let start = json!({"phase": "service start"});
    // A run that arrives later is newer, whatever its id and its clock say.
    store.ingest("cn001", vec![report("cn001", "0", 2, start.clone())], at()).await.unwrap();
    store.ingest("cn001", vec![report("cn001", "0", 1, start.clone())], at()).await.unwrap();
    store.ingest("cn001", vec![report("cn001", "a", 9, start.clone())], at()).await.unwrap();
    let runs = all_runs(store, "cn001").await;
    let ids: Vec<_> = runs.iter().map(|r| r.run.as_str()).collect();
    assert_eq!(ids, ["0", "a"]);
    let seqs: Vec<_> = runs[0].reports.iter().map(|r| r.record.seq).collect();
    assert_eq!(seqs, [1, 2]);

    // A node that claims another's run gets a run of its own and hides nothing.
    let claimed = store.ingest("cn002", vec![report("cn002", "a", 1, start)], at()).await.unwrap();
    assert_eq!(claimed.fresh, 1);
    assert_eq!(store.node_of_run("a").await.unwrap().as_deref(), Some("cn001"));
    assert_eq!(all_runs(store, "cn002").await.len(), 1);
    assert!(store.node_of_run("nothing").await.unwrap().is_none());
    assert!(all_runs(store, "nobody").await.is_empty());
}

/// Only what is asked for is read of a node's runs.
async fn newest_runs(store: &dyn Store) {
    for n in 1..=6 {
        let run = |seq| report("many", &format!("m{n}"), seq, json!({"phase": "stage start"}));
        store.ingest("many", (1..=n + 2).map(run).collect(), at()).await.unwrap();
    }
    let read = async |query| {
        let newest = store.runs("many", query).await.unwrap();
        let seqs = |run: &StoredRun| run.reports.iter().map(|r| r.record.seq).collect::<Vec<_>>();
        let runs = newest.runs.iter().map(|run| (run.run.clone(), run.is_brief, seqs(run)));
        (runs.collect::<Vec<_>>(), newest.more)
    };
    let run = |n: u64, is_brief, seqs: &[u64]| (format!("m{n}"), is_brief, seqs.to_vec());
    let m6 = run(6, false, &[1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(read(RunQuery::newest(1)).await, (vec![m6.clone()], true));
    let also = |run: &str| RunQuery { whole: 1, brief: 2, also: Some(run.to_owned()) };
    let (m5, m4) = (run(5, true, &[1, 2, 3, 7]), run(4, true, &[1, 2, 3, 6]));
    let (all, m1) = (vec![m6.clone(), m5.clone(), m4], run(1, false, &[1, 2, 3]));
    assert_eq!(read(also("nothing")).await, (all.clone(), true));
    assert_eq!(read(also("m1")).await, ([all, vec![m1]].concat(), true));
    let m4 = run(4, false, &[1, 2, 3, 4, 5, 6]);
    assert_eq!(read(also("m4")).await, (vec![m6, m5, m4], true));
    let (all, more) = read(RunQuery { whole: 0, brief: 6, also: None }).await;
    assert_eq!((all.len(), more), (6, false));
    assert_eq!(all[5], run(1, true, &[1, 2, 3]));
    // Of a run whose first records were lost, the last one.
    let late = (5..=7).map(|seq| report("many", "m7", seq, json!({"phase": "stage start"})));
    store.ingest("many", late.collect(), at()).await.unwrap();
    let newest = RunQuery { whole: 0, brief: 1, also: None };
    assert_eq!(read(newest).await, (vec![run(7, true, &[7])], true));
    store.remove(vec!["many".into()]).await.unwrap().unwrap();
}

/// How many attempts there are, without why the last one failed.
fn counted(standing: Standing) -> Standing {
    Standing { last_failure: None, ..standing }
}

async fn attempts(store: &dyn Store) {
    let node = "cn007";
    let begin = async |run: &str, service: &str| {
        let start = json!({"phase": "service start", "service": service});
        counted(store.ingest(node, vec![report(node, run, 1, start)], at()).await.unwrap().standing)
    };
    let end = async |run: &str, seq, result: &str| {
        let end = json!({"phase": "service end", "result": result});
        counted(store.ingest(node, vec![report(node, run, seq, end)], at()).await.unwrap().standing)
    };
    let of = async |present| counted(store.standing(node, present).await.unwrap());
    let counts = |attempts| Standing { attempts, ..Standing::default() };

    assert_eq!(of(None).await, counts(0), "a node that nobody knows");
    assert_eq!(begin("1", "kickstart").await, counts(0), "the present run isn't counted");
    // Cut off by a loss of power, and paused for a reboot: the same run again is one attempt.
    assert_eq!(begin("2", "boot").await, counts(1));
    assert_eq!(end("2", 2, "failure").await, counts(1));
    assert_eq!(begin("r", "run").await, counts(2), "a rerun is no attempt");
    assert_eq!(of(Some("2")).await, counts(1));
    assert_eq!(of(Some("3")).await, counts(2), "a run that isn't heard of yet");
    assert_eq!(begin("3", "boot").await, counts(2));
    assert_eq!(begin("4", "boot").await, counts(3));
    assert_eq!(end("3", 2, "success").await, counts(1), "late: the one after it still counts");
    assert_eq!(of(Some("4")).await, counts(0));
    assert_eq!(end("4", 2, "failure").await, counts(0));
    assert_eq!(of(None).await, counts(1));
    let why = store.standing(node, None).await.unwrap().last_failure;
    assert_eq!(why.as_deref(), Some("failed"), "a run that hasn't ended has no failure yet");

    let unknown = store.release(vec![node.into(), "typo".into()], at()).await.unwrap();
    assert_eq!(unknown, Err(vec!["typo".to_owned()]));
    assert_eq!(of(None).await, counts(1), "all or none");
    let released = store.release(vec![node.into()], at()).await.unwrap();
    assert_eq!(released, Ok(vec![Released { node: node.into(), attempts: 1 }]));
    let forgiven = Standing { released: Some(at()), ..Standing::default() };
    assert_eq!(of(None).await, forgiven);
    assert_eq!(begin("5", "boot").await, forgiven);
    assert_eq!(end("5", 2, "success").await, counts(0), "a good end forgets the release, too");
}

async fn boots(store: &dyn Store) {
    let sent = async || store.node("sent1").await.unwrap().unwrap().boot_sent;
    let begins = async |run: &str, service: &str| {
        let start = json!({"phase": "service start", "service": service});
        store.ingest("sent1", vec![report("sent1", run, 1, start)], at()).await.unwrap();
    };
    let note = async |when| {
        let nodes = ["sent1", "typo"].map(str::to_owned).to_vec();
        assert_eq!(store.note_boot_sent(nodes, when).await.unwrap(), ["sent1"]);
    };
    begins("s1", "boot").await;
    assert_eq!(sent().await, None);
    note(Some(at())).await;
    begins("s2", "run").await;
    begins("s1", "boot").await;
    assert_eq!(sent().await, Some(at()), "a rerun, and a record that is known, are no boot");
    begins("s3", "boot").await;
    assert_eq!(sent().await, None);
    note(Some(at())).await;
    note(None).await;
    assert_eq!(sent().await, None);
    store.remove(vec!["sent1".into()]).await.unwrap().unwrap();
}

async fn silence(store: &dyn Store) {
    // What came before this was due as well: give it up first.
    store.lose(Timestamp::MAX, at()).await.unwrap();
    assert_eq!(store.next_due().await.unwrap(), None, "nobody has anything to say");
    let later = |seconds| at() + SignedDuration::from_secs(seconds);
    let stage = |node, run, seq, limit| {
        let start = json!({"phase": "stage start", "stage": "disk", "limitMs": limit});
        vec![report(node, run, seq, start)]
    };
    let due = store.ingest("cn008", stage("cn008", "s", 1, 20_000), at()).await.unwrap().due;
    assert_eq!(due, Some(later(20)));
    store.ingest("cn009", stage("cn009", "s", 1, 10_000), at()).await.unwrap();
    assert_eq!(store.next_due().await.unwrap(), Some(later(10)), "the first of all");

    let mut events = store.events();
    assert_eq!(store.lose(later(9), later(9)).await.unwrap(), []);
    let lost = store.lose(later(10), later(11)).await.unwrap();
    let expected = Lost { node: "cn009".into(), stage: Some("disk".into()), last_seen: Some(at()) };
    assert_eq!(lost, std::slice::from_ref(&expected));
    let is_it = |event: &Event| matches!(event, Event::Lost(lost) if **lost == expected);
    // What was stored before may be told late.
    while !is_it(&next(&mut events).await) {}
    assert_eq!(store.lose(later(10), later(12)).await.unwrap(), [], "once");
    assert_eq!(store.node("cn009").await.unwrap().unwrap().status, Status::Failed);
    assert_eq!(store.next_due().await.unwrap(), Some(later(20)));

    store.restart_deadlines(later(100)).await.unwrap();
    assert_eq!(store.next_due().await.unwrap(), Some(later(120)));
    store.ingest("cn009", stage("cn009", "s", 1, 10_000), later(100)).await.unwrap();
    assert_eq!(store.node("cn009").await.unwrap().unwrap().status, Status::Defined, "it spoke");
    assert_eq!(store.next_due().await.unwrap(), Some(later(110)));

    // It reports again before that, and isn't lost then.
    let report = store.ingest("cn009", stage("cn009", "s", 2, 10_000), later(108)).await.unwrap();
    assert_eq!(report.due, Some(later(118)));
    assert_eq!(store.lose(later(117), later(117)).await.unwrap(), []);
    assert_eq!(store.next_due().await.unwrap(), Some(later(118)));
    assert_eq!(store.lose(later(118), later(118)).await.unwrap()[0].node, "cn009");
    assert_eq!(store.next_due().await.unwrap(), Some(later(120)), "the other one");
}

async fn logs(store: &dyn Store) {
    let log = |name: &str| UploadedLog { run: "a".into(), name: name.into() };
    assert!(store.logs("cn001").await.unwrap().is_empty());
    store.put_log("cn001", log("01-x"), LogKind::Failure, b"old".to_vec()).await.unwrap();
    store.put_log("cn001", log("01-x"), LogKind::Failure, b"\xff\x00".to_vec()).await.unwrap();
    assert_eq!(store.log("cn001", &log("01-x")).await.unwrap().as_deref(), Some(&b"\xff\0"[..]));
    assert_eq!(store.logs("cn001").await.unwrap(), [log("01-x")]);
    assert_eq!(store.log("cn001", &log("02-x")).await.unwrap(), None);
    assert_eq!(store.log("cn002", &log("01-x")).await.unwrap(), None);
    for (kind, text) in [(LogKind::Success, "better"), (LogKind::Failure, "worse")] {
        store.put_log("cn002", log("01-x.log"), kind, text.into()).await.unwrap();
        assert_eq!(store.logs("cn002").await.unwrap(), [log("01-x.log")]);
        let stored = store.log("cn002", &log("01-x.log")).await.unwrap();
        assert_eq!(stored.as_deref(), Some(text.as_bytes()));
    }
    for name in ["../b", "/etc/passwd", "", "..", "x/y"] {
        assert!(
            store
                .put_log("cn001", log(&format!("{name}/z")), LogKind::Failure, vec![])
                .await
                .is_err(),
            "{name}"
        );
        assert!(
            store.put_log(name, log("01-x"), LogKind::Failure, vec![]).await.is_err(),
            "{name}"
        );
    }
}

/// As many nodes are counted for each status as are shown with it.
async fn statuses(store: &dyn Store) {
    let (mut shown, mut names) = (BTreeMap::new(), Vec::new());
    for node in store.nodes().await.unwrap() {
        names.push(node.name);
        *shown.entry(node.status).or_default() += 1;
    }
    assert!(shown.len() > 1, "{shown:?}");
    assert_eq!(store.statuses().await.unwrap(), shown);
    assert_eq!(store.names().await.unwrap(), names);
}

async fn claims(store: &dyn Store) {
    let claim = |content| Claim { node: "old001".into(), by: [10, 0, 0, 1].into(), content };
    let status = |status, message: Option<&str>| {
        claim(ClaimContent::Status { status, message: message.map(str::to_owned) })
    };
    let record = |run: &str, seq, more| report("old001", run, seq, more);
    let node = async || store.node("old001").await.unwrap().unwrap();
    let mut events = store.events();
    assert!(store.claim(status(Status::Netbooting, None), at()).await.unwrap());
    let expected = status(Status::Netbooting, None);
    let is_it = |event: &Event| matches!(event, Event::Claim(told) if **told == expected);
    // What was stored before may be told late.
    while !is_it(&next(&mut events).await) {}
    assert!(store.claim(status(Status::Failed, Some("no room")), at()).await.unwrap());
    let failed = node().await;
    assert_eq!((failed.status, failed.claimed_by), (Status::Failed, Some([10, 0, 0, 1].into())));
    assert_eq!(
        (failed.detail.error_message.as_deref(), failed.since),
        (Some("no room"), Some(at()))
    );
    assert_eq!(store.standing("old001", None).await.unwrap().attempts, 0, "no run is known");

    let program = |name: &str| {
        claim(ClaimContent::Program { program: name.to_owned(), appstatus: "up".to_owned() })
    };
    let mut taken = 0;
    for n in 0..100 {
        taken += u32::from(store.claim(program(&n.to_string()), at()).await.unwrap());
    }
    statuses(store).await;
    assert_eq!((taken, node().await.appstatus.len()), (32, 32), "it doesn't grow for ever");
    assert!(store.claim(program("0"), at()).await.unwrap());

    // What a token proves stands in its place, and nothing else ever does again.
    let start = json!({"phase": "service start"});
    assert!(!store.has_reported("old001").await.unwrap());
    store.ingest("old001", vec![record("c1", 1, start)], at()).await.unwrap();
    assert!(store.has_reported("old001").await.unwrap());
    assert_eq!((node().await.status, node().await.claimed_by), (Status::Netbooting, None));
    let end = json!({"phase": "service end", "result": "failure", "cause": "fetch"});
    store.ingest("old001", vec![record("c1", 2, end)], at()).await.unwrap();
    let has_ended = |event: &Event| match event {
        Event::Records(arrivals) => arrivals.parts[0].services[0].kind == ServiceChangeKind::Failed,
        _ => false,
    };
    while !has_ended(&next(&mut events).await) {}
    let before = node().await;
    assert!(!store.claim(status(Status::Booted, None), at()).await.unwrap());
    assert!(!store.claim(program("0"), at()).await.unwrap());
    assert_eq!(node().await, before);
    let more = json!({"phase": "service start"});
    store.ingest("old001", vec![record("c2", 1, more)], at()).await.unwrap();
    let event = next(&mut events).await;
    assert!(matches!(event, Event::Records(_)), "what doesn't count isn't told: {event:?}");
}

async fn steps(store: &dyn Store) {
    let fetched = |bundle| json!({"phase": "stage end", "stage": "fetch", "result": "success", "bundle": bundle});
    let ended = |ms: u64, result| {
        let end =
            json!({"phase": "stage end", "stage": "mount", "result": result, "durationMs": ms});
        let mut end = end.as_object().unwrap().clone();
        if result == "failure" {
            end.insert("cause".into(), "timeout".into());
        }
        end.into()
    };
    // Of each node its last end counts, however many a batch has.
    for (node, run, bundle, ends) in [
        ("s1", "s1a", 3, vec![ended(50, "success"), ended(20, "failure")]),
        ("s1", "s1b", 4, vec![ended(10, "failure")]),
        ("s2", "s2a", 4, vec![ended(30, "success")]),
        ("s3", "s3a", 4, vec![ended(90, "failure"), ended(40, "success")]),
    ] {
        let records = std::iter::once(fetched(bundle)).chain(ends);
        let batch = (1..).zip(records).map(|(seq, record)| report(node, run, seq, record));
        store.ingest(node, batch.collect(), at()).await.unwrap();
    }
    let skipped = json!({"phase": "stage end", "stage": "skip", "result": "success",
        "skipped": "done already", "durationMs": 0});
    store.ingest("s3", vec![report("s3", "s3a", 9, skipped)], at()).await.unwrap();
    let summary = async || {
        let all = store.scripts().await.unwrap();
        assert!(all.iter().all(|script| script.name != "skip"), "{all:?}");
        let found = all.into_iter().find(|script| script.name == "mount");
        found.map(|script| (script.nodes, script.failed))
    };
    assert_eq!(summary().await, Some((3, 1)));
    let report = store.script("mount").await.unwrap();
    assert_eq!((report.nodes, report.failed, report.failing_since), (3, 1, Some(3)));
    assert_eq!((report.p50, report.p95, report.max), (30, 40, 40));
    let slowest: Vec<&str> = report.slowest.iter().map(|step| step.node.as_str()).collect();
    assert_eq!(slowest, ["s3", "s2", "s1"]);
    let failed = Step { node: "s1".into(), ms: 10, cause: Some(Cause::Timeout), since: 3 };
    assert_eq!(report.failures, [failed]);
    assert_eq!(store.script("none").await.unwrap(), ScriptReport::default());
    let names = ["s1", "s2", "s3"].map(str::to_owned);
    store.remove(names[..1].to_vec()).await.unwrap().unwrap();
    assert_eq!(summary().await, Some((2, 0)));
    store.remove(names[1..].to_vec()).await.unwrap().unwrap();
    assert_eq!(summary().await, None);
}

/// A run goes on after a reboot with another bundle: each step fails since the bundle that it failed with.
async fn steps_over_a_reboot(store: &dyn Store) {
    let fetched = |bundle| json!({"phase": "stage end", "stage": "fetch", "result": "success", "bundle": bundle});
    let failed = |stage| json!({"phase": "stage end", "stage": stage, "result": "failure", "cause": "exit", "durationMs": 1});
    let began = |stage| json!({"phase": "stage start", "stage": stage});
    let start = || json!({"phase": "service start"});
    for (node, cut) in [("r1", 11), ("r2", 6), ("r3", 1)] {
        let records = [
            start(),
            began("fetch"),
            fetched(5),
            began("a"),
            failed("a"),
            start(),
            began("fetch"),
            fetched(6),
            began("b"),
            failed("b"),
            json!({"phase": "service end", "result": "failure"}),
        ];
        let run = format!("{node}-run");
        let batch = (1..).zip(records).map(|(seq, record)| report(node, &run, seq, record));
        for part in batch.collect::<Vec<_>>().chunks(cut) {
            store.ingest(node, part.to_vec(), at()).await.unwrap();
        }
    }
    let since = async |script| {
        let failures = store.script(script).await.unwrap().failures;
        failures.into_iter().map(|step| (step.node, step.since)).collect::<Vec<_>>()
    };
    let all = |bundle| ["r1", "r2", "r3"].map(|node| (node.to_owned(), bundle));
    assert_eq!((since("a").await, since("b").await), (all(5).to_vec(), all(6).to_vec()));
    store.remove(["r1", "r2", "r3"].map(str::to_owned).to_vec()).await.unwrap().unwrap();
}

async fn removal(store: &dyn Store) {
    let log = || UploadedLog { run: "g".into(), name: "01-x".into() };
    let token = Token { node: "gone".into(), sha256: [9; 32] };
    store.set_tokens(vec![token], at()).await.unwrap();
    let start = |seq| vec![report("gone", "g", seq, json!({"phase": "service start"}))];
    store.ingest("gone", start(1), at()).await.unwrap();
    store.put_log("gone", log(), LogKind::Failure, b"text".to_vec()).await.unwrap();
    let others = store.nodes().await.unwrap().len() - 1;

    let unknown = store.remove(vec!["gone".into(), "typo".into()]).await.unwrap();
    assert_eq!(unknown, Err(vec!["typo".to_owned()]));
    assert!(store.node("gone").await.unwrap().is_some(), "all or none");
    assert_eq!(store.remove(vec!["gone".into()]).await.unwrap(), Ok(()));

    assert_eq!(store.node("gone").await.unwrap(), None);
    assert_eq!(store.nodes().await.unwrap().len(), others);
    assert_eq!(store.token_owner([9; 32], at()).await.unwrap(), None);
    assert_eq!(store.node_of_run("g").await.unwrap(), None);
    assert!(all_runs(store, "gone").await.is_empty());
    assert!(store.logs("gone").await.unwrap().is_empty());
    assert_eq!(store.log("gone", &log()).await.unwrap(), None);
    let seen = store.seen().await.unwrap();
    assert!(seen.iter().all(|(node, _)| node != "gone"));
    // It can come back, and then begins anew.
    assert_eq!(store.ingest("gone", start(1), at()).await.unwrap().fresh, 1);
    assert_eq!(all_runs(store, "gone").await.len(), 1);
}

/// Two hundred nodes report at once, each by two requests with the same record.
pub(crate) async fn many_writers(store: Arc<dyn Store>) {
    let mut writers = tokio::task::JoinSet::new();
    for n in 0..200 {
        let store = Arc::clone(&store);
        writers.spawn(async move {
            let node = format!("cn{n:03}");
            let start = json!({"phase": "service start"});
            let batch = vec![report(&node, "a", 1, start)];
            let (one, two) = tokio::join!(
                store.ingest(&node, batch.clone(), at()),
                store.ingest(&node, batch, at()),
            );
            assert_eq!((one.unwrap().fresh + two.unwrap().fresh), 1);
        });
    }
    while let Some(done) = writers.join_next().await {
        done.unwrap();
    }
    let names: BTreeSet<_> = store.nodes().await.unwrap().into_iter().map(|n| n.name).collect();
    assert_eq!(names.len(), 200);
}

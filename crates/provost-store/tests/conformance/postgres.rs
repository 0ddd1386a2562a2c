use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use provost_steplog::wording::error_chain;
use provost_store::{
    Event, LogKind, NodeStates, Notices, Postgres, PostgresFiles, Quota, Quotas, RecordQuota,
    Status, Store, StoreError, Token, Tokens, UploadedLog, Watch,
};
use provost_tests::Postgres as Server;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::json;

use crate::enrolment::{enrols, many_at_once};
use crate::history::{keeps_history, many_daemons};
use crate::jobs::keeps_jobs;
use crate::notices::queues;
use crate::pruning::{ROOM, prunes};
use crate::suite::{conforms, many_writers};
use crate::{SOON, all_runs, at, next, report};

pub(crate) async fn open(url: &str) -> Postgres {
    open_with(url, PostgresFiles::default(), Quotas::default()).await.unwrap()
}

async fn open_with(
    url: &str,
    files: PostgresFiles,
    quotas: Quotas,
) -> Result<Postgres, StoreError> {
    Postgres::open(&url.parse().unwrap(), &files, quotas).await
}

#[tokio::test]
async fn postgres_conforms_and_keeps_all_over_a_restart() {
    let server = Server::start();
    let url = server.database("conforms");
    let store = open(&url).await;
    conforms(&store).await;
    let (nodes, runs) = (store.nodes().await.unwrap(), all_runs(&store, "cn001").await);
    drop(store);
    let store = open(&url).await;
    assert_eq!(store.nodes().await.unwrap(), nodes);
    assert_eq!(all_runs(&store, "cn001").await.len(), runs.len());
    assert_eq!(store.token_owner([3; 32], at()).await.unwrap().as_deref(), Some("cn001"));
}

#[tokio::test]
async fn old_history_is_removed() {
    let server = Server::start();
    let url = server.database("old");
    prunes(&open_with(&url, PostgresFiles::default(), ROOM).await.unwrap()).await;
}

#[tokio::test]
async fn jobs_are_kept_for_all_to_see() {
    let server = Server::start();
    let url = server.database("jobs");
    keeps_jobs(&open(&url).await, &open(&url).await).await;
}

#[tokio::test]
async fn nodes_get_identities() {
    let server = Server::start();
    let url = server.database("enrols");
    enrols(&open(&url).await).await;
}

#[tokio::test]
async fn what_happens_is_queued_for_receivers_and_one_daemon_delivers() {
    let server = Server::start();
    let url = server.database("queues");
    let store = open(&url).await;
    queues(&store).await;
    let another = open(&url).await;
    assert!(!another.delivers().await.unwrap());
    assert_eq!(another.queued("failures", 9).await.unwrap().len(), 1);
    // It waits by one connection, however often it is asked.
    let waits = "SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_advisory_lock($1)'
         AND wait_event = 'advisory'";
    let waiting = || server.sql("queues", waits);
    let until = async |waits: bool| {
        let changes = async {
            while waiting().is_empty() == waits {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(SOON, changes).await.unwrap();
    };
    until(true).await;
    let first = waiting();
    for _ in 0..20 {
        assert!(!another.delivers().await.unwrap());
    }
    let is_early = tokio::time::timeout(Duration::from_millis(50), another.wait_to_deliver()).await;
    assert!(is_early.is_err());
    assert_eq!(waiting(), first);
    drop(store);
    // The server hears of the connection's end at some time.
    tokio::time::timeout(SOON, another.wait_to_deliver()).await.unwrap().unwrap();
    assert!(another.delivers().await.unwrap());
    assert_eq!(waiting(), "");
    // One that waited and is gone leaves no connection.
    let third = open(&url).await;
    assert!(!third.delivers().await.unwrap());
    until(true).await;
    drop(third);
    until(false).await;
}

#[tokio::test]
async fn what_runs_did_is_kept_by_minute_and_hour() {
    let server = Server::start();
    let url = server.database("history");
    let (store, another) = (Arc::new(open(&url).await), Arc::new(open(&url).await));
    keeps_history(&*store).await;
    many_daemons([store, another]).await;
}

#[tokio::test]
async fn many_nodes_enrol_at_once() {
    let server = Server::start();
    let url = server.database("enrols_many");
    many_at_once(Arc::new(open(&url).await)).await;
}

#[tokio::test]
async fn many_writers_at_once_lose_nothing() {
    let server = Server::start();
    let url = server.database("many");
    many_writers(Arc::new(open(&url).await)).await;
}

#[tokio::test]
async fn daemons_that_start_at_once_make_the_tables_once_and_share_all() {
    let server = Server::start();
    let url = server.database("shared");
    let (one, two) = tokio::join!(open(&url), open(&url));
    let token = |byte| vec![Token { node: "cn001".into(), sha256: [byte; 32] }];
    one.set_tokens(token(1), at()).await.unwrap();
    assert_eq!(two.token_owner([1; 32], at()).await.unwrap().as_deref(), Some("cn001"));
    two.set_tokens(token(2), at()).await.unwrap();
    assert_eq!(one.token_owner([1; 32], at()).await.unwrap(), None, "at once");

    let mut heard = (one.events(), two.events());
    let start = || vec![report("cn001", "a", 1, json!({"phase": "service start"}))];
    let both = tokio::join!(one.ingest("cn001", start(), at()), two.ingest("cn001", start(), at()));
    assert_eq!(both.0.unwrap().fresh + both.1.unwrap().fresh, 1);
    let end = json!({"phase": "service end", "result": "success"});
    two.ingest("cn001", vec![report("cn001", "a", 2, end)], at()).await.unwrap();
    for seq in 1..=2 {
        let events = [next(&mut heard.0).await, next(&mut heard.1).await];
        for event in events {
            let Event::Records(arrivals) = event else { panic!("{event:?}") };
            let [json] = arrivals.texts().await.unwrap() else { panic!("{arrivals:?}") };
            assert!(json.get().contains(&format!("\"seq\":{seq}")), "{json}");
        }
    }
    assert_eq!(one.node("cn001").await.unwrap().unwrap().status, Status::Booted);
    let log = UploadedLog { run: "a".into(), name: "01-x".into() };
    one.put_log("cn001", log.clone(), LogKind::Failure, b"text".to_vec()).await.unwrap();
    assert_eq!(two.log("cn001", &log).await.unwrap().as_deref(), Some(&b"text"[..]));

    assert!(matches!(one.watch().await.unwrap(), Watch::Here { was_unwatched: true, .. }));
    assert!(matches!(one.watch().await.unwrap(), Watch::Here { was_unwatched: false, .. }));
    assert!(matches!(two.watch().await.unwrap(), Watch::Elsewhere { .. }));
    assert_eq!((one.daemons(), two.daemons()), (1, 2), "when each last looked");
    drop(one);
    let taken_over = async {
        while matches!(two.watch().await.unwrap(), Watch::Elsewhere { .. }) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, taken_over).await.unwrap();
    assert!(matches!(two.watch().await.unwrap(), Watch::Here { was_unwatched: false, .. }));
    let counted = async {
        while two.daemons() > 1 {
            two.watch().await.unwrap();
        }
    };
    tokio::time::timeout(SOON, counted).await.unwrap();
}

#[tokio::test]
async fn a_node_over_its_quota_keeps_no_other_from_being_stored() {
    let server = Server::start();
    let small = Quota { per_hour: 1000, all: 10_000 };
    let records = RecordQuota { bytes: small, ..RecordQuota::default() };
    let quotas = Quotas { records, logs: small, reserve: 0 };
    let url = server.database("quota");
    let store = open_with(&url, PostgresFiles::default(), quotas).await.unwrap();
    let batch = |node, records| {
        let start = |seq| report(node, "a", seq, json!({"phase": "service start"}));
        (1..=records).map(start).collect::<Vec<_>>()
    };
    // All of them at once, so that they share a transaction.
    let (one, much, two) = tokio::join!(
        store.ingest("cn001", batch("cn001", 2), at()),
        store.ingest("cn002", batch("cn002", 100), at()),
        store.ingest("cn003", batch("cn003", 2), at()),
    );
    assert_eq!((one.unwrap().fresh, two.unwrap().fresh), (2, 2));
    assert!(much.unwrap_err().retry_after().is_some());
    assert!(store.records("a", 0).await.unwrap().len() == 2);
    assert!(all_runs(&store, "cn002").await.is_empty(), "nothing of it was kept");
    assert_eq!(store.ingest("cn002", batch("cn002", 2), at()).await.unwrap().fresh, 2);
    let log = UploadedLog { run: "a".into(), name: "01-x".into() };
    let error = store.put_log("cn001", log, LogKind::Failure, b"text".to_vec()).await.unwrap_err();
    assert!(error.retry_after().is_some(), "a small log counts as 64 KiB");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_one_transaction_waits_many_nodes_are_stored_by_another() {
    let server = Server::start();
    let store = Arc::new(open(&server.database("waits")).await);
    let ingest = |node: String| {
        let store = Arc::clone(&store);
        let start = vec![report(&node, "a", 1, json!({"phase": "service start"}))];
        tokio::spawn(async move { store.ingest(&node, start, at()).await.unwrap().fresh })
    };
    assert_eq!(ingest("cn000".to_owned()).await.unwrap(), 1);
    let lock = "BEGIN; SELECT FROM provost.node FOR UPDATE; SELECT pg_sleep(3600)";
    let mut lock = server.client("waits", lock).stderr(Stdio::null()).spawn().unwrap();
    let until = async |condition: &str| {
        let waits = format!("SELECT count(*) FROM pg_stat_activity WHERE {condition}");
        while server.sql("waits", &waits) == "0" {
            tokio::task::yield_now().await;
        }
    };
    until("wait_event = 'PgSleep'").await;
    let waiting = tokio::spawn({
        let (store, end) =
            (Arc::clone(&store), json!({"phase": "service end", "result": "success"}));
        async move { store.ingest("cn000", vec![report("cn000", "a", 2, end)], at()).await }
    });
    until("wait_event_type = 'Lock'").await;
    // As many as a transaction of their own begins for.
    let others: Vec<_> = (1..=32).map(|n| ingest(format!("cn{n:03}"))).collect();
    for other in others {
        assert_eq!(other.await.unwrap(), 1);
    }
    assert!(!waiting.is_finished());
    server.sql(
        "waits",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'",
    );
    assert!(!lock.wait().unwrap().success());
    assert_eq!(waiting.await.unwrap().unwrap().fresh, 1);
}

#[tokio::test]
async fn a_server_that_is_killed_loses_nothing_and_is_found_again() {
    let mut server = Server::start();
    let url = server.database("killed");
    let store = open(&url).await;
    let start = || vec![report("cn001", "a", 1, json!({"phase": "service start"}))];
    store.ingest("cn001", start(), at()).await.unwrap();
    let mut events = store.events();
    server.kill();
    let error = store.ingest("cn001", start(), at()).await.unwrap_err();
    assert!(error.hint().contains("systemctl status postgresql"), "{error}: {}", error.hint());
    assert!(store.check().await.is_err());
    // A daemon that starts now does so, and works when the database is there.
    let late = open(&url).await;
    server.start_again();
    assert_eq!(store.ingest("cn001", start(), at()).await.unwrap().repeats, 1);
    assert_eq!(late.node("cn001").await.unwrap().unwrap().status, Status::Netbooting);
    store.check().await.unwrap();
    while !matches!(next(&mut events).await, Event::Missed) {}
}

#[tokio::test]
async fn a_connection_over_tcp_has_tls_and_a_password() {
    let server = Server::start();
    server.database("tls");
    let folder = tempfile::tempdir().unwrap();
    let password = |text: &str| {
        let path = folder.path().join(text.len().to_string());
        std::fs::write(&path, text).unwrap();
        Some(path)
    };
    let right = password(&format!("{}\n", Server::PASSWORD));
    let files = |password: &Option<PathBuf>, ca| PostgresFiles { password: password.clone(), ca };
    let url = server.over_tcp("tls", "localhost");
    let ca = Some(server.certificate());
    let store = open_with(&url, files(&right, ca.clone()), Quotas::default()).await.unwrap();
    assert!(store.nodes().await.unwrap().is_empty());
    let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
         WHERE application_name = 'provostd'";
    assert_eq!(server.sql("tls", encrypted), "t");
    let pem = std::fs::read(server.certificate()).unwrap();
    let der = CertificateDer::from_pem_slice(&pem).unwrap();
    assert_eq!(store.server_certificate().as_deref(), Some(&*der));

    let refused = async |url: &str, files: PostgresFiles| {
        match open_with(url, files, Quotas::default()).await {
            // Some failures may pass: then what needs the database fails.
            Ok(store) => store.check().await.unwrap_err(),
            Err(error) => error,
        }
    };
    let wrong = refused(&url, files(&password("wrong"), ca.clone())).await;
    assert!(wrong.hint().contains("password_file"), "{}", wrong.hint());
    // The certificate is another name's.
    refused(&server.over_tcp("tls", "127.0.0.1"), files(&right, ca)).await;
    // Without TLS the server takes none.
    refused(&url, files(&right, None)).await;
    let unchecked = refused(&format!("{url}?sslmode=require"), files(&right, None)).await;
    assert!(unchecked.hint().contains("`ca`"), "{}", unchecked.hint());
}

#[tokio::test]
async fn a_database_of_before_the_first_release_is_left_alone() {
    let server = Server::start();
    let url = server.database("old");
    drop(open(&url).await);
    server.sql("old", "UPDATE provost.version SET number = 9");
    let error = open_with(&url, PostgresFiles::default(), Quotas::default()).await.err().unwrap();
    let chain = error_chain(&error);
    assert!(
        chain.contains("the database in ") && chain.contains("of an unreleased Provost"),
        "{chain}"
    );
    assert!(
        error.is_of_other_version() && error.hint().contains("use a new one"),
        "{}",
        error.hint()
    );
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_left_alone() {
    let server = Server::start();
    let url = server.database("newer");
    drop(open(&url).await);
    server.sql("newer", "INSERT INTO provost.version VALUES (99)");
    let error = open_with(&url, PostgresFiles::default(), Quotas::default()).await.err().unwrap();
    assert!(error.is_of_other_version() && error.hint().contains("newer"), "{}", error.hint());
    let absent = url.replace("newer", "none");
    let error =
        open_with(&absent, PostgresFiles::default(), Quotas::default()).await.err().unwrap();
    assert!(error.hint().contains("createdb"), "{}", error.hint());
}

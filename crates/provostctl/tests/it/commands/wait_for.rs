//! `provostctl wait-for`.

use provost_store::NodeStates;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn wait_for_ends_as_soon_as_it_is_known_how() {
    let folder = tempfile::tempdir().unwrap();
    let started = json!([record("boot", RUN, 1, json!({"phase": "service start"}))]);
    with_nodes(
        &folder,
        &[("cn001", failed_boot()), ("cn002", good("boot", RUN)), ("cn003", started)],
    )
    .await;
    let daemon = serve(&folder).await;
    let wait = |nodes, more: &[&str]| {
        run(&folder, &[&["wait-for", nodes, "--status", "booted"], more].concat())
    };
    let (code, out, err) = wait("cn002", &["--any"]);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    assert!(err.contains("for at most 20m, until 20"), "{err}");

    // The records are of 2026-11-20.
    let (code, _, err) = wait("cn[001-003]", &["--since", "8760h"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("cn001 failed: disk: exit status 7: 12 main disk\n"), "{err}");
    assert!(err.contains("hint: buy a disk"), "{err}");
    assert_eq!(run(&folder, &["wait-for", "cn001", "--status", "failed"]).0, Some(0));
    // The nodes that have arrived or failed are listed when there are no others.
    let (code, out, err) = wait("cn[001-002]", &["--since", "8760h", "--settle"]);
    assert_eq!((code, out.as_str()), (Some(1), "1 booted: cn002\n"), "{err}");
    assert!(err.contains("cn001 failed: disk"), "{err}");
    assert_eq!(wait("cn[001-003]", &["--settle", "--timeout", "1s"]).0, Some(124));

    let (code, _, err) = wait("cn[002-003]", &["--timeout", "1ms"]);
    assert_eq!(code, Some(124), "{err}");
    let (code, _, err) = wait("cn[002-003]", &["--timeout", "1s"]);
    assert_eq!(code, Some(124), "{err}");
    assert!(err.contains("\n1 of 2 booted; 1 netbooting\n"), "{err}");
    assert!(err.contains(" not all are booted:\ncn003 netbooting\n"), "{err}");
    let (code, _, err) = wait("cn[002-005]", &[]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.starts_with("provostctl: unknown to provostd: cn[004-005]\n"), "{err}");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_may_be_old_and_a_failure_is_new() {
    let folder = tempfile::tempdir().unwrap();
    with_nodes(&folder, &[("cn001", failed_boot()), ("cn002", good("boot", RUN))]).await;
    let daemon = serve(&folder).await;
    let wait = |nodes: &str, more: &[&str]| {
        let wait = ["wait-for", nodes, "--status", "booted", "--timeout", "1s"];
        run(&folder, &[&wait[..], more].concat())
    };
    // The records are of 2026-11-20.
    assert_eq!(wait("cn002", &[]).0, Some(0));
    let (code, _, err) = wait("cn[001-002]", &[]);
    assert_eq!(code, Some(124), "{err}");
    assert!(err.contains("\n1 of 2 booted; 1 failed before\n"), "{err}");
    assert!(err.contains("hint: see why a node failed: provostctl show NODE; or end"), "{err}");
    for since in ["now", "10m"] {
        let (code, _, err) = wait("cn[001-002]", &["--since", since]);
        assert_eq!(code, Some(124), "{err}");
        assert!(err.contains("\n0 of 2 booted; 1 booted before; 1 failed before\n"), "{err}");
        assert!(err.contains("hint: accept a status that is older: leave --since out"), "{err}");
    }
    assert_eq!(wait("cn002", &["--since", "87600h"]).0, Some(2), "a year is the longest");
    assert_eq!(wait("cn002", &["--since", "8760h"]).0, Some(0));
    assert_eq!(wait("cn[001-002]", &["--since", "8760h"]).0, Some(1));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_is_not_that_of_a_node_that_runs_or_was_sent_a_boot() {
    let folder = tempfile::tempdir().unwrap();
    let begun = record("run", RERUN, 1, json!({"phase": "service start"}));
    let mut reruns = good("boot", RUN);
    reruns.as_array_mut().unwrap().push(begun);
    let nodes = [("cn001", good("boot", RUN)), ("cn002", reruns), ("cn003", good("boot", RUN))];
    with_nodes(&folder, &nodes).await;
    let store = Sqlite::open(&folder.path().join("data")).unwrap();
    let names = ["cn001", "cn009"].map(str::to_owned).to_vec();
    let known = store.note_boot_sent(names.clone(), Some(provost_record::now())).await.unwrap();
    assert_eq!(known, ["cn001"]);
    drop(store);
    let daemon = serve(&folder).await;
    let wait =
        |nodes: &str| run(&folder, &["wait-for", nodes, "--status", "booted", "--timeout", "1s"]);
    let (code, _, err) = wait("cn[001-003]");
    assert_eq!(code, Some(124), "{err}");
    assert!(err.contains("\n1 of 3 booted; 2 booted before\n"), "{err}");
    assert!(err.contains("\ncn[001-002] booted before\n"), "{err}");
    report_good(&daemon, &folder, "cn001").await;
    assert_eq!(wait("cn001").0, Some(124), "that run was known before");
    report_run(&daemon, &folder, "cn001", RERUN).await;
    assert_eq!(wait("cn001").0, Some(0));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_for_hears_of_a_boot_by_its_event() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = serve(&folder).await;
    run(&folder, &["token", "cn001"]);
    let mut child =
        provostctl(folder.path(), &["wait-for", "cn001", "--status", "booted", "--timeout", "60s"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let waits = lines.by_ref().map(Result::unwrap).find(|line| line.contains("1 defined"));
    assert!(waits.is_some());

    report_good(&daemon, &folder, "cn001").await;
    let rest = thread::spawn(move || lines.map(Result::unwrap).collect::<Vec<_>>());
    assert!(child.wait().unwrap().success());
    assert_eq!(rest.join().unwrap(), ["1 of 1 booted"]);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_for_hears_of_a_node_that_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let silent = json!([
        record("boot", RUN, 1, json!({"phase": "service start"})),
        record("boot", RUN, 2, json!({"phase": "stage start", "stage": "disk", "limitMs": 2000})),
    ]);
    with_nodes(&folder, &[("cn001", silent)]).await;
    let daemon = serve_with(&folder, "1s").await;
    let wait = &["wait-for", "cn001", "--status", "booted", "--timeout", "60s"];
    let (code, _, err) = run(&folder, wait);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("\n0 of 1 booted; 1 netbooting\n"), "{err}");
    assert!(err.contains("cn001 failed: disk: lost\n  hint: check its console"), "{err}");
    let (_, out, _) = run(&folder, &["show", "cn001"]);
    assert!(out.contains("  running  disk\n           outcome   lost\n"), "{out}");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_for_waits_for_the_daemon_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let wait = |timeout| ["wait-for", "cn001", "--status", "booted", "--any", "--timeout", timeout];
    let (code, _, err) = run(&folder, &wait("1s"));
    assert_eq!(code, Some(124), "nobody has failed: {err}");
    assert!(err.contains("waiting for 1s: asking provostd at unix:"), "{err}");
    assert!(err.contains("hint: check that provostd runs"), "{err}");

    let mut child = provostctl(folder.path(), &wait("60s")).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let waits = lines.by_ref().map(Result::unwrap).find(|line| line.contains("retrying every 1 s"));
    assert!(waits.is_some());
    with_nodes(&folder, &[("cn001", good("boot", RUN))]).await;
    let daemon = serve(&folder).await;
    let rest = thread::spawn(move || lines.map(Result::unwrap).collect::<Vec<_>>());
    assert!(child.wait().unwrap().success());
    let rest = rest.join().unwrap();
    assert!(rest[0].starts_with("  hint: check that provostd runs"), "{rest:?}");
    assert_eq!(rest[1..], ["1 of 1 booted"]);

    // Another listener answers: a retry doesn't help.
    let nodes = format!("http://{}", daemon.addresses().nodes);
    let (code, _, err) = run(&folder, &[&["--admin", &nodes], &wait("60s")[..]].concat());
    assert_eq!(code, Some(2), "{err}");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_for_lives_through_a_restart_of_the_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let booting = json!([record("boot", RUN, 1, json!({"phase": "service start"}))]);
    with_nodes(&folder, &[("cn001", booting)]).await;
    let daemon = serve(&folder).await;
    let mut child =
        provostctl(folder.path(), &["wait-for", "cn001", "--status", "booted", "--timeout", "60s"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let waits = lines
        .by_ref()
        .map(Result::unwrap)
        .find(|line| line.contains("0 of 1 booted; 1 netbooting"));
    assert!(waits.is_some());
    daemon.stop().await;
    let lost = lines.by_ref().map(Result::unwrap).find(|line| line.contains("retrying every 1 s"));
    assert!(lost.is_some());
    with_nodes(&folder, &[("cn001", good("boot", RUN))]).await;
    let daemon = serve(&folder).await;
    let rest = thread::spawn(move || lines.map(Result::unwrap).collect::<Vec<_>>());
    assert!(child.wait().unwrap().success());
    let rest = rest.join().unwrap();
    assert!(rest[0].starts_with("  hint: check that provostd runs"), "{rest:?}");
    assert_eq!(rest[1..], ["1 of 1 booted"]);
    daemon.stop().await;
}

//! `provostctl wait-for`.

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
    let (code, out, err) = run(&folder, &["wait-for", "cn002", "--status", "booted"]);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    assert!(err.contains("for at most 20m, until 20"), "{err}");

    let (code, _, err) = run(&folder, &["wait-for", "cn[001-003]", "--status", "booted"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("cn001 failed: disk: exit status 7: 12 main disk\n"), "{err}");
    assert!(err.contains("hint: buy a disk"), "{err}");
    assert_eq!(run(&folder, &["wait-for", "cn001", "--status", "failed"]).0, Some(0));

    let late = &["wait-for", "cn[002-004]", "--status", "booted", "--timeout", "1ms"];
    let (code, _, err) = run(&folder, late);
    assert_eq!(code, Some(124), "{err}");
    let late = &["wait-for", "cn[002-004]", "--status", "booted", "--timeout", "1s"];
    let (code, _, err) = run(&folder, late);
    assert_eq!(code, Some(124), "{err}");
    assert!(err.contains("\n1 of 3 booted; 1 netbooting; 1 unknown to provostd\n"), "{err}");
    assert!(err.contains(" not all are booted:\ncn003 netbooting\ncn004 unknown to provostd\n"));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_for_hears_of_a_boot_by_its_event() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = serve(&folder).await;
    let token = run(&folder, &["token", "cn001"]).1;
    let token = token.trim().strip_prefix("cn001 ").unwrap();
    let mut child =
        provostctl(folder.path(), &["wait-for", "cn001", "--status", "booted", "--timeout", "60s"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let waits = lines.by_ref().map(Result::unwrap).find(|line| line.contains("1 defined"));
    assert!(waits.is_some());

    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let mut records = good("boot", RUN);
    for record in records.as_array_mut().unwrap() {
        record["node"] = json!("cn001");
    }
    let url = format!("http://{}/v1/nodes/cn001/records", daemon.addresses().nodes);
    let report = http.post(url).bearer_auth(token).json(&records).send().await.unwrap();
    assert_eq!(report.status(), 200);
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
    let wait = |timeout| ["wait-for", "cn001", "--status", "booted", "--timeout", timeout];
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
    assert_eq!(rest.join().unwrap(), ["1 of 1 booted"]);

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
    assert_eq!(rest.join().unwrap(), ["1 of 1 booted"]);
    daemon.stop().await;
}

//! The command against a real daemon.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::{fs, thread};

use provost_record::Record;
use provost_store::{Report, Sqlite, Store, Token, UploadedLog};
use provostd::{Config, Daemon};
use serde_json::{Value, json};
use tempfile::TempDir;

const RUN: &str = "01980000-0000-7000-8000-000000000001";
const RERUN: &str = "01980000-0000-7000-8000-000000000002";

/// What a daemon finds in its folder.
async fn with_nodes(folder: &TempDir, batches: &[(&str, Value)]) {
    let data = folder.path().join("data");
    fs::create_dir_all(&data).unwrap();
    let store = Sqlite::open(&data).unwrap();
    for (number, (node, records)) in batches.iter().enumerate() {
        let token = Token { node: (*node).into(), sha256: [number as u8; 32] };
        store.set_tokens(vec![token], provost_record::now()).await.unwrap();
        let reports = records.as_array().unwrap().iter().map(|record| {
            let mut record = record.clone();
            record["node"] = json!(node);
            Report::parse(&serde_json::value::to_raw_value(&record).unwrap()).unwrap()
        });
        store.ingest(node, reports.collect(), provost_record::now()).await.unwrap();
    }
}

async fn serve(folder: &TempDir) -> Daemon {
    serve_with(folder, "60s").await
}

async fn serve_with(folder: &TempDir, lost_after: &str) -> Daemon {
    let config = Config {
        data: folder.path().join("data"),
        www: folder.path().join("www"),
        store: Default::default(),
        listen: ([127, 0, 0, 1], 0).into(),
        admin: ([127, 0, 0, 1], 0).into(),
        guard: Default::default(),
        node: Default::default(),
        lost_after: lost_after.parse().unwrap(),
        xcat: Default::default(),
    };
    Daemon::start(&config).await.unwrap()
}

fn provostctl(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_provostctl"));
    let socket = folder.join("data/admin.sock");
    command.env("PROVOSTCTL_ADMIN", format!("unix:{}", socket.display())).args(args);
    command
}

fn run(folder: &TempDir, args: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = provostctl(folder.path(), args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

fn record(service: &str, run: &str, seq: u64, more: Value) -> Value {
    let mut record = json!({
        "timestamp": "2026-11-20T17:00:00Z", "service": service, "run": run, "seq": seq,
    });
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

fn failed_boot() -> Value {
    let boot = |seq, more| record("boot", RUN, seq, more);
    json!([
        boot(1, json!({"phase": "service start", "attempt": 1})),
        boot(2, json!({"phase": "stage start", "stage": "fetch"})),
        boot(
            3,
            json!({"phase": "stage end", "stage": "fetch", "result": "success",
            "bundle": 42, "plan": 7, "stages": ["disk", "slurm"], "durationMs": 38})
        ),
        boot(4, json!({"phase": "stage start", "stage": "disk", "args": ["/scratch"]})),
        boot(
            5,
            json!({"phase": "stage end", "stage": "disk", "result": "failure",
            "errorLine": "12 main disk", "errorMessage": "mkfs\n\u{1b}[2Jno\u{202e} space\u{9b}1m",
            "exitCode": 7, "cause": "exit", "command": "mkfs /dev/sda", "hint": "buy a disk",
            "durationMs": 7130})
        ),
        boot(
            6,
            json!({"phase": "service end", "result": "failure", "notRun": ["slurm"],
            "durationMs": 8203})
        ),
    ])
}

fn good(service: &str, run: &str) -> Value {
    json!([
        record(service, run, 1, json!({"phase": "service start"})),
        record(service, run, 2, json!({"phase": "service end", "result": "success"})),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_sees_why_a_node_failed() {
    let folder = tempfile::tempdir().unwrap();
    with_nodes(
        &folder,
        &[("cn001", failed_boot()), ("cn001", good("run", RERUN)), ("cn002", good("boot", RUN))],
    )
    .await;
    let daemon = serve(&folder).await;

    let (code, out, err) = run(&folder, &["nodes"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["NODE", "STATUS", "SINCE", "RERUN", "STAGE", "CAUSE", "WHAT"]);
    assert_eq!(rows[1][..2], ["cn001", "failed"]);
    assert!(
        out.contains("synced  disk   exit code 7  line 12: \\u{1b}[2Jno\\u{202e} space\\u{9b}1m\n")
    );
    assert_eq!(rows[2][..2], ["cn002", "booted"]);
    assert!(out.ends_with("2 nodes: 1 booted, 1 failed\nwhy: provostctl show cn001\n"), "{out}");

    let (code, out, _) = run(&folder, &["show", "cn001"]);
    assert_eq!(code, Some(0));
    let failure = "  \
  ok       fetch  38ms
  FAILED   disk /scratch  7.1s
           ended by  exit code 7
           line      12 main disk
           command   mkfs /dev/sda
           output    mkfs
                     \\u{1b}[2Jno\\u{202e} space\\u{9b}1m
           hint      buy a disk
           log       ssh cn001 provost log disk
  not run  slurm
";
    assert!(out.contains(failure), "{out}");
    assert!(
        out.contains(&format!("boot {RUN} of 2026-11-20T17:00:00Z: failed after 8.2s")),
        "{out}"
    );
    assert!(out.contains("(attempt 1, bundle 42, plan 7)"), "{out}");
    assert!(out.find(RERUN).unwrap() < out.find(RUN).unwrap(), "the newest first");

    for args in [&["nodes", "--format", "json"][..], &["show", "cn001", "--format", "json"]] {
        let (code, out, err) = run(&folder, args);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        assert!(!out.contains(['\u{1b}', '\u{9b}']));
        let json: Value = serde_json::from_str(&out).unwrap();
        let node = json.get(0).unwrap_or(&json["node"]);
        assert_eq!((&node["name"], &node["exitCode"]), (&json!("cn001"), &json!(7)));
    }
    let (_, out, _) = run(&folder, &["nodes", "cn[002-009]", "--format", "json"]);
    let one: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(one.as_array().unwrap().len(), 1);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_skipped_tried_again_or_rebooted_shows() {
    let folder = tempfile::tempdir().unwrap();
    let start = |seq, stage, more: Value| {
        let mut start = record("boot", RUN, seq, json!({"phase": "stage start", "stage": stage}));
        start.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        start
    };
    let end = |seq, stage, result, more: Value| {
        let end = json!({"phase": "stage end", "stage": stage, "result": result});
        let mut end = record("boot", RUN, seq, end);
        end.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        end
    };
    let run_of_all = json!([
        record("boot", RUN, 1, json!({"phase": "service start"})),
        start(2, "fetch", json!({})),
        end(3, "fetch", "failure", json!({"cause": "verify", "errorMessage": "bad signature"})),
        start(4, "fetch", json!({})),
        end(5, "fetch", "success", json!({})),
        start(6, "syslog", json!({})),
        end(7, "syslog", "success", json!({"skipped": "done on 2026-11-19"})),
        start(8, "firmware", json!({})),
        end(9, "firmware", "success", json!({"cause": "reboot"})),
        record("boot", RUN, 10, json!({"phase": "service start"})),
        start(11, "disk", json!({})),
        end(12, "disk", "failure", json!({"cause": "exit", "exitCode": 1})),
        start(13, "disk", json!({"attempt": 2})),
        end(14, "disk", "success", json!({})),
    ]);
    with_nodes(&folder, &[("cn001", run_of_all)]).await;
    let daemon = serve(&folder).await;
    let (_, out, _) = run(&folder, &["show", "cn001"]);
    let stages = "  \
  ok       fetch
           passed over  bad signature
  skipped  syslog  done on 2026-11-19
  reboot   firmware  asked for a reboot
  ok       disk  try 2
";
    assert!(out.ends_with(stages), "{out}");
    let (_, out, _) = run(&folder, &["nodes"]);
    assert!(out.contains("netbooting") && !out.contains("verify"), "{out}");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_comes_as_it_is_or_is_said_to_be_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    with_nodes(&folder, &[("cn001", failed_boot())]).await;
    let log = UploadedLog { run: RUN.into(), name: "01-disk".into() };
    let store = Sqlite::open(&folder.path().join("data")).unwrap();
    store.put_log("cn001", log, b"mkfs\n\x1b[2J\xff".to_vec()).await.unwrap();
    drop(store);
    let daemon = serve(&folder).await;
    let output = provostctl(folder.path(), &["log", "cn001", "disk"]).output().unwrap();
    assert_eq!(output.stdout, b"mkfs\n\x1b[2J\xff");
    // On a terminal nothing of it steers.
    let words = format!("{} log cn001 disk", env!("CARGO_BIN_EXE_provostctl"));
    let socket = format!("unix:{}", folder.path().join("data/admin.sock").display());
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &words, "/dev/null"]).env("PROVOSTCTL_ADMIN", socket);
    let shown = String::from_utf8(terminal.stdin(Stdio::null()).output().unwrap().stdout).unwrap();
    assert!(shown.contains("mkfs\r\n\\u{1b}[2J\u{fffd}"), "{shown:?}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let (code, out, err) = run(&folder, &["log", "cn001", "slurm"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("ssh cn001 provost log slurm"), "{err}");
    assert!(run(&folder, &["show", "cn001"]).1.contains("provostctl log cn001 disk"));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_come_as_lines() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = serve(&folder).await;
    let (code, out, err) = run(&folder, &["token", "cn[001-003]"]);
    assert_eq!((code, out.lines().count()), (Some(0), 3));
    assert_eq!(err, "new: cn[001-003]\n", "a typo shows");
    let (node, token) = out.lines().nth(2).unwrap().split_once(' ').unwrap();
    assert_eq!((node, token.len()), ("cn003", 64));
    assert!(run(&folder, &["nodes"]).1.contains("3 nodes: 3 defined"));

    let admin = format!("http://{}", daemon.addresses().admin);
    let (code, _, err) = run(&folder, &["--admin", &admin, "token", "cn001"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("hint: use the socket"), "{err}");
    assert_eq!(run(&folder, &["--admin", &admin, "nodes"]).0, Some(0));
    daemon.stop().await;

    let (code, out, err) = run(&folder, &["nodes", "--format", "json"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(
        err.contains("admin.sock") && err.contains("\n  hint: see that provostd runs"),
        "{err}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_says_what_is_forgotten_of_whom() {
    let folder = tempfile::tempdir().unwrap();
    with_nodes(&folder, &[("cn001", failed_boot()), ("cn002", good("boot", RUN))]).await;
    let daemon = serve(&folder).await;
    let (code, out, err) = run(&folder, &["release", "cn[001-003]"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("no node is called cn003\n") && err.contains("hint: "), "{err}");
    let admin = format!("http://{}", daemon.addresses().admin);
    let (code, _, err) = run(&folder, &["--admin", &admin, "release", "cn001"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("hint: use the socket"), "{err}");
    let (code, out, err) = run(&folder, &["release", "cn[001-002]"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(out, "cn001: 1 attempt is forgotten\ncn002: no attempt was counted\n");
    daemon.stop().await;
}

#[test]
fn wrong_usage_is_told_without_asking_anybody() {
    let folder = tempfile::tempdir().unwrap();
    for (args, why) in [
        (&["wait-for", "cn001", "--status", "happy"][..], "booted"),
        (&["wait-for", "cn001", "--status", "booted", "--timeout", "20"], "unit"),
        (&["nodes", "cn[001-"], "brackets"),
        (&["token", "@all"], "@all"),
        (&["show", "../x"], "name one node"),
        (&["--admin", "ftp://x", "nodes"], "unix:PATH"),
        (&["frobnicate"], "frobnicate"),
    ] {
        let (code, out, err) = run(&folder, args);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.contains(why), "{err}");
    }
}

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
    assert!(err.contains("cn001 failed: disk: exit code 7: 12 main disk\n"), "{err}");
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
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let waits = said.by_ref().map(Result::unwrap).find(|line| line.contains("1 defined"));
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
    let rest = thread::spawn(move || said.map(Result::unwrap).collect::<Vec<_>>());
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
    assert!(err.contains("cn001 failed: disk: lost\n  hint: see its console"), "{err}");
    let (_, out, _) = run(&folder, &["show", "cn001"]);
    assert!(out.contains("  running  disk\n           ended by  lost\n"), "{out}");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_for_waits_for_the_daemon_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let wait = |timeout| ["wait-for", "cn001", "--status", "booted", "--timeout", timeout];
    let (code, _, err) = run(&folder, &wait("1s"));
    assert_eq!(code, Some(124), "nobody has failed: {err}");
    assert!(err.contains("after 1s it isn't known: asking provostd at unix:"), "{err}");
    assert!(err.contains("hint: see that provostd runs"), "{err}");

    let mut child = provostctl(folder.path(), &wait("60s")).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let waits = said.by_ref().map(Result::unwrap).find(|line| line.contains("trying again"));
    assert!(waits.is_some());
    with_nodes(&folder, &[("cn001", good("boot", RUN))]).await;
    let daemon = serve(&folder).await;
    let rest = thread::spawn(move || said.map(Result::unwrap).collect::<Vec<_>>());
    assert!(child.wait().unwrap().success());
    assert_eq!(rest.join().unwrap(), ["1 of 1 booted"]);

    // What answers isn't an admin's door: that won't pass.
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
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let waits =
        said.by_ref().map(Result::unwrap).find(|line| line.contains("0 of 1 booted; 1 netbooting"));
    assert!(waits.is_some());
    daemon.stop().await;
    let lost = said.by_ref().map(Result::unwrap).find(|line| line.contains("trying again"));
    assert!(lost.is_some());
    with_nodes(&folder, &[("cn001", good("boot", RUN))]).await;
    let daemon = serve(&folder).await;
    let rest = thread::spawn(move || said.map(Result::unwrap).collect::<Vec<_>>());
    assert!(child.wait().unwrap().success());
    assert_eq!(rest.join().unwrap(), ["1 of 1 booted"]);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_goes_away_is_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    with_nodes(&folder, &[("cn001", failed_boot())]).await;
    let daemon = serve(&folder).await;
    let mut child = provostctl(folder.path(), &["show", "cn001", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
    daemon.stop().await;
}

#[test]
fn a_key_and_a_site_make_a_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (code, out, err) = run(&folder, &["key", "new", "--out", &path("keys")]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("RW") && out.lines().count() == 1, "{out}");
    let mode = fs::metadata(path("keys/provost.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (code, _, err) = run(&folder, &["key", "new", "--out", &path("keys")]);
    assert_eq!(code, Some(1), "a key is never replaced");
    assert!(err.contains("hint: "), "{err}");

    fs::create_dir(path("scripts")).unwrap();
    fs::write(path("scripts/hello"), "#!/bin/sh\necho hello\n").unwrap();
    fs::write(path("site.toml"), "[groups.all]\nnodes = 'cn[001-002]'\npostscripts = ['hello']\n")
        .unwrap();
    let (site, scripts, key, www) =
        (path("site.toml"), path("scripts"), path("keys/provost.key"), path("www"));
    let publish = ["publish", "--site", &site, "--scripts", &scripts, "--key", &key, "--to", &www];
    let (code, out, err) = run(&folder, &publish);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.contains("generation 1") && out.contains("1 file, 2 plans"), "{out}");
    assert!(run(&folder, &publish).1.contains("is up to date"));

    fs::write(path("scripts/empty"), "").unwrap();
    fs::write(path("scripts/dos"), "#!/bin/sh\r\n").unwrap();
    let (code, out, err) = run(&folder, &publish);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(
        err.contains("empty") && err.contains("dos") && err.matches("hint: ").count() == 3,
        "{err}"
    );
    fs::write(path("site.toml"), "[groups.all]\nnode = 'cn001'\n").unwrap();
    let (code, _, err) = run(&folder, &publish);
    assert_eq!(code, Some(1));
    assert!(err.contains("site.toml:2"), "{err}");
}

/// The samples above are records.
#[test]
fn the_samples_are_records() {
    for record in failed_boot().as_array().unwrap() {
        let mut record = record.clone();
        record["node"] = json!("cn001");
        serde_json::from_value::<Record>(record).unwrap().check_reportable().unwrap();
    }
}

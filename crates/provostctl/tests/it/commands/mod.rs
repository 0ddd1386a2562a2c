//! The command against a real daemon.

mod many;
mod node_sets;
mod nodes;
mod shown;
mod wait_for;
mod watch;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::{fs, thread};

use provost_record::Record;
use provost_store::{LogKind, Report, Sqlite, Store, Token, Tokens, UploadedLog};
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
        postgres: Default::default(),
        retention: Default::default(),
        listen: ([127, 0, 0, 1], 0).into(),
        admin: Some(([127, 0, 0, 1], 0).into()),
        operators: None,
        readers: None,
        guard: Default::default(),
        quota: Default::default(),
        node: Default::default(),
        lost_after: lost_after.parse().unwrap(),
        tokens: Default::default(),
        tls: Default::default(),
        enroll: Default::default(),
        webhooks: Default::default(),
        hooks: Default::default(),
        metrics: Default::default(),
        page: Default::default(),
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
            "exitCode": 7, "cause": "exit", "command": "mkfs /dev/sda", "commands": 12,
            "commandsFailed": 1, "hint": "buy a disk", "durationMs": 7130})
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

/// Reports a boot of `node` that succeeded.
async fn report_good(daemon: &Daemon, folder: &TempDir, node: &str) {
    report_run(daemon, folder, node, RUN).await;
}

async fn report_run(daemon: &Daemon, folder: &TempDir, node: &str, run_id: &str) {
    let token = run(folder, &["token", node]).1;
    let token = token.trim().split_once(' ').unwrap().1;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let mut records = good("boot", run_id);
    for record in records.as_array_mut().unwrap() {
        record["node"] = json!(node);
    }
    let url = format!("http://{}/v1/nodes/{node}/records", daemon.addresses().nodes);
    let report = http.post(url).bearer_auth(token).json(&records).send().await.unwrap();
    assert_eq!(report.status(), 200);
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

    let admin = format!("http://{}", daemon.addresses().admin.unwrap());
    let (code, _, err) = run(&folder, &["--admin", &admin, "token", "cn001"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("hint: use the socket"), "{err}");
    assert_eq!(run(&folder, &["--admin", &admin, "nodes"]).0, Some(0));
    daemon.stop().await;

    let (code, out, err) = run(&folder, &["nodes", "--format", "json"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(
        err.contains("admin.sock") && err.contains("\n  hint: check that provostd runs"),
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
    assert!(err.contains("unknown cn003\n") && err.contains("hint: "), "{err}");
    let admin = format!("http://{}", daemon.addresses().admin.unwrap());
    let (code, _, err) = run(&folder, &["--admin", &admin, "release", "cn001"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("hint: use the socket"), "{err}");
    let (code, out, err) = run(&folder, &["release", "cn[001-002]"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(out, "cn001: 1 attempt forgotten\ncn002: it had no attempts\n");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_are_removed_only_if_it_is_meant() {
    let folder = tempfile::tempdir().unwrap();
    with_nodes(&folder, &[("cn001", failed_boot()), ("cn002", good("boot", RUN))]).await;
    let daemon = serve(&folder).await;
    let names = || run(&folder, &["nodes", "-o", "NODES"]).1;
    let (code, out, err) = run(&folder, &["remove", "cn001"]);
    assert_eq!((code, out.as_str()), (Some(2), ""), "there is no terminal");
    assert!(err.contains("hint: see what would be removed: provostctl remove NODES --dry-run"));
    let dry = run(&folder, &["remove", "--dry-run", "cn[001-002]"]);
    let would = "cn001: failed, would be removed\ncn002: booted, would be removed\n";
    assert_eq!(dry, (Some(0), would.into(), String::new()));
    let (code, out, err) = run(&folder, &["remove", "--dry-run", "cn[002-003]"]);
    assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
    assert!(err.contains("unknown cn003\n"), "{err}");
    assert_eq!(names(), "cn[001-002]\n");

    for (answer, code, left) in [("\n", 1, "cn[001-002]\n"), ("y\n", 0, "cn002\n")] {
        let Some((ended, screen)) = on_a_terminal(&folder, "remove cn001", answer) else { break };
        assert!(screen.contains("remove 1 node, cn001: status, runs, "), "{screen}");
        assert_eq!((ended, names()), (Some(code), left.into()), "{screen}");
    }
    let removed = run(&folder, &["remove", "--yes", "cn002"]);
    assert_eq!(removed, (Some(0), "cn002: removed\n".into(), String::new()));
    daemon.stop().await;
}

/// Runs a command on a terminal and types `answer`; none without script(1), which has a terminal.
fn on_a_terminal(folder: &TempDir, args: &str, answer: &str) -> Option<(Option<i32>, String)> {
    let command = format!("{} {args}", env!("CARGO_BIN_EXE_provostctl"));
    let socket = folder.path().join("data/admin.sock");
    let mut terminal = Command::new("script")
        .args(["-qefc", &command, "/dev/null"])
        .env("PROVOSTCTL_ADMIN", format!("unix:{}", socket.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    terminal.stdin.as_mut().unwrap().write_all(answer.as_bytes()).unwrap();
    let mut screen = String::new();
    terminal.stdout.as_mut().unwrap().read_to_string(&mut screen).unwrap();
    Some((terminal.wait().unwrap().code(), screen))
}

#[test]
fn who_publishes_has_a_name_also_without_an_environment() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    run(&folder, &["key", "new", "--out", &path("keys")]);
    fs::create_dir(path("scripts")).unwrap();
    fs::write(path("scripts/hello"), "#!/bin/sh\n").unwrap();
    fs::write(path("site.toml"), "[nodes.cn001]\npostscripts = ['hello']\n").unwrap();
    let (site, scripts, key, www) =
        (path("site.toml"), path("scripts"), path("keys/provost.key"), path("www"));
    let publish = ["publish", "--site", &site, "--scripts", &scripts, "--key", &key, "--to", &www];
    let mut command = provostctl(folder.path(), &publish);
    for name in ["SUDO_USER", "LOGNAME", "USER"] {
        command.env_remove(name);
    }
    assert!(command.status().unwrap().success());
    let id = fs::metadata(path("www")).unwrap().uid();
    let name = provost_fs::user_name(id).unwrap().unwrap();
    let (_, out, _) = run(&folder, &["history", "--to", &www]);
    assert!(out.contains(&format!(" by {name} on ")), "{out}");
}

#[test]
fn wrong_usage_is_told_without_asking_anybody() {
    let folder = tempfile::tempdir().unwrap();
    for (args, why) in [
        (&["wait-for", "cn001", "--status", "happy"][..], "booted"),
        (&["wait-for", "cn001", "--status", "booted", "--timeout", "20"], "unit"),
        (&["nodes", "cn[001-"], "brackets"),
        (&["token", "@status:all"], "unknown status"),
        (&["show", "../x"], "name one node"),
        (&["remove", "cn001"], "--yes is missing"),
        (&["--admin", "ftp://x", "nodes"], "unix:PATH"),
        (&["frobnicate"], "frobnicate"),
    ] {
        let (code, out, err) = run(&folder, args);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.contains(why), "{err}");
    }
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
    assert_eq!(code, Some(0), "{err}");
    assert!(err.starts_with("note: provostd wasn't asked") && err.lines().count() == 1, "{err}");
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

//! What is known of a node, as an admin sees it.

use super::*;

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
        out.contains(
            "synced  disk   exit status 7  line 12: \\u{1b}[2Jno\\u{202e} space\\u{9b}1m\n"
        )
    );
    assert_eq!(rows[2][..2], ["cn002", "booted"]);
    assert!(
        out.ends_with("2 nodes: 1 booted, 1 failed\ndetails: provostctl show cn001\n"),
        "{out}"
    );

    let (code, out, _) = run(&folder, &["show", "cn001"]);
    assert_eq!(code, Some(0));
    let failure = "  \
  ok       fetch  38 ms
  FAILED   disk /scratch  7.1 s
           outcome   exit status 7
           line      12 main disk
           command   mkfs /dev/sda
           commands  12, 1 failed
           output    mkfs
                     \\u{1b}[2Jno\\u{202e} space\\u{9b}1m
           hint      buy a disk
           log       ssh cn001 provost log disk
  not run  slurm
";
    assert!(out.contains(failure), "{out}");
    assert!(
        out.contains(&format!("boot {RUN} of 2026-11-20T17:00:00Z: failed after 8.2 s")),
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
async fn a_log_shows_its_commands() {
    const UPLOADED: &str = "2026-11-20T17:00:01.000Z exec F 11 9 mkfs /dev/sda\n\
        2026-11-20T17:00:01.500Z stderr F no space\n\
        2026-11-20T17:00:02.000Z exit F 11 7 1000ms\n";
    let folder = tempfile::tempdir().unwrap();
    with_nodes(&folder, &[("cn001", failed_boot())]).await;
    let log = UploadedLog { run: RUN.into(), name: "01-disk".into() };
    let store = Sqlite::open(&folder.path().join("data")).unwrap();
    store.put_log("cn001", log, LogKind::Failure, UPLOADED.into()).await.unwrap();
    drop(store);
    let daemon = serve(&folder).await;
    let shown = |flags: &[&str]| {
        let (code, out, err) = run(&folder, &[&["log", "cn001", "disk"], flags].concat());
        assert_eq!((code, &*err), (Some(0), ""), "{flags:?}");
        out
    };
    let ended = "# mkfs /dev/sda FAILED: exit status 7, 1.0 s";
    let all = format!("$ mkfs /dev/sda\n  | no space\n{ended}\n");
    assert_eq!((shown(&[]), shown(&["--failed"])), (all.clone(), all));
    assert_eq!(shown(&["--output"]), "2026-11-20T17:00:01.500Z stderr F no space\n");
    let row = "17:00:01.000Z        1.0 s  7            mkfs /dev/sda\n";
    assert!(shown(&["--commands"]).ends_with(row));
    let expected = json!([{"pid": 11, "ppid": 9, "command": "mkfs /dev/sda",
        "start": "2026-11-20T17:00:01.000Z", "durationMs": 1000, "exitCode": 7,
        "output": "no space\n"}]);
    let commands: Value = serde_json::from_str(&shown(&["--format", "json"])).unwrap();
    assert_eq!(commands, expected);
    let (code, _, err) = run(&folder, &["log", "cn001", "disk", "--output", "--failed"]);
    assert!(code == Some(2) && err.contains("--failed"), "{err}");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_comes_as_it_is_or_is_said_to_be_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    with_nodes(&folder, &[("cn001", failed_boot())]).await;
    let log = UploadedLog { run: RUN.into(), name: "01-disk".into() };
    let store = Sqlite::open(&folder.path().join("data")).unwrap();
    store.put_log("cn001", log, LogKind::Failure, b"mkfs\n\x1b[2J\xff".to_vec()).await.unwrap();
    drop(store);
    let daemon = serve(&folder).await;
    let output = provostctl(folder.path(), &["log", "--output", "cn001", "disk"]).output().unwrap();
    assert_eq!(output.stdout, b"mkfs\n\x1b[2J\xff");
    // On a terminal nothing of it steers.
    let words = format!("{} log cn001 disk", env!("CARGO_BIN_EXE_provostctl"));
    let socket = format!("unix:{}", folder.path().join("data/admin.sock").display());
    let mut terminal = Command::new("script");
    terminal
        .args(["-qec", &words, "/dev/null"])
        .env("PROVOSTCTL_ADMIN", socket)
        .env("NO_COLOR", "1");
    let shown = String::from_utf8(terminal.stdin(Stdio::null()).output().unwrap().stdout).unwrap();
    assert!(shown.contains("# mkfs\r\n# \\u{1b}[2J\u{fffd}\r\n"), "{shown:?}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let (code, out, err) = run(&folder, &["log", "cn001", "slurm"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("cn001 has uploaded no log of slurm; reading it by ssh"), "{err}");
    assert!(run(&folder, &["show", "cn001"]).1.contains("provostctl log cn001 disk"));
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

/// The samples above are records.
#[test]
fn the_samples_are_records() {
    for record in failed_boot().as_array().unwrap() {
        let mut record = record.clone();
        record["node"] = json!("cn001");
        serde_json::from_value::<Record>(record).unwrap().check_reportable().unwrap();
    }
}

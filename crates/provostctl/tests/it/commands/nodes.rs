//! `provostctl nodes`.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn nodes_are_grouped_selected_and_folded() {
    let folder = tempfile::tempdir().unwrap();
    let started = json!([record("boot", RUN, 1, json!({"phase": "service start"}))]);
    let nodes = [
        ("cn001", failed_boot()),
        ("cn002", failed_boot()),
        ("cn003", good("boot", RUN)),
        ("cn004", started),
    ];
    with_nodes(&folder, &nodes).await;
    let daemon = serve(&folder).await;
    let shown = |args: &[&str]| {
        let (code, out, err) = run(&folder, &[&["nodes"], args].concat());
        assert_eq!((code, err.as_str()), (Some(0), ""));
        out
    };
    let overview = shown(&["--group"]);
    assert!(
        overview.starts_with("4 nodes: 1 netbooting, 1 booted, 2 failed\n\n2 failed in disk: ")
    );
    for line in ["    nodes  cn[001-002]\n", "    hint   buy a disk\n", "booted      1  cn003\n"] {
        assert!(overview.contains(line), "{line} isn't in\n{overview}");
    }
    let id = overview.split("@cause:").nth(1).unwrap().split_whitespace().next().unwrap();
    let json: Value = serde_json::from_str(&shown(&["--group", "--format", "json"])).unwrap();
    let failure = &json["failures"][0];
    assert_eq!((&failure["id"], &failure["count"]), (&json!(id), &json!(2)));
    assert_eq!((&failure["nodes"], &failure["stage"]), (&json!("cn[001-002]"), &json!("disk")));
    assert_eq!(json["others"][1], json!({"status": "booted", "count": 1, "nodes": "cn003"}));

    let folded = |args: &[&str]| shown(&[args, &["-o", "NODES"]].concat());
    assert_eq!(folded(&[]), "cn[001-004]\n");
    assert_eq!(folded(&["--failed"]), "cn[001-002]\n");
    assert_eq!(folded(&["--status", "netbooting"]), "cn004\n");
    assert_eq!(folded(&["--stage", "disk", "cn[002-004]"]), "cn002\n");
    assert_eq!(folded(&["--cause", "exit"]), "cn[001-002]\n");
    assert_eq!(folded(&["--cause", "timeout"]), "\n");
    assert_eq!(folded(&["--cause", id]), folded(&[&format!("@cause:{id}")]));
    assert_eq!(folded(&["--since", "1s"]), "\n", "the records are of 2026-11-20");
    let rows = shown(&["--failed", "--sort", "since"]);
    assert_eq!(rows.lines().filter(|line| line.starts_with("cn00")).count(), 2, "{rows}");
    let nodes: Value = serde_json::from_str(&shown(&["--failed", "--format", "json"])).unwrap();
    assert_eq!(nodes.as_array().unwrap().len(), 2);
    daemon.stop().await;
}

//! Sets that provostd knows, such as `@failed`.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_set_is_named_where_nodes_are() {
    let folder = tempfile::tempdir().unwrap();
    let started = json!([record("boot", RUN, 1, json!({"phase": "service start"}))]);
    let nodes = [("cn001", failed_boot()), ("cn002", good("boot", RUN)), ("cn003", started)];
    with_nodes(&folder, &nodes).await;
    let daemon = serve(&folder).await;
    let names = |set: &str| {
        let (code, out, err) = run(&folder, &["nodes", set, "--format", "json"]);
        assert_eq!(code, Some(0), "{err}");
        let nodes: Value = serde_json::from_str(&out).unwrap();
        let names = nodes.as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap());
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("@failed"), "cn001");
    assert_eq!(names("@status:netbooting"), "cn003");
    assert_eq!(names("@status:netbooting,cn002,@failed"), "cn001 cn002 cn003");
    let released = run(&folder, &["release", "@failed"]);
    assert_eq!(released, (Some(0), "cn001: 1 attempt forgotten\n".into(), String::new()));
    assert_eq!(run(&folder, &["wait-for", "@failed", "--status", "failed"]).0, Some(0));

    let (code, _, err) = run(&folder, &["release", "@held"]);
    assert_eq!(
        (code, err.lines().next()),
        (Some(1), Some("provostctl: @held stands for no nodes"))
    );
    let (code, _, err) = run(&folder, &["release", "@lost"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("\"@lost\" names no nodes: there is no such group"), "{err}");
    assert!(err.contains("or @failed, @held, @status:STATUS or @cause:ID"), "{err}");
    daemon.stop().await;
}

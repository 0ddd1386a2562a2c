//! docs/reference/json.md names what each `--format json` prints, no more and no less.

pub(crate) mod page;

use std::fs;

use provost_tests::{Cluster, Node, missing, skip_if, web_group};
use serde_json::Value;

use page::Page;

/// What takes more than this test does: three nodes that fail for what others don't have, a management node of xCAT's, nodes that send its status words or
/// too much, a script that runs for longer than 30 s or records its messages itself, nodes with ssh.
const RARE: &[&str] = &[
    "a-changed-part-of-a-plan name",
    "a-changed-part-of-a-plan now",
    "a-changed-part-of-a-plan then",
    "a-changed-script at",
    "a-changed-script by",
    "a-changed-script generation",
    "a-changed-script host",
    "a-changed-script now",
    "a-changed-script script",
    "a-changed-script then",
    "a-difference name",
    "a-difference now",
    "a-difference then",
    "a-factor failed",
    "a-factor name",
    "a-factor ofFailed",
    "a-factor ofOthers",
    "a-factor others",
    "a-factor probability",
    "a-factor value",
    "a-message-to-xcat at",
    "a-message-to-xcat error",
    "a-message-to-xcat hint",
    "a-message-to-xcat result",
    "a-message-to-xcat told",
    "a-message-to-xcat tries",
    "a-node appstatus",
    "a-node bootSent",
    "a-node claimedBy",
    "a-node expires",
    "a-node overQuota",
    "a-node runningFor",
    "a-node slow",
    "a-node-since-its-last-success before",
    "a-node-since-its-last-success between",
    "a-node-since-its-last-success diff",
    "a-node-since-its-last-success differences",
    "a-node-since-its-last-success failed",
    "a-node-since-its-last-success failure",
    "a-node-since-its-last-success hidden",
    "a-node-since-its-last-success output",
    "a-node-since-its-last-success plan",
    "a-node-since-its-last-success scripts",
    "a-node-since-its-last-success stage",
    "a-node-since-its-last-success succeeded",
    "a-node-since-its-last-success success",
    "a-node-with-its-runs identity",
    "a-node-with-its-runs more",
    "a-pending-node key",
    "a-record stagesFailed",
    "a-record waiting",
    "a-result exitCode",
    "a-result hint",
    "a-result output",
    "a-run-in-between result",
    "a-run-in-between run",
    "a-run-in-between service",
    "a-run-in-between stages",
    "a-run-in-between started",
    "a-slow-step ms",
    "a-slow-step of",
    "a-slow-step running",
    "a-slow-step stage",
    "a-slow-step usualMs",
    "a-stage-that-a-script-is-in service",
    "a-stage-that-a-script-is-in since",
    "a-stage-that-a-script-is-in stage",
    "a-stage-that-ran-before-it now",
    "a-stage-that-ran-before-it stage",
    "a-stage-within-a-script errorMessage",
    "a-stage-within-a-script signal",
    "a-status identity",
    "a-status monitor",
    "an-identity key",
    "an-identity revoked",
    "an-identity since",
    "an-identity until",
    "running-for at",
    "running-for elapsedMs",
    "running-for inner",
    "running-for line",
    "the-first-line-that-differs command",
    "the-first-line-that-differs line",
    "the-first-line-that-differs now",
    "the-first-line-that-differs then",
    "why-nodes-failed changed",
];

/// Fails in a stage of its own.
const BROKEN: &str = "#!/bin/bash\nset -euo pipefail\n. bootstrap-service-record.sh\necho applying\n\
    record_service_stage_start prepare\nrecord_service_stage_success\n\
    record_service_stage_start apply\napply() {\n    (exit 32)\n}\napply\n";
/// Fails at its first try.
const LATE: &str = "#!/bin/sh\n# /// provost\n# retries = 1\n# ///\n[ -e \"$HERE/tried\" ] && exit\n\
    : >\"$HERE/tried\"\necho not yet\nexit 1\n";
/// Goes on after two commands that failed, and leaves a process behind that holds its output.
const LEAKS: &str = "#!/bin/sh\n# /// provost\n# leak = \"kill\"\n# ///\n\
    sh -c 'echo no >&2; exit 3'\nsh -c 'kill -KILL $$'\nsleep 600 &\n";
const ONCE: &str = "#!/bin/sh\n# /// provost\n# when = \"once\"\n# ///\necho once\n";
/// A command of it, then itself, ends by a signal.
const KILLED: &str = "#!/bin/bash\nsh -c 'kill -KILL $$'\nkill -KILL $$\n";

/// As a JSON document.
fn json<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &["--format", "json"]].concat()
}

/// A management node, and its nodes that have a token.
fn site() -> (Cluster, Node, Node) {
    let mut cluster = Cluster::new();
    for (name, text) in
        [("broken", BROKEN), ("late", LATE), ("leaks", LEAKS), ("once", ONCE), ("killed", KILLED)]
    {
        cluster.script(name, text);
    }
    let here = cluster.path("").display().to_string();
    let records = cluster.path("nodes/cn001/openshift").display().to_string();
    cluster.site(&format!(
        "[nodes.cn001]\nenv = {{ HERE = {here:?}, SERVICE_RECORDS_DIR = {records:?} }}\n\
         postscripts = [\"once\", \"late\", \"leaks\", \"broken -v\", \"killed\"]\n\
         [nodes.cn002]\npostscripts = [\"killed\"]\n"
    ));
    cluster.publish().expect(0);
    cluster.start();
    let (node, other) = (cluster.node("cn001"), cluster.node("cn002"));
    (cluster, node, other)
}

/// Other services of the node: the commands around one failed, and another one's file is damaged.
fn other_services(node: &Node) {
    let folder = node.path("openshift");
    fs::create_dir_all(&folder).unwrap();
    for (name, flag) in [("first", "--pre-command"), ("last", "--post-command")] {
        let file = folder.join(format!("{name}.json")).display().to_string();
        let record = |args: &[&str]| {
            let all = [&["record"], args, &["--file", &file, flag, "net"]].concat();
            node.provost(&all).expect(0);
        };
        record(&["service-start"]);
        record(&["service-end", "--result", "failure"]);
    }
    fs::write(folder.join("damaged.json"), "[{]").unwrap();
}

#[test]
fn the_documents_have_the_keys_of_the_page() {
    skip_if(missing::tracing());
    let page = Page::read();
    let (mut cluster, node, other) = site();
    let of_node = |args: &[&str]| -> Value { node.provost(&json(args)).json() };

    let of_all = |cluster: &Cluster| {
        let ctl = |args: &[&str]| -> Value { cluster.ctl(&json(args)).json() };
        page.check("a-status", &of_node(&["status"]));
        page.check("an-analysis", &of_node(&["analyze"]));
        page.check("a-node[]", &ctl(&["nodes"]));
        page.check("an-overview", &ctl(&["nodes", "--group"]));
        page.check("a-node-with-its-runs", &ctl(&["show", "cn001"]));
        page.check("a-node-with-its-runs", &ctl(&["show", "cn001", "--runs", "200"]));
        page.check("a-node-with-its-runs", &ctl(&["show", "cn002"]));
        page.check("why-nodes-failed", &ctl(&["why"]));
    };
    other_services(&node);
    node.provost(&["boot"]).expect(1);
    of_all(&cluster);
    // `once` is skipped, and `late` succeeds at once.
    node.provost(&["boot"]).expect(1);
    node.provost(&["run", "killed"]).expect(1);
    other.provost(&["boot"]).expect(1);
    of_all(&cluster);
    page.check("a-check", &of_node(&["check"]));
    page.check("a-command[]", &of_node(&["log", "leaks"]));
    page.check("a-line[]", &of_node(&["log", "broken", "--output"]));
    page.check("a-command[]", &cluster.ctl(&json(&["log", "cn001", "killed"])).json());
    // The guard holds it.
    node.provost(&["boot"]).expect(1);
    node.provost(&["boot"]).expect(4);
    of_all(&cluster);

    fs::write(other.path("token"), "0".repeat(64)).unwrap();
    other.provost(&["boot"]).expect(3);
    page.check("a-pending-node[]", &cluster.ctl(&json(&["pending"])).json());
    page.check("a-node[]", &cluster.ctl(&json(&["nodes"])).json());

    cluster.ctl(&["admin", "add", "lee", "--role", "read"]).expect(0);
    page.check("an-admin[]", &cluster.ctl(&json(&["admin", "list"])).json());
    page.check("what-expires[]", &cluster.ctl(&json(&["expiry"])).json());
    page.check("a-change[]", &cluster.ctl(&json(&["audit"])).json());
    page.check("versions", &cluster.ctl(&json(&["compat"])).expect(0).json());

    published(&page, &cluster);
    by_ssh(&page, &cluster);
    cluster.kill_daemon();
    page.check("a-check", &of_node(&["check"]));
    // What a dry run prints is compared where one can be made.
    let unseen = page.unseen().into_iter().filter(|key| !key.contains("dry-run"));
    assert_eq!(unseen.collect::<Vec<_>>(), RARE);
}

/// What is published, and what publishing refuses.
fn published(page: &Page, cluster: &Cluster) {
    let path = |name: &str| cluster.path(name).display().to_string();
    let (key, www, site, scripts) =
        (path("key/provost.key"), path("www"), path("site.toml"), path("scripts"));
    let ctl = |args: &[&str]| cluster.ctl(args);
    let (next, new) = (path("next"), path("next/provost.key"));
    ctl(&["key", "new", "--out", &next]).expect(0);
    let rotate = ["key", "rotate", "--key", &key, "--next", &new, "--to", &www];
    ctl(&[&rotate[..], &["--group", web_group()]].concat()).expect(0);
    page.check("a-key[]", &ctl(&["key", "show", "--format", "json"]).expect(0).json());
    let key = new;
    ctl(&["channel", "set", "canary", "cn002", "--key", &key, "--to", &www]).expect(0);
    cluster.script("once", "#!/bin/sh\necho twice\n");
    let publish = ["publish", "--site", &site, "--scripts", &scripts, "--key", &key, "--to", &www];
    let more = ["--to-channel", "canary", "--group", web_group()];
    ctl(&[&publish[..], &more].concat()).expect(0);
    page.check("a-publication[]", &ctl(&["history", "--to", &www, "--format", "json"]).json());
    let channels = ctl(&["channel", "list", "--to", &www, "--format", "json"]).json();
    assert_eq!(channels, serde_json::json!({ "canary": ["cn002"] }));
    cluster.script("wrong", "#!/bin/bash\nif\n");
    let lint = ["publish", "--lint-only", "--site", &site, "--scripts", &scripts];
    page.check("a-mistake[]", &ctl(&[&lint[..], &["--format", "json"]].concat()).expect(1).json());
}

/// What is done on nodes, of which none can be reached.
fn by_ssh(page: &Page, cluster: &Cluster) {
    let config = cluster.path("ssh-config");
    fs::write(&config, "Host *\nHostName 127.0.0.1\nPort 1\n").unwrap();
    let config = config.display().to_string();
    let rerun = ["rerun", "--ssh-config", &config, "--format", "json", "cn001", "once"];
    page.check("a-result[]", &cluster.ctl(&rerun).expect(1).json());
}

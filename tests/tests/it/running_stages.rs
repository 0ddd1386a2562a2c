//! The stage of its own that a running script is in, on the management node.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::{Cluster, processes, program, skip_part};
use regex::Regex;
use serde_json::{Value, json};

/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Does what it reads.
const BOOTKUBE: &str = "\
#!/bin/bash
# /// provost
# retries = 1
# ///
set -euo pipefail
. bootstrap-service-record.sh
while read -r what name <&3; do
    case $what in
    start) record_service_stage_start \"$(printf \"$name\")\" ;;
    done) record_service_stage_success ;;
    burst)
        for i in {1..30}; do
            record_service_stage_start \"burst $i\"
            sleep 0.1
            record_service_stage_success
        done
        ;;
    fail) exit 7 ;;
    end) exit 0 ;;
    esac
done 3<\"$GATE\"
";

/// A node whose script does what it reads, and the server that sees its beats.
struct Ground {
    cluster: Cluster,
    server: Faulty,
    gate: File,
    boot: Child,
}

impl Ground {
    /// The node boots, and beats as often as it does at a site.
    fn new() -> Self {
        let mut cluster = Cluster::new();
        let gate = cluster.path("gate");
        provost_tests::pipe(&gate);
        cluster.script("bootkube.sh", BOOTKUBE);
        let records = cluster.path("nodes/cn001/openshift");
        cluster.site(&format!(
            "[nodes.cn001]\npostscripts = [\"bootkube.sh\"]\nenv = {{ GATE = {gate:?}, \
             SERVICE_RECORDS_DIR = {records:?}, DB_PASSWORD = \"hunter2-and-more\" }}\n"
        ));
        cluster.publish().expect(0);
        cluster.start();
        let node = cluster.node("cn001");
        let server = Faulty::before(cluster.daemon().nodes());
        node.configure(&cluster.settings_for(&[server.address()]));
        // For writing alone it would wait for the script.
        let gate = File::options().read(true).write(true).open(gate).unwrap();
        let boot = node.command(&["boot"]).stderr(Stdio::null()).spawn().unwrap();
        Self { cluster, server, gate, boot }
    }

    fn script(&mut self, line: &str) {
        writeln!(self.gate, "{line}").unwrap();
    }

    /// Waits until the node object has this stage.
    #[track_caller]
    fn shows(&self, stage: &str) -> Value {
        let inner = || self.cluster.status("cn001")["runningFor"]["inner"].clone();
        let shown = processes::until(LIMIT, || inner()["stage"] == stage);
        assert!(shown, "{stage}: {}", self.cluster.status("cn001"));
        inner()
    }

    /// What the node object has of the step, where it is in no stage.
    #[track_caller]
    fn shows_none(&self) -> Value {
        let running = || self.cluster.status("cn001")["runningFor"].clone();
        let shown = processes::until(LIMIT, || running()["inner"].is_null());
        assert!(shown, "{}", running());
        running()
    }

    /// The beats so far.
    fn beats(&self) -> Vec<Value> {
        let exchanges = self.server.exchanges();
        let beats = exchanges.iter().filter(|e| e.request.path.ends_with("/beat"));
        beats.map(|e| serde_json::from_slice(&e.request.body).unwrap()).collect()
    }

    #[track_caller]
    fn ends(&mut self, status: i32) {
        assert!(processes::until(LIMIT, || self.boot.try_wait().unwrap().is_some()));
        assert_eq!(self.boot.wait().unwrap().code(), Some(status));
    }
}

#[test]
fn is_shown_everywhere_at_once_and_gone_with_the_script() {
    let mut ground = Ground::new();
    ground.script("start wait-for-etcd");
    let inner = ground.shows("wait-for-etcd");
    assert_eq!(inner["service"], "bootkube");
    let journal = ground.cluster.path("nodes/cn001/openshift/bootkube.json");
    let journal: Vec<Value> = serde_json::from_slice(&std::fs::read(journal).unwrap()).unwrap();
    assert_eq!(journal.last().unwrap()["timestamp"], inner["since"], "{journal:#?}");
    let beats = ground.beats();
    assert_eq!(beats.last().unwrap()["inner"], inner);

    let shown = Regex::new(r"for \d+ s, bootkube: wait-for-etcd for \d+ s").unwrap();
    for args in [&["nodes"][..], &["nodes", "--group"], &["show", "cn001"]] {
        let text = ground.cluster.ctl(args).expect(0).stdout;
        assert!(shown.is_match(&text), "{args:?}\n{text}");
    }
    let tags = Regex::new("<[^>]*>").unwrap();
    for path in ["/", "/nodes", "/nodes/cn001"] {
        let page = ground.cluster.daemon().get(path);
        let text = tags.replace_all(&page, "");
        assert!(shown.is_match(&text), "{path}\n{text}");
    }
    watch_shows(&ground.cluster, &shown);

    // Nothing that a script says steers a terminal or is markup.
    ground.script("done");
    ground.shows_none();
    ground.script(r"start \033[31m<b>as_hunter2-and-more");
    ground.shows("\u{1b}[31m<b>as_[redacted:DB_PASSWORD]");
    for args in [&["nodes"][..], &["nodes", "--group"], &["show", "cn001"]] {
        let text = ground.cluster.ctl(args).expect(0).stdout;
        assert!(text.contains(r"bootkube: \u{1b}[31m<b>as_[redacted:DB_PASSWORD] for "), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }
    for path in ["/", "/nodes", "/nodes/cn001"] {
        let text = ground.cluster.daemon().get(path);
        assert!(text.contains(r"bootkube: \u{1b}[31m") && !text.contains("<b>as_"), "{text}");
    }

    ground.script("end");
    ground.ends(0);
    assert_eq!(ground.cluster.status("cn001").get("runningFor"), None);
    let beats = ground.beats();
    assert!(!json!(beats).to_string().contains("hunter2"), "{beats:#?}");
    // The first of those that come without a change.
    assert!(beats.iter().all(|beat| beat["elapsedMs"].as_u64() < Some(30_000)), "{beats:#?}");
    let last = beats.last().unwrap();
    assert_eq!((&last["ended"], last.get("inner")), (&json!(true), None));
}

/// Sees `provostctl watch` show it on a terminal.
#[track_caller]
fn watch_shows(cluster: &Cluster, shown: &Regex) {
    if Command::new("script").arg("--version").output().is_err() {
        return skip_part("no script(1), which has a terminal for provostctl watch");
    }
    let watch = format!("stty cols 200; exec {} watch", program("provostctl").display());
    let mut terminal = Command::new("script")
        .args(["-qefc", &watch, "/dev/null"])
        .env("PROVOSTCTL_ADMIN", cluster.daemon().socket())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut text, mut piece) = (String::new(), [0; 4096]);
    while !shown.is_match(&text) {
        let n = terminal.stdout.as_mut().unwrap().read(&mut piece).unwrap();
        assert!(n > 0, "{text}");
        text += &String::from_utf8_lossy(&piece[..n]);
    }
    terminal.kill().unwrap();
    terminal.wait().unwrap();
}

#[test]
fn changes_bring_no_more_than_a_beat_a_second() {
    let mut ground = Ground::new();
    ground.script("burst");
    ground.script("start at-last");
    ground.shows("at-last");
    let beats = ground.beats();
    let elapsed: Vec<_> = beats.iter().map(|beat| beat["elapsedMs"].as_u64().unwrap()).collect();
    assert!(elapsed.len() > 2, "{elapsed:?}");
    assert!(elapsed.is_sorted_by(|a, b| a + 990 <= *b), "{elapsed:?}");
    ground.script("end");
    ground.ends(0);
}

#[test]
fn another_try_is_not_in_the_stage_of_the_one_before() {
    let mut ground = Ground::new();
    ground.script("start apply");
    ground.shows("apply");
    ground.script("fail");
    let runs = || ground.cluster.ctl_json(&["show", "cn001"])["runs"].clone();
    let is_tried_again = || runs()[0]["stages"][1]["attempt"] == 2;
    assert!(processes::until(LIMIT, is_tried_again), "{:#}", runs());
    assert_eq!(ground.cluster.status("cn001").get("runningFor"), None);
    ground.script("start again");
    ground.shows("again");
    ground.script("end");
    ground.ends(0);
}

#[test]
fn is_sent_again_before_the_next_beat_is_due_where_a_server_did_not_take_it() {
    let mut ground = Ground::new();
    ground.script("start first");
    ground.shows("first");
    ground.server.fault("/v1/nodes/cn001/runs/", Times::Next(2), Fault::Status(503));
    ground.script("done");
    ground.script("start second");
    ground.shows("second");
    let beats = ground.beats();
    assert!(beats.last().unwrap()["elapsedMs"].as_u64() < Some(30_000), "{beats:#?}");
    ground.script("end");
    ground.ends(0);
}

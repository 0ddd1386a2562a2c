//! What could not be reported when it happened.

use std::collections::HashSet;
use std::os::unix::fs::FileTypeExt;

use provost_tests::faults::{Fault, Times};
use provost_tests::processes;
use serde_json::{Value, json};

use super::{PATIENCE, RECORDS, all_is_stored, cluster, plan};

#[test]
fn a_fetch_that_failed_is_told_once_a_server_is_there() {
    let (cluster, node, proxy) = cluster();
    proxy.refuse();
    node.provost(&["boot"]).expect(3);
    node.provost(&["kickstart"]).expect(3);
    proxy.accept();
    node.provost(&["report"]).expect(0);
    all_is_stored(&cluster, &node, &["boot", "kickstart"]);
    let status = cluster.status("cn001");
    assert_eq!((&status["status"], &status["cause"]), (&json!("failed"), &json!("fetch")));
}

#[test]
fn two_who_report_at_once_send_nothing_twice() {
    let (cluster, node, proxy) = cluster();
    proxy.refuse();
    for _ in 0..3 {
        node.provost(&["boot"]).expect(3);
    }
    proxy.accept();
    let reports: Vec<_> = (0..4).map(|_| node.spawn(&["report"])).collect();
    for report in reports {
        let out = report.wait_with_output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }
    let mut sent = HashSet::new();
    for exchange in proxy.exchanges().iter().filter(|e| e.request.path == RECORDS) {
        for record in serde_json::from_slice::<Vec<Value>>(&exchange.request.body).unwrap() {
            let key = format!("{} {}", record["run"], record["seq"]);
            assert!(sent.insert(key), "{record} was sent twice");
        }
    }
    all_is_stored(&cluster, &node, &["boot"]);
}

#[test]
fn what_is_left_goes_by_the_timer_where_systemd_has_one() {
    let (_cluster, node, proxy) = cluster();
    proxy.fault("/v1/", Times::Always, Fault::Status(503));
    node.provost(&["boot"]).expect(1);
    let asked = || std::fs::read_to_string(node.path("reboots")).unwrap_or_default();
    assert!(!asked().contains("provost-report"), "there is no such unit here");
    let units = node.path("etc/systemd/system");
    std::fs::create_dir_all(&units).unwrap();
    std::fs::write(units.join("provost-report.timer"), "[Timer]\n").unwrap();
    node.provost(&["boot"]).expect(1).says(&["a timer, the next run"]);
    assert_eq!(asked().trim(), "systemctl start --no-block provost-report.timer");
    // One that hangs costs no more than a moment.
    let systemctl = node.path("fakes/systemctl");
    std::fs::write(&systemctl, "#!/bin/sh\nexec sleep 60\n").unwrap();
    node.provost(&["boot"]).expect(1).says(&["with the next run"]);
    proxy.repair();
    node.provost(&["boot"]).expect(1);
    assert_eq!(node.status()["unreported"], 0);
}

#[test]
fn a_server_that_is_dead_for_weeks_costs_a_bounded_journal_and_gets_the_newest() {
    let (cluster, node, proxy) = cluster();
    proxy.fault("/v1/", Times::Always, Fault::Status(503));
    node.provost(&["boot"]).expect(1);
    // The same run over and over, each time with an id and words of its own.
    let path = node.path("log/services/boot.json");
    let run = node.status()["run"].as_str().unwrap().to_owned();
    let entries = node.journal("boot");
    let mut text = String::from("[\n");
    for n in 0..1700 {
        let id = format!("{}{n:04x}", &run[..run.len() - 4]);
        for entry in &entries {
            let mut entry = entry.clone();
            entry["run"] = id.clone().into();
            entry["errorMessage"] = "x".repeat(1000).into();
            text += &format!("{entry},\n");
        }
    }
    text.truncate(text.len() - 2);
    std::fs::write(&path, text + "\n]\n").unwrap();
    assert!(path.metadata().unwrap().len() > 16 << 20);
    node.provost(&["boot"]).expect(1).says(&["the records of boot were not reported for too long"]);
    assert!(path.metadata().unwrap().len() < 9 << 20, "half of it is kept");
    let kept = node.journal("boot");
    assert_eq!(kept[0]["phase"], "service start");
    assert!(path.with_extension("1.json").exists());
    proxy.repair();
    let begun = std::time::Instant::now();
    while node.provost(&["report"]).code != Some(0) {
        assert!(begun.elapsed() < PATIENCE, "it never is through");
    }
    assert_eq!(node.status()["unreported"], 0);
    let runs = cluster.ctl_json(&["show", "cn001"])["runs"].clone();
    let newest = node.status()["run"].clone();
    assert!(runs.as_array().unwrap().iter().any(|r| r["run"] == newest));
}

#[test]
fn while_nobody_takes_reports_little_is_read_for_each() {
    let (cluster, node, proxy) = cluster();
    proxy.fault("/v1/", Times::Always, Fault::Status(503));
    let long = "x".repeat(1000);
    let steps: Vec<String> = (0..40).map(|n| format!("one {n} {long}")).collect();
    plan(&cluster, &steps.iter().map(String::as_str).collect::<Vec<_>>());
    node.provost(&["boot"]).expect(0);

    let before = proxy.asked(RECORDS);
    node.provost(&["report"]).expect(3);
    let reports = proxy.exchanges().into_iter().filter(|e| e.request.path == RECORDS);
    let sizes: Vec<usize> = reports.skip(before).map(|e| e.request.body.len()).collect();
    assert!(sizes.len() > 2 && sizes[0] > 80_000, "{sizes:?}");
    assert!(sizes[1..].iter().all(|size| (1..20_000).contains(size)), "{sizes:?}");

    // The first that is taken is a small one; then it goes on as if nothing had been.
    let before = proxy.asked(RECORDS);
    proxy.repair();
    proxy.fault("/v1/", Times::Next(1), Fault::Status(503));
    node.provost(&["report"]).expect(0);
    assert_eq!(proxy.asked(RECORDS) - before, 3);
    all_is_stored(&cluster, &node, &["boot"]);
}

#[test]
fn a_long_record_goes_though_little_is_read() {
    let (cluster, node, proxy) = cluster();
    plan(&cluster, &[&format!("one {}", "x".repeat(40_000)), "one"]);
    proxy.fault("/v1/", Times::Always, Fault::Status(503));
    node.provost(&["boot"]).expect(0);
    proxy.repair();
    // The second report ends before the long one; the next begins with it, and isn't taken.
    proxy.fault("/v1/", Times::Next(1), Fault::Status(503));
    proxy.fault("/v1/", Times::Nth(2), Fault::Status(503));
    node.provost(&["report"]).expect(0);
    all_is_stored(&cluster, &node, &["boot"]);
}

#[test]
fn a_log_that_is_a_pipe_by_now_holds_nothing_up() {
    let (cluster, node, _proxy) = cluster();
    let logs = node.path("log/scripts");
    let text = format!(
        "#!/bin/sh\nlog={}/$PROVOST_RUN/01-replaces.log\nrm \"$log\"; mkfifo \"$log\"\nexit 1\n",
        logs.display()
    );
    cluster.script("replaces", &text);
    plan(&cluster, &["replaces"]);
    let mut run = node.spawn(&["boot"]);
    let ended = processes::until(PATIENCE, || run.try_wait().unwrap().is_some());
    run.kill().unwrap();
    assert!(ended, "the run waits for its log");
    let run = node.journal("boot")[0]["run"].as_str().unwrap().to_owned();
    let log = logs.join(run).join("01-replaces.log");
    assert!(log.metadata().unwrap().file_type().is_fifo());
    all_is_stored(&cluster, &node, &["boot"]);
}

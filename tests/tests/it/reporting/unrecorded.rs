//! Runs that fail before they can be recorded, or know whom to ask.

use std::time::Duration;

use provost_tests::faults::{Fault, Times};
use serde_json::json;

use super::delivery::liar;
use super::{RECORDS, all_is_stored, cluster, configure};

#[test]
fn a_run_that_cannot_be_recorded_is_told_all_the_same() {
    let (cluster, node, proxy) = cluster();
    std::fs::create_dir_all(node.path("log")).unwrap();
    std::fs::write(node.path("log/services"), "no folder").unwrap();
    node.provost(&["boot"]).expect(2).says(&["log/services", "reported to the management node"]);
    let status = cluster.status("cn001");
    assert_eq!((&status["status"], &status["cause"]), (&json!("failed"), &json!("local")));
    assert!(status["errorMessage"].as_str().unwrap().contains("log/services"), "{status}");
    assert!(status["hint"].as_str().is_some());

    // A server that answers all with a page has not recorded it.
    let page = liar("<html>It works!</html>");
    configure(&cluster, &node, &[&page]);
    let said = node.provost(&["boot"]).expect(2).stderr;
    assert!(!said.contains("reported to the management node"), "{said}");
    configure(&cluster, &node, &[&page, proxy.address()]);
    let before = proxy.asked(RECORDS);
    node.provost(&["boot"]).expect(2).says(&["reported to the management node"]);
    assert_eq!(proxy.asked(RECORDS), before + 1);

    // As on a full disk: no signal ends the run where nobody would hear of it.
    let (cluster, node, _proxy) = self::cluster();
    let limited = ["sh", "-c", "ulimit -f 1; exec \"$@\"", "sh"];
    let ended = node.command_by(&limited, &["boot"]).output().unwrap();
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    let status = cluster.status("cn001");
    assert!(status["errorMessage"].as_str().unwrap().contains("File too large"), "{status}");

    let (_cluster, node, proxy) = self::cluster();
    proxy.fault("/v1/", Times::Always, Fault::Stall);
    std::fs::write(node.path("log"), "no folder").unwrap();
    let begun = std::time::Instant::now();
    node.provost(&["boot"]).expect(2);
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[test]
fn what_is_wrong_in_the_configuration_is_told_by_what_is_right() {
    let (cluster, node, proxy) = cluster();
    node.configure(&format!("servers = [\"http://{}\"]\n", proxy.address()));
    node.provost(&["boot"]).expect(2).says(&["[trust] is empty"]);
    let status = cluster.status("cn001");
    assert_eq!((&status["status"], &status["cause"]), (&json!("failed"), &json!("config")));
    all_is_stored(&cluster, &node, &["boot"]);

    // Whatever the mistake is, and also in a file of which it is hard to tell what was meant.
    let guard = "[guard]\nmax_attempts = 100\n";
    let right = format!("servers = [\"http://{}\"]\n{guard}", proxy.address());
    for (mistake, told) in
        [("[run]\ntimeuot = \"1h\"\n", "timeuot"), ("[trust\nkeys = []\n", "provost.toml:6: ")]
    {
        node.configure(&(right.clone() + mistake));
        node.provost(&["boot"]).expect(2).says(&[told, "hint: "]);
        let status = cluster.status("cn001");
        assert!(status["errorMessage"].as_str().unwrap().contains(told), "{status}");
        // Nor does it keep anybody from looking at what has come of it.
        let status = node.provost(&["status"]).expect(0).says(&["warning: ", told]).stdout;
        assert!(status.contains("fetch") && status.contains("config"), "{status}");
        node.provost(&["release"]).expect(0).says(&["warning: ", told]);
    }
    proxy.refuse();
    let late = "[report]\ndeadline = \"100ms\"\n[trust\n";
    node.configure(&(right.clone() + late));
    node.provost(&["boot"]).expect(2).says(&["not sent yet"]);
    proxy.accept();
    node.configure(&(right.clone() + &late.replace("100ms", "1m")));
    node.provost(&["report"]).expect(2).says(&[" records reported, 0 left", "provost.toml:8: "]);
    node.configure(&right);
    all_is_stored(&cluster, &node, &["boot"]);
}

#[test]
fn a_failure_is_told_though_a_file_stands_where_the_notes_of_what_was_told_belong() {
    let (cluster, node, _proxy) = cluster();
    let report = node.path("state/report");
    std::fs::create_dir_all(node.path("state")).unwrap();
    std::fs::write(&report, "no folder").unwrap();
    let said = node.provost(&["boot"]).expect(1).says(&[report.to_str().unwrap(), "hint: "]);
    assert!(!said.stderr.contains("not sent yet"), "{}", said.stderr);
    let status = cluster.status("cn001");
    assert_eq!(
        (&status["status"], &status["stage"]),
        (&json!("failed"), &json!("bad")),
        "{status}"
    );
    // Nothing is lost once it is in order again, and nothing is there twice.
    std::fs::remove_file(report).unwrap();
    node.provost(&["boot"]).expect(1);
    all_is_stored(&cluster, &node, &["boot"]);
}

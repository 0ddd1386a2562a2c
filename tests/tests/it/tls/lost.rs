//! What is published says how nodes reach their server by TLS: where it is lost, or older than what nodes have seen,
//! what is published next doesn't send them back to plain HTTP.

use std::fs;
use std::path::Path;
use std::process::Command;

use provost_tests::Cluster;

use crate::tls::cluster;
use crate::tls::nodes::{behind_a_proxy, private};

const LEDGER: &str = "key/provost.published.toml";

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

/// The line of the manifest that names TLS.
fn named(cluster: &Cluster) -> Option<String> {
    let text = fs::read_to_string(cluster.www().join("manifest.toml")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("tls = "))?;
    Some(line.trim_matches('"').to_owned())
}

#[test]
fn a_lost_or_older_folder_sends_no_node_back_to_plain_http() {
    let mut cluster = cluster();
    let before = cluster.path("before");
    copy(&cluster.www(), &before);
    let tls = cluster.tls();
    cluster.publish_with(&["--tls", &tls]).expect(0);
    let (node, proxy) = behind_a_proxy(&cluster);
    node.provost(&["boot"]).expect(0);
    let note = format!("doesn't say how nodes reach provostd by TLS: going on with {tls}");
    let boots = || {
        assert_eq!(named(&cluster).as_ref(), Some(&tls));
        fs::remove_dir_all(node.path("state")).unwrap();
        node.provost(&["boot"]).expect(0);
        assert_eq!(private(&proxy), [""; 0]);
    };
    // The key's folder knows it, …
    fs::remove_dir_all(cluster.www()).unwrap();
    cluster.publish().expect(0).says(&[&note]);
    boots();
    // … also where a backup of before TLS was restored, …
    fs::remove_dir_all(cluster.www()).unwrap();
    copy(&before, &cluster.www());
    cluster.publish().expect(0).says(&[&note]);
    boots();
    // … and provostd does, which has what nodes have seen.
    fs::remove_dir_all(cluster.www()).unwrap();
    fs::remove_file(cluster.path(LEDGER)).unwrap();
    cluster.publish().expect(0).says(&[&note]);
    boots();
    // What is there counts, and what is named.
    let published = cluster.publish_with(&["--refresh"]).expect(0).stderr;
    assert!(!published.contains("going on with"), "{published}");
    cluster.publish_with(&["--tls", "off"]).expect(0);
    fs::remove_dir_all(cluster.www()).unwrap();
    cluster.publish().expect(0);
    assert_eq!(named(&cluster), None);
    cluster.kill_daemon();
}

#[test]
fn where_nothing_knows_it_nothing_is_published() {
    let mut cluster = cluster();
    let tls = cluster.tls();
    cluster.publish_with(&["--tls", &tls]).expect(0);
    cluster.kill_daemon();
    fs::remove_dir_all(cluster.www()).unwrap();
    let text = fs::read_to_string(cluster.path(LEDGER)).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("tls")).collect();
    assert_ne!(lines.len(), text.lines().count());
    fs::write(cluster.path(LEDGER), lines.join("\n")).unwrap();
    let refused = cluster.publish().expect(1);
    refused.says(&[
        "whether nodes use TLS is unknown",
        "--tls \"$(provostd ca show --tls)\"",
        "--tls off",
    ]);
    assert!(!cluster.www().exists());
    cluster.publish_with(&["--tls", &tls]).expect(0);
    assert_eq!(named(&cluster), Some(tls));
}

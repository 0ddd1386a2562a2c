//! A published folder that is lost.

use insta::assert_snapshot;
use provost_tests::Cluster;

use super::{SITE, publish, publish_and};
use crate::cli_contract::HELLO;

#[test]
fn of_a_published_folder_that_is_lost_or_restored() {
    let cluster = Cluster::new();
    cluster.script("hello", HELLO).site(SITE).publish().expect(0);
    let copy = cluster.path("backup").display().to_string();
    let www = cluster.www().display().to_string();
    let cp = |from: &str, to: &str| {
        let _ = std::fs::remove_dir_all(to);
        let status = std::process::Command::new("cp").args(["-a", from, to]).status().unwrap();
        assert!(status.success());
    };
    cp(&www, &copy);
    cluster.script("hello", "#!/bin/sh\necho two\n").publish().expect(0);
    cp(&copy, &www);
    assert_snapshot!(publish(&cluster), @"
    exit status 0
    ----- stdout -----
    published generation 3 to [DIR]/www: 1 file, 1 plan
      scripts: 1 changed (hello); generation 1 -> 3
      nodes: no change
      steps: no change
      environment: no change
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    note: [DIR]/www has generation 1, and 2 was published before: going on above it
    ");
    std::fs::remove_dir_all(&www).unwrap();
    assert_snapshot!(publish(&cluster), @"
    exit status 0
    ----- stdout -----
    published generation 4 to [DIR]/www: 1 file, 1 plan
      scripts: 1 added (hello); generation 4
      nodes: 1 new (cn001)
      steps: + hello (1 node)
      environment: no change
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    note: [DIR]/www has no generation, and 3 was published before: going on above it
    ");
    assert_snapshot!(publish_and(&cluster, &["--generation-above", "50"]).transcript(), @"
    exit status 0
    ----- stdout -----
    published generation 51 to [DIR]/www: 1 file, 1 plan
      scripts: no change; generation 4 -> 51
      nodes: no change
      steps: no change
      environment: no change
    ----- stderr -----
    note: provostd wasn't asked what nodes have seen, and which keys they trust: there is no /var/lib/provostd/admin.sock
    ");
    std::fs::write(cluster.path("key/provost.published.toml"), "garbage[").unwrap();
    assert_snapshot!(publish(&cluster), @"
    exit status 1
    ----- stderr -----
    provostctl: reading [DIR]/key/provost.published.toml: key with no value, expected `=`
      hint: repair [DIR]/key/provost.published.toml, or remove it and publish with --generation-above N, where N is the newest generation that a node has seen
    ");
}

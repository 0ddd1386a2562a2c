//! A node speaks for itself only, and the management node's word counts.

use std::process::{Command, Stdio};

use provost_tests::{Cluster, Daemon, Out, accounts};
use serde_json::json;

use crate::relay::{boots, cluster, health, is_forwarded, node, relay};

const RUN: &str = "01980000-0000-7000-8000-000000000001";

/// Reports a record of `node` with a token, as curl does it: the status, then the body.
fn report(relay: &Daemon, node: &str, token: &str, seq: u64) -> (String, String) {
    let phase = if seq == 1 { "service start" } else { "stage start" };
    let record = json!([{"timestamp": "2026-11-20T17:00:00Z", "phase": phase, "stage": "one",
        "service": "run", "node": node, "run": RUN, "seq": seq}]);
    let url = format!("http://{}/v1/nodes/{node}/records", relay.nodes());
    let out: Out = Command::new("curl")
        .args(["-s", "-w", "\n%{http_code}", "--json", &record.to_string(), &url])
        .args(["-H", &format!("authorization: Bearer {token}")])
        .stdin(Stdio::null())
        .output()
        .unwrap()
        .into();
    let (body, status) = out.stdout.rsplit_once('\n').unwrap();
    (status.to_owned(), body.to_owned())
}

fn token(cluster: &Cluster, name: &str) -> String {
    let text = std::fs::read_to_string(cluster.path(&format!("nodes/{name}/token"))).unwrap();
    text.split_whitespace().last().unwrap().to_owned()
}

#[test]
fn another_nodes_token_is_refused_whether_or_not_the_management_node_is_there() {
    let mut cluster = cluster();
    let relay = relay(&cluster);
    let _nodes = ["cn1", "cn2"].map(|name| {
        let node = node(&cluster, name, &[&relay.nodes()]);
        boots(&node);
        node
    });
    let (first, second) = (token(&cluster, "cn1"), token(&cluster, "cn2"));
    let status = |node, token: &str, seq| report(&relay, node, token, seq).0;
    for seq in [1, 2] {
        assert_eq!(status("cn1", &second, seq), "403");
        assert_eq!(status("cn1", "no-token-of-anybodys", seq), "401");
    }
    assert_eq!(status("cn1", &first, 1), "200");
    is_forwarded(&relay);
    cluster.kill_daemon();
    for seq in [1, 2] {
        assert_eq!(status("cn1", &second, seq), "503");
        assert_eq!(status("cn1", "no-token-of-anybodys", seq), "503");
    }
    let (status, body) = report(&relay, "cn1", &first, 2);
    assert_eq!((&*status, &*body), ("200", r#"{"acked":2,"directive":"proceed"}"#));
    assert_eq!(health(&relay)["spooled"]["records"], 1);
}

#[test]
fn what_is_no_record_is_refused_by_the_relay_itself() {
    let mut cluster = cluster();
    let relay = relay(&cluster);
    boots(&node(&cluster, "cn1", &[&relay.nodes()]));
    is_forwarded(&relay);
    let own = token(&cluster, "cn1");
    cluster.kill_daemon();
    let url = format!("http://{}/v1/nodes/cn1/records", relay.nodes());
    let out = Command::new("curl")
        .args(["-s", "--json", "[{\"phase\": 1}]", &url])
        .args(["-H", &format!("authorization: Bearer {own}")])
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("record 0 of the batch"), "{text}");
    // Of another node.
    assert_eq!(report(&relay, "cn2", &own, 2).0, "503");
    assert_eq!(health(&relay)["spooled"]["records"], 0);
}

#[test]
fn what_is_spooled_by_a_token_that_was_replaced_goes_with_the_new_one() {
    let mut cluster = cluster();
    let relay = relay(&cluster);
    let node = node(&cluster, "cn1", &[&relay.nodes()]);
    boots(&node);
    let address = cluster.kill_daemon();
    boots(&node);
    // The relay doesn't see the management node before it has replaced the token.
    let folder = cluster.path("relay");
    relay.kill();
    cluster.start_at(&address);
    let text = cluster.ctl(&["token", "cn1"]).expect(0).stdout;
    let relay = Daemon::relay(&folder, &[&address], "");
    let refused = provost_tests::processes::until(crate::relay::SOON, || {
        let log = std::fs::read_to_string(folder.join("provostd.log")).unwrap();
        log.contains("doesn't know the token of cn1")
    });
    assert!(refused && health(&relay)["spooled"]["records"].as_u64().unwrap() >= 8);
    std::fs::write(node.path("token"), text).unwrap();
    boots(&node);
    is_forwarded(&relay);
    accounts::all_is_told(&cluster, &node, "boot");
}

#[test]
fn a_hold_comes_through_and_lasts_while_the_management_node_is_away() {
    let mut cluster = cluster();
    cluster.script("two", "#!/bin/sh\nexit 7\n").publish().expect(0);
    cluster.configure_daemon("[guard]\nmax_attempts = 2\n");
    cluster.start();
    let relay = relay(&cluster);
    let node = node(&cluster, "cn1", &[&relay.nodes()]);
    for _ in 0..2 {
        node.provost(&["boot"]).expect(1);
        is_forwarded(&relay);
    }
    let held = |node: &provost_tests::Node| {
        // What the node remembers itself doesn't count.
        std::fs::remove_dir_all(node.path("state")).unwrap();
        let out = node.provost(&["boot"]).expect(4);
        assert!(out.stderr.contains("2 attempts failed"), "{}", out.stderr);
    };
    held(&node);
    let address = cluster.kill_daemon();
    held(&node);
    cluster.start_at(&address);
    is_forwarded(&relay);
    cluster.ctl(&["release", "cn1"]).expect(0);
    cluster.script("two", "#!/bin/sh\n").publish().expect(0);
    std::fs::remove_dir_all(node.path("state")).unwrap();
    boots(&node);
}

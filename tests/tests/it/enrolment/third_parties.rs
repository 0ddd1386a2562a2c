//! The daemon's side, with OpenSSL and curl as the node.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use provost_tests::{Cluster, Postgres};
use serde_json::json;

use crate::enrolment::client::{Client, ask, join_token, run};
use crate::enrolment::{cluster, cluster_with};

/// The longest that something may take which is waited for.
const SOON: Duration = Duration::from_secs(60);

#[test]
fn a_join_token_gives_one_identity_which_speaks_for_its_node_alone() {
    let cluster = cluster();
    let token = join_token(&cluster, "cn001", &[]);
    let node = Client::new(&cluster, "cn001");
    assert_eq!(node.plan_without(), 401);
    let (status, certificate) = node.join("cn001", &token);
    assert_eq!(status, 200, "{certificate}");
    let text =
        run("openssl", &["x509", "-in", &node.file("crt"), "-noout", "-text"]).expect(0).stdout;
    assert!(text.contains("Subject: CN = cn001") || text.contains("Subject: CN=cn001"), "{text}");
    assert!(text.contains("TLS Web Client Authentication"), "{text}");
    let ca = cluster.path("ca.pem");
    run("openssl", &["verify", "-CAfile", ca.to_str().unwrap(), &node.file("crt")]).expect(0);
    let (status, plan) = node.plan("cn001");
    assert!(status == 200 && plan.contains("cn001"), "{status} {plan}");
    let (status, refusal) = node.plan("cn002");
    assert!(status == 403 && refusal.contains("the identity is cn001's"), "{status} {refusal}");

    // Who has read the token on the way, or on the kernel's command line.
    let thief = Client::new(&cluster, "thief");
    let (status, refusal) = thief.join("cn001", &token);
    assert!(status == 403 && refusal.contains("was used at"), "{status} {refusal}");
    let (status, refusal) = thief.join("cn003", &token);
    assert!(status == 403 && refusal.contains("isn't cn003's"), "{status} {refusal}");
    std::fs::copy(node.file("crt"), thief.file("crt")).unwrap();
    let (cert, key) = (thief.file("crt"), thief.file("key"));
    let url = format!("https://{}/plans/cn001.toml", thief.at);
    let args = ["-sS", "--cacert", ca.to_str().unwrap(), "--cert", &cert, "--key", &key, &url];
    run("curl", &args).expect(58);

    let shown = cluster.ctl_json(&["show", "cn001"]);
    assert_eq!(shown["identity"]["key"], node.fingerprint());
    assert!(
        certificate.contains(&format!("until: {}\n", shown["identity"]["until"].as_str().unwrap()))
    );
    let text = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
    assert!(text.contains(&format!("  identity {} until 20", node.fingerprint())), "{text}");
    let pending = cluster.ctl_json(&["pending"]);
    let pending = pending.as_array().unwrap().iter();
    let pending: Vec<_> = pending.map(|one| (&one["node"], &one["why"])).collect();
    let (one, two, three) = (json!("cn001"), json!("cn002"), json!("cn003"));
    let [spent, others, unknown] =
        ["spent-join-token", "other-nodes-key", "unknown-join-token"].map(|why| json!(why));
    assert_eq!(pending, [(&one, &spent), (&two, &others), (&three, &unknown)]);
    // A new one replaces the identity: the node was installed anew.
    let token = join_token(&cluster, "cn001", &[]);
    let anew = Client::with(
        &cluster,
        "anew",
        &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    );
    assert_eq!(anew.join("cn001", &token).0, 200);
    assert_eq!((anew.plan("cn001").0, node.plan("cn001").0), (200, 401));
}

#[test]
fn a_join_token_is_spent_by_its_first_use_and_gives_the_same_key_the_same_answer() {
    let cluster = cluster();
    let (node, user) = (Client::new(&cluster, "node"), Client::new(&cluster, "user"));
    let token = join_token(&cluster, "cn001", &[]);
    let (status, lost) = node.join("cn001", &token);
    assert_eq!(status, 200, "{lost}");
    let until =
        |answer: &str| answer.lines().find(|line| line.starts_with("until: ")).map(str::to_owned);
    let (status, again) = node.join("cn001", &token);
    assert_eq!((status, until(&again)), (200, until(&lost)), "{again}");
    // The node needs none, and presents it all the same: a user of it, who has read it, comes too late.
    let token = join_token(&cluster, "cn001", &[]);
    assert_eq!(node.join("cn001", &token).0, 200);
    let (status, refusal) = user.join("cn001", &token);
    assert!(status == 403 && refusal.contains("was used at"), "{status} {refusal}");
    assert_eq!(node.plan("cn001").0, 200, "its identity is its own still");
    // By plain HTTP it isn't presented at all.
    let token = join_token(&cluster, "cn001", &[]);
    let url = format!("http://{}/v1/nodes/cn001/enroll", cluster.daemon().nodes());
    let (header, data) =
        (format!("Authorization: Bearer {token}"), format!("@{}", user.file("csr")));
    let refused = run("curl", &["-sS", "-H", &header, "--data-binary", &data, &url]).expect(0);
    assert!(refused.stdout.contains("over TLS only"), "{}", refused.stdout);
    assert_eq!(user.join("cn001", &token).0, 200);
}

impl Client {
    fn plan_without(&self) -> u16 {
        self.curl("/plans/cn001.toml", &[]).0
    }
}

#[test]
fn a_window_gives_the_first_key_an_identity_until_it_is_closed() {
    let cluster = cluster();
    let opened = cluster.ctl(&["enroll", "open", "cn[001-002]", "--for", "1h"]).expect(0).stdout;
    let first = opened.lines().next().unwrap();
    assert!(
        first.starts_with("enrolment is open until 20") && first.ends_with(": cn[001-002]"),
        "{opened}"
    );
    let (first, second) = (Client::new(&cluster, "first"), Client::new(&cluster, "second"));
    assert_eq!(first.enroll("cn001", &[]).0, 200);
    let (status, refusal) = second.enroll("cn001", &[]);
    assert!(status == 403 && refusal.contains("came first"), "{status} {refusal}");
    let pending = &cluster.ctl_json(&["pending"])[0];
    assert_eq!(
        (&pending["why"], &pending["key"]),
        (&json!("second-key"), &json!(second.fingerprint()))
    );
    let shown = cluster.ctl(&["pending"]).expect(0);
    assert!(
        shown.stdout.contains(&second.fingerprint()) && shown.stdout.contains("has another key"),
        "{}",
        shown.stdout
    );
    // It is closed to the node that has an identity.
    assert!(
        shown.stderr.contains("enrolment is open until") && shown.stderr.ends_with(": cn002\n"),
        "{}",
        shown.stderr
    );
    assert_eq!(first.plan("cn001").0, 200);
    // One key is one node's.
    let (status, refusal) = first.enroll("cn002", &[]);
    assert!(status == 403 && refusal.contains("is cn001's"), "{status} {refusal}");
    let closed = cluster.ctl(&["enroll", "close"]).expect(0).stdout;
    assert_eq!(closed, "enrolment is closed: cn[001-002]\n");
    assert_eq!(
        cluster.ctl(&["enroll", "close", "cn002"]).expect(0).stdout,
        "enrolment wasn't open\n"
    );
    let late = Client::new(&cluster, "late");
    let (status, answer) = late.enroll("cn002", &[]);
    assert!(
        status == 202
            && answer.contains(&format!("provostctl approve cn002 {}", late.fingerprint())),
        "{answer}"
    );
    assert_eq!(late.plan_without(), 401);
    cluster
        .ctl(&["enroll", "open", "cn009", "--for", "1h"])
        .expect(1)
        .says(&["cn009 isn't in what is published"]);
}

#[test]
fn an_admin_approves_by_the_fingerprint_or_rejects() {
    let cluster = cluster();
    let (node, other) = (Client::new(&cluster, "node"), Client::new(&cluster, "other"));
    cluster.ctl(&["approve", "cn001"]).expect(1).says(&["no such key of cn001 is pending"]);
    assert_eq!((node.enroll("cn001", &[]).0, other.enroll("cn001", &[]).0), (202, 202));
    cluster
        .ctl(&["approve", "cn001"])
        .expect(1)
        .says(&["2 keys of cn001 are pending", "hint: name the one that its console shows"]);
    cluster.ctl(&["reject", "cn001", &other.fingerprint()]).expect(0);
    let (status, refusal) = other.enroll("cn001", &[]);
    assert!(status == 403 && refusal.contains("has rejected the key"), "{status} {refusal}");
    // The node waits, and hears of it at once.
    let data = format!("@{}", node.file("csr"));
    let url = format!("https://{}/v1/nodes/cn001/enroll", node.at);
    let mut waiting = Command::new("curl");
    waiting.args(["-sS", "-H", "Prefer: wait=10", "--data-binary", &data, &url]).args(node.trust());
    let begun = Instant::now();
    let waiting = waiting.stdout(Stdio::piped()).spawn().unwrap();
    let approved = cluster.ctl(&["approve", "cn001", &node.fingerprint()]).expect(0).stdout;
    assert!(
        approved.starts_with(&format!("cn001: {} is its identity until 20", node.fingerprint())),
        "{approved}"
    );
    let answer = waiting.wait_with_output().unwrap().stdout;
    assert!(begun.elapsed() < Duration::from_secs(9), "it has waited for the end");
    std::fs::write(node.file("crt"), answer).unwrap();
    assert_eq!(node.plan("cn001").0, 200);
    assert_eq!(cluster.ctl_json(&["pending"]), json!([]));
    assert_eq!(node.enroll("nobody", &[]).0, 404, "strangers can't fill the list");
    cluster.ctl(&["approve", "cn001", "SHA256:xyz"]).expect(1).says(&["isn't a fingerprint"]);
}

#[test]
fn a_join_token_counts_from_the_nodes_address_alone_and_for_its_time() {
    let cluster = cluster();
    let client = Client::new(&cluster, "client");
    let refused = |node: &str, token: &str, why: &str| {
        let (status, refusal) = client.join(node, token);
        assert!(status == 403 && refusal.contains(why), "{status} {refusal}");
    };
    let planned = join_token(&cluster, "cn002", &[]);
    refused("cn002", &planned, "is valid from 10.9.9.9 only");
    refused("cn002", &planned, "is valid from 10.9.9.9 only");
    let pending = &cluster.ctl_json(&["pending"])[0];
    assert_eq!(
        (&pending["node"], &pending["why"], &pending["address"], &pending["attempts"]),
        (&json!("cn002"), &json!("join-token-elsewhere"), &json!("127.0.0.1"), &json!(2))
    );
    let hint = pending["hint"].as_str().unwrap();
    assert!(hint.starts_with("correct IPADDR of cn002"), "{hint}");
    let elsewhere = join_token(&cluster, "cn003", &["--from", "10.0.0.0/8"]);
    refused("cn003", &elsewhere, "is valid from 10.0.0.0/8 only");
    cluster.ctl(&["join", "cn003", "--from", "10.0.0.0/40"]).expect(1).says(&["isn't a network"]);
    let token = join_token(&cluster, "cn003", &["--for", "1ms"]);
    refused("cn003", &token, "has ended");
    refused("cn003", &elsewhere, "another one has taken its place");
    let line =
        cluster.ctl(&["join", "cn003", "--from", "127.0.0.0/8", "--kernel-args"]).expect(0).stdout;
    let token = line.trim().strip_prefix("provost.join=").unwrap();
    assert_eq!(client.join("cn003", token).0, 200);
    let lines = cluster.ctl(&["join", "cn[001-002]", "--kernel-args"]).expect(0).stdout;
    assert!(lines.lines().count() == 2 && lines.starts_with("cn001 provost.join="), "{lines}");
}

#[test]
fn what_is_not_a_request_of_the_keys_owner_is_refused() {
    let cluster = cluster();
    let client = Client::new(&cluster, "client");
    cluster.ctl(&["enroll", "open", "cn001", "--for", "1h"]).expect(0);
    let der = ["req", "-in", &client.file("csr"), "-outform", "DER", "-out", &client.file("der")];
    run("openssl", &der).expect(0);
    let good = std::fs::read(client.file("der")).unwrap();
    let enroll = |bytes: &[u8]| {
        std::fs::write(client.file("csr"), bytes).unwrap();
        client.enroll("cn001", &[])
    };
    // The name, the key and the signature.
    for at in [20, good.len() / 2, good.len() - 5] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        assert_eq!(enroll(&bad).0, 422, "{at}");
    }
    assert_eq!(enroll(b"").0, 422);
    assert_eq!(enroll(b"-----BEGIN CERTIFICATE REQUEST-----\n").0, 422);
    assert_eq!(enroll(&[0x30; 20_000]).0, 413);
    let data = format!("@{}", client.file("der"));
    let plain = format!("http://{}/v1/nodes/cn001/enroll", cluster.daemon().nodes());
    let args = ["-sS", "-w", "%{http_code}", "--data-binary", &data, &plain];
    let refused = run("curl", &args).expect(0).stdout;
    assert!(refused.ends_with("403") && refused.contains("over TLS only"), "{refused}");
    assert_eq!(enroll(&good).0, 200);
}

#[test]
fn an_identity_that_has_ended_is_refused_and_one_that_is_half_over_is_to_be_renewed() {
    let cluster = cluster_with("[enroll]\nvalid_for = \"12s\"\n");
    let node = Client::new(&cluster, "node");
    cluster.ctl(&["enroll", "open", "cn001", "--for", "1h"]).expect(0);
    assert_eq!(node.enroll("cn001", &[]).0, 200);
    let (cert, key) = (node.file("crt"), node.file("key"));
    let own = ["--cert", &*cert, "--key", &*key];
    let until = |status: u16, text: &str| {
        let begun = Instant::now();
        loop {
            let (found, answer) = node.curl("/plans/cn001.toml", &[&own[..], &["-i"]].concat());
            if found == status && answer.contains(text) {
                break;
            }
            assert!(begun.elapsed() < SOON, "{found} {answer}");
        }
    };
    until(200, "provost-identity: renew");
    // Another who has seen its request prolongs nothing by it, the node itself does.
    let before = cluster.ctl_json(&["show", "cn001"])["identity"]["until"].clone();
    assert_eq!(node.enroll("cn001", &[]).0, 200);
    assert_eq!(cluster.ctl_json(&["show", "cn001"])["identity"]["until"], before);
    assert_eq!(node.enroll("cn001", &own).0, 200);
    assert_ne!(cluster.ctl_json(&["show", "cn001"])["identity"]["until"], before);
    until(401, "has ended at");
    assert_eq!(cluster.ctl_json(&["pending"])[0]["why"], "identity-ended");
    let shown = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
    assert!(shown.contains(", ended at 20"), "{shown}");
    // The window is still open: it had been the first, and no other came in between.
    assert_eq!(node.enroll("cn001", &own).0, 200);
}

#[test]
fn revoke_ends_an_identity_on_open_connections_and_in_sessions_for_good() {
    let cluster = cluster();
    let node = Client::new(&cluster, "node");
    assert_eq!(node.join("cn001", &join_token(&cluster, "cn001", &[])).0, 200);
    let bearer = cluster.ctl(&["token", "cn001"]).expect(0).stdout;
    let (cert, key) = (node.file("crt"), node.file("key"));
    let session = node.file("session");
    let mut connection = node.connect(&["-cert", &cert, "-key", &key, "-sess_out", &session]);
    assert_eq!((ask(&mut connection), ask(&mut connection)), ("200".into(), "200".into()));
    // The session alone proves the key, as long as that counts.
    let resumed = || {
        let mut connection = node.connect(&["-sess_in", &session]);
        let status = ask(&mut connection);
        connection.kill().unwrap();
        connection.wait().unwrap();
        status
    };
    assert_eq!(resumed(), "200");
    let revoked = cluster.ctl(&["revoke", "cn001"]).expect(0).stdout;
    assert_eq!(revoked, format!("cn001: revoked {}, and its tokens\n", node.fingerprint()));
    assert_eq!((ask(&mut connection), resumed()), ("401".into(), "401".into()));
    connection.kill().unwrap();
    connection.wait().unwrap();
    let (status, refusal) = node.plan("cn001");
    assert!(status == 401 && refusal.contains("was revoked"), "{status} {refusal}");
    assert_eq!(cluster.ctl_json(&["pending"])[0]["why"], "identity-revoked");
    let header = format!("Authorization: Bearer {}", bearer.split_whitespace().last().unwrap());
    assert_eq!(node.curl("/plans/cn001.toml", &["-H", &header]).0, 401, "its token as well");
    let token = join_token(&cluster, "cn001", &[]);
    assert_eq!(node.join("cn001", &token).0, 403, "the key is no good any more");
    let anew = Client::new(&cluster, "anew");
    assert_eq!(anew.join("cn001", &token).0, 403, "nor the token, which was presented");
    let token = join_token(&cluster, "cn001", &[]);
    assert_eq!((anew.join("cn001", &token).0, anew.plan("cn001").0), (200, 200));
    let unknown = cluster.ctl(&["revoke", "cn00[1-9]"]).expect(1).stderr;
    assert!(unknown.contains("no node was revoked: unknown cn[002-009]"), "{unknown}");
    assert_eq!(anew.plan("cn001").0, 200);
}

#[test]
fn an_identity_counts_and_ends_on_every_daemon_at_once() {
    let server = Postgres::start();
    let cluster = cluster_with(&format!("store = {:?}\n", server.database("identities")));
    let another = cluster.start_another("127.0.0.1:0");
    let node = Client::new(&cluster, "node");
    assert_eq!(node.join("cn001", &join_token(&cluster, "cn001", &[])).0, 200);
    let there = node.at(&another);
    assert_eq!((node.plan("cn001").0, there.plan("cn001").0), (200, 200));
    cluster.ctl(&["revoke", "cn001"]).expect(0);
    assert_eq!((there.plan("cn001").0, node.plan("cn001").0), (401, 401));
}

#[test]
fn a_flood_of_keys_pushes_out_none_that_an_admin_has_seen_and_is_one_line() {
    let cluster = cluster();
    let clients: Vec<Client> =
        (0..10).map(|n| Client::new(&cluster, &format!("client{n}"))).collect();
    let first = &clients[0];
    for client in &clients[..6] {
        assert_eq!(client.enroll("cn001", &[]).0, 202);
    }
    for client in &clients[6..] {
        for node in ["cn002", "cn003"] {
            assert_eq!(client.enroll(node, &[]).0, 202);
        }
    }
    let pending = cluster.ctl_json(&["pending"]);
    let pending = pending.as_array().unwrap();
    let keys: Vec<_> = pending.iter().filter(|one| one["node"] == "cn001").collect();
    let [newest, older] = [&clients[5], &clients[1]].map(|client| json!(client.fingerprint()));
    assert!(keys.len() == 4 && keys[0]["key"] == first.fingerprint(), "{keys:?}");
    assert!(
        keys.iter().any(|one| one["key"] == newest) && keys.iter().all(|one| one["key"] != older)
    );
    let shown = cluster.ctl(&["pending"]).expect(0);
    let lines: Vec<_> = shown.stdout.lines().collect();
    assert!(
        lines.len() == 2 && lines[1].starts_with("cn[001-003]  12 from one address"),
        "{lines:?}"
    );
    assert!(shown.stderr.contains("provostctl pending --long"), "{}", shown.stderr);
    let long = cluster.ctl(&["pending", "--long"]).expect(0).stdout;
    assert!(long.lines().count() == 13 && long.contains(&first.fingerprint()), "{long}");
    cluster.ctl(&["approve", "cn001", &first.fingerprint()]).expect(0);
    assert_eq!(first.enroll("cn001", &[]).0, 200);
    assert_eq!(first.plan("cn001").0, 200);
}

#[test]
fn nothing_leads_to_an_identity_until_nodes_know_tls_and_one_command_names_it() {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\necho one\n").site("[nodes.cn001]\npostscripts = [\"one\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    let commands: [&[&str]; 3] = [
        &["join", "cn001", "--kernel-args"],
        &["enroll", "open", "cn001", "--for", "1h"],
        &["snippet", "kickstart", "cn001", "--join"],
    ];
    let named = "provostctl publish … --tls \"$(provostd ca show --tls)\"";
    for command in commands {
        let refused = cluster.ctl(command).expect(1).says(&["names no TLS", named]);
        assert_eq!(refused.stdout, "", "{command:?}");
    }
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    for command in commands {
        cluster.ctl(command).expect(0);
    }
}

//! A manifest that has expired says nothing that a node believes, also not how to reach its server: who is in
//! between may have kept it, from before there was TLS or with an authority that was ended.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use provost_publish::SecretKey;
use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::{Cluster, Node};

use crate::tls::cluster;
use crate::tls::nodes::{behind_a_proxy, private};

/// What a manifest of long ago says of TLS: the lines that are published with `--tls TLS`, signed again.
fn long_ago(cluster: &Cluster, tls: &str) -> PathBuf {
    let before = cluster.path("long-ago");
    cluster.publish_with(&["--tls", tls]).expect(0);
    let _ = fs::remove_dir_all(&before);
    assert!(
        Command::new("cp").arg("-a").args([&cluster.www(), &before]).status().unwrap().success()
    );
    let dated = |line: &str| match line.split_once(" = ") {
        Some(("made", _)) => "made = \"2026-01-01T00:00:00Z\"\n".to_owned(),
        Some(("expires", _)) => "expires = \"2026-02-01T00:00:00Z\"\n".to_owned(),
        _ => format!("{line}\n"),
    };
    let text = fs::read_to_string(before.join("manifest.toml")).unwrap();
    let text: String = text.lines().map(dated).collect();
    let key = SecretKey::load(&cluster.path("key/provost.key")).unwrap();
    for name in ["manifest.toml", "manifests/1.toml"] {
        let signature = key.sign(text.as_bytes(), "").unwrap();
        fs::write(before.join(name), &text).unwrap();
        fs::write(before.join(format!("{name}.minisig")), signature).unwrap();
    }
    before
}

/// Lets the proxy serve all that is published from the folder.
fn replay(proxy: &Faulty, from: &Path) {
    for path in [
        "/manifest.toml",
        "/manifest.toml.minisig",
        "/manifests/",
        "/packs/",
        "/objects/",
        "/plans/",
    ] {
        proxy.fault(path, Times::Always, Fault::Replay(from.to_owned()));
    }
}

/// The node boots, and can't; nothing of it can be read or taken by who is in between.
fn gives_nothing_away(node: &Node, proxy: &Faulty) {
    for command in ["boot", "check"] {
        let mut command = node.command(&[command]);
        let out = command.env("PROVOST_JOIN", "a-join-token-that-is-long-enough").output().unwrap();
        let out = provost_tests::Out::from(out).expect(3);
        let said = out.stdout + &out.stderr;
        assert!(said.contains("has expired at 2026-02-01"), "{said}");
        assert_eq!(private(proxy), [""; 0], "{said}");
    }
}

#[test]
fn one_of_before_tls_takes_no_token_by_plain_http() {
    let cluster = cluster();
    let old = long_ago(&cluster, "off");
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    let (node, proxy) = behind_a_proxy(&cluster);
    replay(&proxy, &old);
    gives_nothing_away(&node, &proxy);
    assert_eq!(node.status()["unreported"], 4, "the failure is reported later");
    // With the right one, all is sent, and by TLS.
    proxy.repair();
    node.provost(&["boot"]).expect(0);
    assert_eq!(private(&proxy), [""; 0]);
    assert_eq!(cluster.ctl_json(&["show", "cn001"])["runs"].as_array().unwrap().len(), 2);
    // One that has lost what it kept of it still knows its server.
    fs::remove_file(node.path("state/published.json")).unwrap();
    replay(&proxy, &old);
    // It has run the very same before.
    node.provost(&["boot"]).expect(0);
    assert_eq!(private(&proxy), [""; 0]);
}

#[test]
fn an_authority_that_was_ended_is_given_no_token() {
    let (cluster, thief) = (cluster(), cluster());
    let old = long_ago(&cluster, &thief.tls());
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    let (node, proxy) = behind_a_proxy(&cluster);
    let config = node.path("provost.toml");
    let text = fs::read_to_string(&config).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("token_file")).collect();
    replay(&proxy, &old);
    gives_nothing_away(&node, &proxy);
    // Only the signer of identities may get a join token.
    fs::write(config, lines.join("\n")).unwrap();
    gives_nothing_away(&node, &proxy);
    assert_eq!(thief.ctl_json(&["pending"]), serde_json::json!([]));
}

#[test]
fn one_that_is_refreshed_is_believed() {
    let cluster = cluster();
    let key = fs::read_to_string(cluster.path("provostd/refresh/provost.pub")).unwrap();
    cluster.publish_with(&["--refresh-key", key.lines().last().unwrap()]).expect(0);
    let old = long_ago(&cluster, &cluster.tls());
    fs::remove_dir_all(cluster.www()).unwrap();
    fs::rename(old, cluster.www()).unwrap();
    let (node, proxy) = behind_a_proxy(&cluster);
    node.provost(&["boot"]).expect(0);
    assert_eq!(private(&proxy), [""; 0]);
    assert!(node.provost(&["check"]).stdout.contains("plan, token and reports go to https://"));
}

//! TLS from nodes to the management node, behind a relay.

use std::net::TcpListener;
use std::process::Command;

use provost_tests::{Cluster, Daemon, Node, accounts};

use crate::relay::{boots, cluster, health, is_forwarded};

/// The port that the manifest names, at an address of the relay's own.
fn tls_of_relay(cluster: &Cluster) -> (String, String) {
    let line = cluster.tls();
    let (port, _) = line.split_once(':').unwrap();
    (format!("127.0.0.2:{port}"), line.clone())
}

fn node(cluster: &Cluster, relay: &Daemon) -> Node {
    let node = cluster.node("cn1");
    node.configure(&format!(
        "{}[fetch]\ndeadline = \"10s\"\n[report]\ndeadline = \"3s\"\n",
        cluster.settings_for(&[&relay.nodes()])
    ));
    node
}

/// A free port of the relay's address.
fn listen() -> String {
    TcpListener::bind("127.0.0.2:0").unwrap().local_addr().unwrap().to_string()
}

#[test]
fn a_relay_without_a_certificate_passes_tls_on_unread() {
    let cluster = cluster();
    let (tls, line) = tls_of_relay(&cluster);
    cluster.publish_with(&["--tls", &line]).expect(0);
    let more = format!("listen = {:?}\n", listen());
    let more = format!("{more}tls = {{ listen = {tls:?} }}\n");
    let relay = Daemon::relay(&cluster.path("relay"), &[&cluster.daemon().nodes()], &more);
    let node = node(&cluster, &relay);
    boots(&node);
    accounts::all_is_told(&cluster, &node, "boot");
    assert_eq!(health(&relay)["spooled"]["bytes"], 0);
    let db = std::fs::read(cluster.path("relay/data/relay.db")).unwrap();
    let token = std::fs::read_to_string(node.path("token")).unwrap();
    let token = token.split_whitespace().last().unwrap().as_bytes();
    assert!(!db.windows(token.len()).any(|part| part == token), "it has never seen the token");
}

/// A relay that ends TLS itself, by a certificate that is published.
fn with_a_certificate(cluster: &Cluster) -> Daemon {
    let (tls, line) = tls_of_relay(cluster);
    let [cert, key] = ["relay.pem", "relay.key"].map(|name| cluster.path(name));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-subj", "/CN=relay", "-days", "3650", "-out"])
        .arg(&cert)
        .arg("-keyout")
        .arg(&key)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let more = format!(
        "upstreams = [{:?}]\nlisten = {:?}\nupstream_tls = {line:?}\ntls = {{ listen = {tls:?}, cert = {cert:?}, key = \
         {key:?} }}\n",
        format!("http://{}", cluster.daemon().nodes()),
        listen()
    );
    let relay = Daemon::relay(&cluster.path("relay"), &[&cluster.daemon().nodes()], &more);
    let shown = Command::new(provost_tests::program("provostd"))
        .args(["--relay", "ca", "show", "--tls", "--config"])
        .arg(cluster.path("relay/relay.toml"))
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let (_, own) = shown.trim().split_once(':').unwrap();
    cluster.publish_with(&["--tls", &format!("{line},{own}")]).expect(0);
    relay
}

#[test]
fn secrets_go_through_a_relay_over_tls_alone_and_are_not_kept_there() {
    let cluster = cluster();
    let text = std::fs::read_to_string(cluster.path("site.toml")).unwrap();
    cluster.site(&format!("{text}env_secret.LOGIN = \"corr3ct\"\n"));
    let seen = cluster.path("seen");
    cluster.script("one", &format!("#!/bin/sh\nprintf %s \"$LOGIN\" >{}\n", seen.display()));
    let relay = with_a_certificate(&cluster);
    let node = node(&cluster, &relay);
    boots(&node);
    assert_eq!(std::fs::read_to_string(seen).unwrap(), "corr3ct");
    let found = Command::new("grep").args(["-rlF", "corr3ct"]).arg(cluster.path("relay")).output();
    assert_eq!(String::from_utf8(found.unwrap().stdout).unwrap(), "");
    let url = format!("http://{}/secrets/cn1.toml", relay.nodes());
    let plain = Command::new("curl").args(["-sS", "-w", "%{http_code}", &url]).output().unwrap();
    let plain = String::from_utf8(plain.stdout).unwrap();
    assert!(plain.contains("over TLS alone") && plain.ends_with("403"), "{plain}");
}

#[test]
fn a_relay_whose_certificate_the_manifest_names_keeps_reports_and_forwards_them_over_tls() {
    let mut cluster = cluster();
    let relay = with_a_certificate(&cluster);
    let node = node(&cluster, &relay);
    boots(&node);
    let address = cluster.kill_daemon();
    boots(&node);
    assert!(health(&relay)["spooled"]["records"].as_u64().unwrap() >= 8);
    cluster.start_at(&address);
    is_forwarded(&relay);
    accounts::all_is_told(&cluster, &node, "boot");
    assert!(cluster.status("cn1").get("plainHttp").is_none(), "{:#}", cluster.status("cn1"));
}

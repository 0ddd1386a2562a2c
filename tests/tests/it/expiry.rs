//! What expires is seen before it does, and what is published is refreshed without anybody's doing.

use std::process::Command;

use provost_tests::xcat::Authority;
use provost_tests::{Cluster, Out, Postgres};
use serde_json::Value;

use crate::enrolment::client::join_token;
use crate::enrolment::{cluster_with, nodes};
use crate::stale::date;

/// What expires of the kind `what` and has this name.
fn expiring(cluster: &Cluster, what: &str, name: &str) -> Value {
    let all = cluster.ctl_json(&["expiry"]);
    let mut found = all.as_array().unwrap().iter();
    found.find(|one| one["what"] == what && one["name"] == name).cloned().unwrap_or_default()
}

/// Changes what the daemon has in its store, while it doesn't run.
fn change(cluster: &mut Cluster, statement: &str) {
    let at = cluster.kill_daemon();
    let change = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()";
    let mut python = Command::new("python3");
    python.args(["-c", change]).arg(cluster.path("provostd/provost.db")).arg(statement);
    assert!(python.status().unwrap().success());
    cluster.start_at(&at);
}

/// The sample rules for Prometheus.
const ALERTS: &str = include_str!("../../../dist/examples/monitoring/alerts.yml");

/// What is published so that half of its time is over, and its end is far.
const AT_HALF: (&str, &str) = ("2000-01-01T00:00:00Z", "2045-01-01T00:00:00Z");

#[test]
fn what_is_published_names_the_daemon_that_refreshes_it_unless_the_publisher_wants_none() {
    let mut cluster = Cluster::new();
    cluster.site("[nodes.cn001]\npostscripts = [\"say\"]\n").script("say", "#!/bin/sh\n");
    cluster.start();
    let key = std::fs::read_to_string(cluster.path("provostd/refresh/provost.pub")).unwrap();
    let key = key.lines().last().unwrap().to_owned();
    let named = || {
        let text = std::fs::read_to_string(cluster.www().join("manifest.toml")).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("refresh_key = "));
        line.map(|line| line.trim_matches('"').to_owned())
    };
    cluster.publish().expect(0);
    let node = cluster.node("cn001");
    let check = || node.provost(&["check"]).expect(0).stdout;
    assert_eq!(named(), Some(key.clone()));
    // It may be as old as it likes.
    date(&cluster, &cluster.www(), "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z");
    let published = expiring(&cluster, "publication", "all");
    assert_eq!(published["soon"], false, "{published}");
    assert!(published["expires"].as_str() > Some("2026-11"), "{published}");
    let hint = "nothing: provostd refreshes it as long as it runs";
    assert_eq!(published["hint"], hint, "{published}");
    assert!(!cluster.ctl(&["nodes"]).expect(0).stderr.contains("expire"));
    assert!(cluster.metrics().contains("provost_expiring{what=\"publication\"} 0"));
    assert!(!check().contains("valid until"), "{}", check());

    cluster.publish_with(&["--refresh-key", "off"]).expect(0);
    cluster.publish().expect(0);
    assert_eq!(named().as_deref(), Some("off"), "it stays");
    date(&cluster, &cluster.www(), AT_HALF.0, AT_HALF.1);
    let published = expiring(&cluster, "publication", "all");
    assert_eq!(published["soon"], true, "{published}");
    assert_eq!(published["expires"], AT_HALF.1);
    assert!(published["hint"].as_str().unwrap().contains(&key), "{published}");
    let note = "what is published for all nodes expires in";
    let nodes = cluster.ctl(&["nodes"]).expect(0);
    assert!(nodes.stderr.contains(note) && nodes.stderr.contains("provostctl expiry"));
    let shown = cluster.ctl(&["expiry"]).expect(0);
    assert!(shown.stdout.contains("publication") && shown.stderr.contains("--refresh"));
    // The authority's certificate has no end.
    let certificate = shown.stdout.lines().find(|line| line.contains("authority")).unwrap();
    assert!(certificate.contains("  never  "), "{certificate}");
    assert!(cluster.daemon().get("/").contains(note));
    // So does the node.
    let end = format!("what is published is valid until {}, and nothing extends that", AT_HALF.1);
    assert!(check().contains(&end) && check().contains("--refresh"), "{}", check());
    let metrics = cluster.metrics();
    for line in [
        "provost_published_expires_timestamp_seconds{channel=\"all\"} 2366841600",
        "provost_expiring{what=\"publication\"} 1",
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
    let alert = "- alert: ProvostPublishedExpires\n        expr: provost_expiring{what=\"publication\"} > 0\n";
    assert!(ALERTS.contains(alert));
    // As the hint says.
    let published = cluster.publish_with(&["--refresh-key", &key]).expect(0);
    assert!(!published.stderr.contains("warning"), "{}", published.stderr);
    assert_eq!(expiring(&cluster, "publication", "all")["soon"], false);
    assert!(!check().contains("valid until"), "{}", check());
    // Of a daemon that was set up anew.
    std::fs::remove_dir_all(cluster.path("provostd/refresh")).unwrap();
    let at = cluster.kill_daemon();
    cluster.start_at(&at);
    let published = cluster.publish().expect(0);
    assert!(published.stderr.contains("names the key of another one"), "{}", published.stderr);
}

#[test]
fn a_plan_that_expires_before_its_bundle_and_what_a_channel_has_are_seen() {
    let mut cluster = Cluster::new();
    cluster.site("[groups.all]\nnodes = \"cn[001-002]\"\npostscripts = [\"say\"]\n");
    cluster.script("say", "#!/bin/sh\n").publish_with(&["--refresh-key", "off"]).expect(0);
    cluster.start();
    assert_eq!(expiring(&cluster, "publication", "all")["soon"], false);
    let [key, www] =
        ["key/provost.key", "www"].map(|name| cluster.path(name).display().to_string());
    cluster.ctl(&["channel", "set", "canary", "cn001", "--key", &key, "--to", &www]).expect(0);
    cluster.script("say", "#!/bin/sh\necho new\n");
    cluster.publish_with(&["--to-channel", "canary", "--valid-for", "36500d"]).expect(0);
    let canary = expiring(&cluster, "publication", "canary");
    assert_eq!(canary["soon"], false, "{canary}");
    // Of cn001's plan, which the channel has, and of the manifest of all nodes, which it hasn't.
    date(&cluster, &cluster.www(), AT_HALF.0, AT_HALF.1);
    let canary = expiring(&cluster, "publication", "canary");
    assert_eq!((&canary["soon"], &canary["expires"]), (&true.into(), &AT_HALF.1.into()));
    assert!(canary["hint"].as_str().unwrap().contains("promote canary"), "{canary}");
}

#[test]
fn a_join_token_is_due_at_half_of_its_time() {
    let mut cluster = cluster_with("");
    join_token(&cluster, "cn002", &["--for", "2h"]);
    assert_eq!(expiring(&cluster, "join", "cn002")["soon"], false);
    assert!(!cluster.ctl(&["nodes"]).expect(0).stderr.contains("join token"));
    // Three quarters of its time are over.
    change(&mut cluster, "UPDATE enrolment_join SET since = since - 3 * (until - since)");
    let join = expiring(&cluster, "join", "cn002");
    assert_eq!(join["soon"], true, "{join}");
    let nodes = cluster.ctl(&["nodes"]).expect(0);
    assert!(nodes.stderr.contains("the join token of cn002 expires in"), "{}", nodes.stderr);
    assert!(cluster.metrics().contains("provost_expiring{what=\"join\"} 1"));
}

#[test]
fn an_admins_token_is_due_and_stays_listed_once_it_has_expired() {
    let mut cluster = cluster_with("");
    cluster.ctl(&["admin", "add", "ann", "--role", "operate", "--for", "10d"]).expect(0);
    let ann = expiring(&cluster, "admin", "ann");
    assert_eq!(ann["soon"], false, "{ann}");
    change(&mut cluster, "UPDATE admin SET created = created - 3 * (until - created)");
    let ann = expiring(&cluster, "admin", "ann");
    assert_eq!(ann["soon"], true, "{ann}");
    let hint =
        "provostctl admin remove ann, then provostctl admin add ann --role operate --for 40d";
    assert_eq!(ann["hint"], hint);
    let nodes = cluster.ctl(&["nodes"]).expect(0);
    assert!(nodes.stderr.contains("the token of admin ann expires in 9 d"), "{}", nodes.stderr);
    assert!(cluster.metrics().contains("provost_expiring{what=\"admin\"} 1"));
    assert!(ALERTS.contains("expr: provost_expiring{what=~\"identity|admin\"} > 0\n"), "{ALERTS}");

    change(&mut cluster, "UPDATE admin SET until = until - (until - created) / 2");
    let ann = expiring(&cluster, "admin", "ann");
    assert_eq!(ann["soon"], true, "{ann}");
    let add = "provostctl admin add ann --role operate --for 20d";
    let hint = format!("give a new one: {add}; or, if ann needs none: provostctl admin remove ann");
    assert_eq!(ann["hint"], *hint);
    let nodes = cluster.ctl(&["nodes"]).expect(0);
    assert!(nodes.stderr.contains("the token of admin ann expired 1"), "{}", nodes.stderr);
    let args: Vec<&str> = add.split(' ').skip(1).collect();
    cluster.ctl(&args).expect(0);
    assert_eq!(expiring(&cluster, "admin", "ann")["soon"], false);
    assert!(cluster.metrics().contains("provost_expiring{what=\"admin\"} 0"));
}

#[test]
fn a_certificate_of_the_site_is_due_thirty_days_before_its_end() {
    let mut cluster = Cluster::new();
    let authority = Authority::new(&cluster.path("site-ca"));
    let end = (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(20 * 24))
        .strftime("%Y%m%d%H%M%SZ");
    let (cert, key) =
        authority.issue_until("mn", "DNS:mn.example", "20250101000000Z", &end.to_string());
    let chain =
        [&cert, &authority.certificate()].map(|path| std::fs::read_to_string(path).unwrap());
    std::fs::write(&cert, chain.concat()).unwrap();
    cluster.configure_daemon(&format!(
        "[tls]\nlisten = \"127.0.0.1:0\"\ncert = {cert:?}\nkey = {key:?}\n"
    ));
    cluster.start();
    let server = expiring(&cluster, "certificate", "server");
    assert_eq!(server["soon"], true, "{server}");
    assert!(server["hint"].as_str().unwrap().starts_with("replace its file"), "{server}");
    assert_eq!(expiring(&cluster, "certificate", "authority")["soon"], false);
    let nodes = cluster.ctl(&["nodes"]).expect(0);
    assert!(nodes.stderr.contains("the server's certificate expires in 19 d"), "{}", nodes.stderr);
    assert!(cluster.metrics().contains("provost_expiring{what=\"certificate\"} 1"));
    assert!(ALERTS.contains("expr: provost_expiring{what=\"certificate\"} > 0\n"), "{ALERTS}");

    // As the hint says.
    let new = authority.issue("new", "DNS:mn.example", "20250101000000Z");
    std::fs::rename(new.0, &cert).unwrap();
    std::fs::rename(new.1, &key).unwrap();
    let at = cluster.kill_daemon();
    cluster.start_at(&at);
    assert_eq!(expiring(&cluster, "certificate", "server")["soon"], false);
    assert!(!cluster.ctl(&["nodes"]).expect(0).stderr.contains("certificate"));
}

#[test]
fn the_certificate_of_postgresql_is_seen() {
    let server = Postgres::start();
    server.database("site");
    let mut cluster = Cluster::new();
    let (password, ca) = (cluster.path("password"), server.certificate());
    std::fs::write(&password, format!("{}\n", Postgres::PASSWORD)).unwrap();
    let url = server.over_tcp("site", "localhost");
    cluster.configure_daemon(&format!(
        "store = {url:?}\n[postgres]\npassword_file = {password:?}\nca = {ca:?}\n"
    ));
    cluster.start();
    let found = expiring(&cluster, "certificate", "database");
    let mut openssl = Command::new("openssl");
    let args = ["x509", "-noout", "-enddate", "-dateopt", "iso_8601", "-in"];
    let out = Out::from(openssl.args(args).arg(ca).output().unwrap()).expect(0).stdout;
    let ends = out.trim().trim_start_matches("notAfter=").replace(' ', "T");
    assert_eq!((&found["expires"], &found["soon"]), (&ends.into(), &false.into()), "{found}");
    assert!(found["hint"].as_str().unwrap().contains("pg_reload_conf()"), "{found}");
    let metric = "provost_certificate_expiry_timestamp_seconds{certificate=\"database\"} ";
    assert!(cluster.metrics().contains(metric), "{}", cluster.metrics());
}

#[test]
fn an_identity_an_admins_token_and_a_certificate_are_seen() {
    let mut cluster = cluster_with("[enroll]\nvalid_for = \"1h\"\n");
    let token = join_token(&cluster, "cn001", &[]);
    assert_eq!(expiring(&cluster, "join", "cn001")["soon"], false);
    let (node, _proxy) = nodes::node(&cluster, "cn001", "60s");
    nodes::boot_with(&node, &token).expect(0);
    assert_eq!(expiring(&cluster, "join", "cn001"), Value::Null, "it was used");
    assert_eq!(expiring(&cluster, "identity", "cn001")["soon"], false);
    assert_eq!(cluster.status("cn001").get("expires"), None);
    cluster.ctl(&["admin", "add", "ann", "--role", "read", "--for", "90d"]).expect(0);
    assert_eq!(expiring(&cluster, "admin", "ann")["soon"], false);
    assert_eq!(expiring(&cluster, "certificate", "server")["soon"], false);
    // An hour is less than half of ninety days.
    cluster.configure_daemon("[enroll]\nvalid_for = \"90d\"\n");
    let at = cluster.kill_daemon();
    cluster.start_at(&at);
    let identity = expiring(&cluster, "identity", "cn001");
    assert_eq!(identity["soon"], true, "{identity}");
    assert_eq!(cluster.status("cn001")["expires"], identity["expires"]);
    let nodes = cluster.ctl(&["nodes"]).expect(0);
    assert!(nodes.stderr.contains("the identity of cn001 expires in"), "{}", nodes.stderr);
    // The node renews it.
    node.provost(&["boot"]).expect(0);
    assert_eq!(expiring(&cluster, "identity", "cn001")["soon"], false);
}

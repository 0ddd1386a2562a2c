//! Nodes: what is private goes over TLS alone, to the server that the signed manifest names.

use std::fs;

use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::xcat::Authority;
use provost_tests::{Cluster, Node};

use crate::tls::cluster;

/// A node that reaches the management node through a proxy which sees all that is plain.
pub(crate) fn behind_a_proxy(cluster: &Cluster) -> (Node, Faulty) {
    let node = cluster.node("cn001");
    let proxy = Faulty::before(cluster.daemon().nodes());
    let settings = cluster.settings_for(&[proxy.address()]);
    node.configure(&format!(
        "{settings}[fetch]\ndeadline = \"10s\"\n[report]\ndeadline = \"3s\"\n"
    ));
    (node, proxy)
}

/// What went by plain HTTP and is for nobody else.
pub(crate) fn private(proxy: &Faulty) -> Vec<String> {
    let exchanges = proxy.exchanges();
    let private = exchanges.iter().filter(|exchange| {
        let path = &exchange.request.path;
        path.starts_with("/plans/")
            || path.starts_with("/v1/")
            || exchange.request.header("authorization").is_some()
    });
    private.map(|exchange| exchange.request.path.clone()).collect()
}

fn status(cluster: &Cluster) -> String {
    cluster.status("cn001")["status"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_private_goes_over_tls_alone_from_the_first_boot_on() {
    let cluster = cluster();
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    let (node, proxy) = behind_a_proxy(&cluster);
    for _ in 0..2 {
        let out = node.provost(&["boot"]).expect(0);
        assert!(!out.stderr.contains("not sent yet"), "{}", out.stderr);
    }
    assert_eq!(status(&cluster), "booted");
    assert!(proxy.asked("/manifest.toml") >= 2);
    assert_eq!(private(&proxy), [""; 0]);

    // Who is in between and wants no TLS gets none of it.
    cluster.script("one", "#!/bin/sh\necho two\n");
    cluster.publish().expect(0);
    let old = cluster.path("old");
    fs::create_dir(&old).unwrap();
    let text = fs::read_to_string(cluster.www().join("manifest.toml")).unwrap();
    let stripped: String =
        text.lines().filter(|l| !l.starts_with("tls")).map(|l| format!("{l}\n")).collect();
    assert_ne!(stripped, text);
    fs::write(old.join("manifest.toml"), stripped).unwrap();
    proxy.fault("/manifest.toml", Times::Always, Fault::Replay(old));
    proxy.fault("/manifests/", Times::Always, Fault::Status(404));
    let out = node.provost(&["boot"]).expect(3);
    assert!(out.stderr.contains("it is not what key"), "{}", out.stderr);
    assert_eq!(private(&proxy), [""; 0]);
    assert_eq!(status(&cluster), "failed");
}

#[test]
fn an_older_manifest_that_names_no_tls_brings_nothing_back() {
    let cluster = cluster();
    let old = cluster.path("old");
    fs::create_dir(&old).unwrap();
    for name in ["manifest.toml", "manifest.toml.minisig"] {
        fs::copy(cluster.www().join(name), old.join(name)).unwrap();
    }
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    let (node, proxy) = behind_a_proxy(&cluster);
    node.provost(&["boot"]).expect(0);
    for name in ["/manifest.toml", "/manifest.toml.minisig"] {
        proxy.fault(name, Times::Always, Fault::Replay(old.clone()));
    }
    node.provost(&["boot"]);
    assert_eq!(private(&proxy), [""; 0]);
}

#[test]
fn a_server_that_the_manifest_does_not_name_is_refused() {
    let (cluster, other) = (cluster(), cluster());
    let (_, key) =
        cluster.tls().split_once(':').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let port = other.tls().split_once(':').unwrap().0.to_owned();
    cluster.publish_with(&["--tls", &format!("{port}:{key}")]).expect(0);
    let (node, proxy) = behind_a_proxy(&cluster);
    let out = node.provost(&["boot"]).expect(3);
    assert!(out.stderr.contains("invalid peer certificate"), "{}", out.stderr);
    assert!(out.stderr.contains("hint: look who is in between"), "{}", out.stderr);
    assert_eq!(private(&proxy), [""; 0]);
    assert_eq!(other.ctl_json(&["pending"]), serde_json::json!([]));
    // The authority's owner changes it, and the node knows by the same signed manifest.
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    node.provost(&["boot"]).expect(0);
    assert_eq!(status(&cluster), "booted");
}

/// A cluster whose server has a certificate of the site's authority, from the year 2001, for `names`.
fn with_the_sites_certificate(names: &str, has_chain: bool) -> (Cluster, Node, Faulty) {
    let mut cluster = cluster();
    let authority = Authority::new(&cluster.path("site-ca"));
    let (cert, key) = authority.issue("mn", names, "20010101000000Z");
    if has_chain {
        let text = [&cert, &authority.certificate()].map(|path| fs::read_to_string(path).unwrap());
        fs::write(&cert, text.concat()).unwrap();
    }
    cluster.configure_daemon(&format!(
        "[tls]\nlisten = \"127.0.0.1:0\"\ncert = {cert:?}\nkey = {key:?}\n"
    ));
    cluster.start();
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    let (node, proxy) = behind_a_proxy(&cluster);
    (cluster, node, proxy)
}

#[test]
fn a_sites_authority_vouches_for_the_servers_name_and_no_other() {
    let (cluster, node, _proxy) = with_the_sites_certificate("IP:127.0.0.1", true);
    node.provost(&["boot"]).expect(0);
    assert_eq!(status(&cluster), "booted");
    let (_cluster, node, proxy) = with_the_sites_certificate("DNS:cn002.example", true);
    let out = node.provost(&["boot"]).expect(3);
    assert!(out.stderr.contains("not valid for name"), "{}", out.stderr);
    assert_eq!(private(&proxy), [""; 0]);
    // Where its own key is named, the name says nothing more.
    let (_cluster, node, _proxy) = with_the_sites_certificate("DNS:cn002.example", false);
    node.provost(&["boot"]).expect(0);
}

#[test]
fn tls_can_be_taken_back() {
    let cluster = cluster();
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    let (node, proxy) = behind_a_proxy(&cluster);
    node.provost(&["boot"]).expect(0);
    cluster.publish_with(&["--tls", "off"]).expect(0);
    node.provost(&["boot"]).expect(0);
    assert!(private(&proxy).contains(&"/plans/cn001.toml".to_owned()));
    assert_eq!(status(&cluster), "booted");
}

#[test]
fn a_site_may_end_tokens_by_plain_http() {
    let mut cluster = cluster();
    let boots = |node: &Node, code| node.provost(&["boot"]).expect(code);
    let node = cluster.node("cn001");
    let warning = "WARNING: plan, token and reports go by plain HTTP";
    assert_eq!(boots(&node, 0).stderr.matches(warning).count(), 1);
    let checked = node.provost(&["check"]).stdout;
    assert!(checked.contains("plan, token and reports go by plain HTTP"), "{checked}");
    let is_marked = |cluster: &Cluster| {
        let shown = cluster.ctl(&["nodes", "--group"]).expect(0).stdout;
        assert!(shown.contains("1 node sent the token by plain HTTP\n    cn001\n"), "{shown}");
        let shown = cluster.ctl(&["nodes"]).expect(0).stdout;
        assert!(shown.contains("1 node sent the token by plain HTTP: cn001\n"), "{shown}");
        assert_eq!(cluster.status("cn001")["plainHttp"], true);
    };
    is_marked(&cluster);
    let shown = cluster.ctl(&["show", "cn001"]).expect(0).stdout;
    assert!(shown.contains("its token came by plain HTTP"), "{shown}");
    cluster.start();
    is_marked(&cluster);

    cluster.configure_daemon("[tokens]\nallowed = false\n");
    cluster.start();
    let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
    node.configure(&format!("{settings}[fetch]\ndeadline = \"5s\"\n[report]\ndeadline = \"3s\"\n"));
    cluster.script("one", "#!/bin/sh\necho two\n");
    cluster.publish().expect(0);
    // Not by the plan that is kept: the server is there, and says no.
    boots(&node, 3).says(&["the token of cn001 came by plain HTTP", "provostctl publish … --tls"]);
    let pending = cluster.ctl(&["pending"]).expect(0).stdout;
    assert!(pending.contains("token by plain HTTP"), "{pending}");
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    assert!(!boots(&node, 0).stderr.contains(warning));
    let shown = cluster.ctl(&["nodes", "--group"]).expect(0).stdout;
    assert!(!shown.contains("plain HTTP"), "{shown}");
    assert_eq!(status(&cluster), "booted");
}

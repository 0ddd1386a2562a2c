//! A node whose servers are all silent goes on with what it fetched last, if it is told to.

use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::{Cluster, Node};
use serde_json::json;

/// A node that has booted once, and its only server.
fn booted(fetch: &str) -> (Cluster, Faulty, Node) {
    let mut cluster = Cluster::new();
    cluster.script("one", "#!/bin/sh\necho one\n").script("two", "#!/bin/sh\necho two\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"one\", \"two\"]\n").publish().expect(0);
    cluster.start();
    let server = Faulty::before(cluster.daemon().nodes());
    let node = cluster.node("cn001");
    node.configure(&format!(
        "servers = [\"http://{}\"]\n[trust]\nkeys = [\"{}\"]\n[report]\ndeadline = \"1s\"\n\
         [fetch]\nstall_timeout = \"1s\"\ndeadline = \"2s\"\n{fetch}",
        server.address(),
        cluster.key()
    ));
    node.provost(&["boot"]).expect(0);
    (cluster, server, node)
}

const LAST_GOOD: &str = "offline = \"last-good\"\n";

#[test]
fn a_boot_fails_without_a_server() {
    for fetch in ["", "offline = \"fail\"\n"] {
        let (_cluster, server, node) = booted(fetch);
        server.refuse();
        node.provost(&["boot"]).expect(3).says(&["fetch: FAILED"]);
    }
}

#[test]
fn a_boot_goes_on_with_what_was_fetched_last_and_says_so() {
    let (cluster, server, node) = booted(LAST_GOOD);
    for silence in [None, Some(Fault::Stall), Some(Fault::HalfClose), Some(Fault::Reset(0))] {
        match silence {
            None => server.refuse(),
            Some(fault) => {
                server.accept();
                server.repair();
                server.fault("/", Times::Always, fault);
            }
        }
        let out = node.provost(&["boot"]).expect(0);
        out.says(&["no server responded", "last good bundle", "bundle 1 of", "two: ok"]);
        let fetch = node.status()["stages"][0].clone();
        assert_eq!(fetch["result"], "success");
        assert!(fetch["skipped"].as_str().unwrap().contains("last good"), "{fetch}");
        assert!(fetch["passedOver"][0].as_str().unwrap().contains(server.address()), "{fetch}");
    }
    server.repair();
    node.provost(&["report"]).expect(0);
    assert_eq!(cluster.status("cn001")["status"], json!("booted"));
}

#[test]
fn a_server_that_serves_something_bad_is_no_silence() {
    for fault in [Fault::Flip(100), Fault::ErrorPage, Fault::Status(403), Fault::Status(500)] {
        let (cluster, server, node) = booted(LAST_GOOD);
        cluster.script("two", "#!/bin/sh\necho newer\n").publish().expect(0);
        for path in ["/manifest.toml", "/manifests/"] {
            server.fault(path, Times::Always, fault.clone());
        }
        node.provost(&["boot"]).expect(3).says(&["fetch: FAILED"]);
    }
}

#[test]
fn what_was_fetched_last_is_verified_again() {
    let (_cluster, server, node) = booted(LAST_GOOD);
    server.refuse();
    let script = node.path("state/bundle/two");
    let right = std::fs::read(&script).unwrap();
    std::fs::write(&script, "#!/bin/sh\necho evil\n").unwrap();
    node.provost(&["boot"]).expect(3).says(&["two is damaged or missing"]);
    std::fs::write(&script, right).unwrap();
    node.provost(&["boot"]).expect(0);

    let kept = node.path("state/published.json");
    let text = std::fs::read_to_string(&kept).unwrap();
    // One script of the plan would be another one.
    let evil =
        text.replace("\\\"two\\\"]", "\\\"one\\\"]").replace("= \\\"two\\\"", "= \\\"one\\\"");
    assert_ne!(evil, text);
    std::fs::write(&kept, evil).unwrap();
    node.provost(&["boot"]).expect(3).says(&["it is not what key"]);
    std::fs::remove_file(&kept).unwrap();
    node.provost(&["boot"]).expect(3).says(&["there is none on this node yet"]);
}

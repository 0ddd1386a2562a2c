//! Nodes behind a cache, a real one: it saves the management node all but a few requests, and never
//! keeps a node from what is published now.

use std::os::unix::fs::PermissionsExt;

use provost_tests::faults::Faulty;
use provost_tests::{Cluster, Node, Varnish, WebServer, cold, skip_if};

/// A management node with what is published.
fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("hello", "#!/bin/sh\necho one\n");
    cluster.site("[nodes.\"cn[001-003]\"]\npostscripts = [\"hello\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    cluster
}

/// The same with a cache before it.
fn behind_a_cache() -> (Cluster, WebServer) {
    skip_if(WebServer::missing());
    let cluster = cluster();
    let own = cluster.path("cache");
    std::fs::create_dir(&own).unwrap();
    for folder in [cluster.path(""), own.clone()] {
        // nobody has to get through.
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let cache = WebServer::cache(&own, &cluster.daemon().nodes());
    (cluster, cache)
}

fn node(cluster: &Cluster, cache: &str, name: &str) -> Node {
    let node = cluster.node(name);
    node.configure(&cluster.settings_for(&[cache]));
    node
}

/// Boots it, by `generation` of the bundle.
#[track_caller]
fn boots(cluster: &Cluster, node: &Node, generation: u64) {
    node.provost(&["boot"]).expect(0);
    let shown = cluster.status(node.name());
    assert_eq!((&shown["status"], &shown["bundle"]), (&"booted".into(), &generation.into()));
}

#[test]
fn a_thousand_cold_nodes_behind_nginx_cost_the_management_node_what_one_does() {
    let (cluster, cache) = behind_a_cache();
    boots(&cluster, &node(&cluster, cache.address(), "cn001"), 1);
    let [first, _] = cache.passed_on();
    assert!((2..10).contains(&first.len()), "{first:?}");
    cold::fetch(cache.address(), &first, 999, &cluster.www());
    let [passed_on, own] = cache.passed_on();
    // Half a minute may have gone by, more than once where the machine is busy.
    assert!(passed_on.len() < 20, "{passed_on:?}");
    assert!(own.len() + passed_on.len() >= 1000 * first.len(), "{}", own.len());
}

#[test]
fn a_thousand_cold_nodes_behind_varnish_cost_the_management_node_what_one_does() {
    skip_if(Varnish::missing());
    let cluster = cluster();
    let upstream = Faulty::before(cluster.daemon().nodes());
    let cache = Varnish::start(&cluster.path(""), upstream.address());
    let node = node(&cluster, cache.address(), "cn001");
    boots(&cluster, &node, 1);
    let first = cold::files_asked(&upstream);
    assert!((2..10).contains(&first.len()), "{first:?}");
    cold::fetch(cache.address(), &first, 999, &cluster.www());
    let asked = cold::files_asked(&upstream);
    assert!(asked.len() < 20, "{asked:?}");
    for generation in 2..4 {
        cluster.script("hello", &format!("#!/bin/sh\necho {generation}\n"));
        cluster.publish().expect(0);
        boots(&cluster, &node, generation);
    }
}

#[test]
fn what_is_published_reaches_a_node_at_once_whatever_the_cache_has() {
    let (cluster, cache) = behind_a_cache();
    let (warm, cold) =
        (node(&cluster, cache.address(), "cn001"), node(&cluster, cache.address(), "cn002"));
    boots(&cluster, &warm, 1);
    for generation in 2..4 {
        cluster.script("hello", &format!("#!/bin/sh\necho {generation}\n"));
        cluster.publish().expect(0);
        boots(&cluster, &warm, generation);
        boots(&cluster, &cold, generation);
    }
    let [_, own] = cache.passed_on();
    assert!(own.iter().any(|path| path == "/manifest.toml"), "the cache was asked: {own:?}");
}

#[test]
fn a_cache_with_the_signature_of_another_generation_keeps_no_node_from_booting() {
    let (cluster, cache) = behind_a_cache();
    // As if the one had come a moment before the publish, and the other a moment after.
    let get = |path: &str| {
        let url = format!("http://{}/{path}", cache.address());
        let out = std::process::Command::new("curl").args(["-sf", &url]).output().unwrap();
        assert!(out.status.success(), "{url}");
    };
    get("manifest.toml.minisig");
    cluster.script("hello", "#!/bin/sh\necho two\n");
    cluster.publish().expect(0);
    get("manifest.toml");
    boots(&cluster, &node(&cluster, cache.address(), "cn001"), 2);
}

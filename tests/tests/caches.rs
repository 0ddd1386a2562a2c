//! Nodes behind a cache, a real one: it saves the management node all but a few requests, and never
//! keeps a node from what is published now.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::os::unix::fs::PermissionsExt;

use provost_tests::{Cluster, Node, WebServer};

/// A management node and the cache before it; none where there is no nginx.
fn behind_a_cache() -> Option<(Cluster, WebServer)> {
    let mut cluster = Cluster::new();
    cluster.script("hello", "#!/bin/sh\necho one\n");
    cluster.site("[nodes.\"cn[001-040]\"]\npostscripts = [\"hello\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    let own = cluster.path("cache");
    std::fs::create_dir(&own).unwrap();
    for folder in [cluster.path(""), own.clone()] {
        // nobody has to get through.
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let cache = WebServer::cache(&own, &cluster.daemon().nodes());
    if cache.is_none() {
        eprintln!("SKIPPED: it takes nginx, and root to start it");
    }
    Some((cluster, cache?))
}

fn node(cluster: &Cluster, cache: &WebServer, name: &str) -> Node {
    let node = cluster.node(name);
    node.configure(&cluster.settings_for(&[cache.address()]));
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
fn forty_cold_nodes_behind_a_cache_cost_the_management_node_what_one_does() {
    let Some((cluster, cache)) = behind_a_cache() else { return };
    boots(&cluster, &node(&cluster, &cache, "cn001"), 1);
    let [first, _] = cache.passed_on();
    assert!((3..10).contains(&first.len()), "{first:?}");
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (cluster, cache) = (&cluster, &cache);
            let own = move |number: &u32| number % 4 == worker;
            scope.spawn(move || {
                for number in (2..=40).filter(own) {
                    boots(cluster, &node(cluster, cache, &format!("cn{number:03}")), 1);
                }
            });
        }
    });
    let [passed_on, own] = cache.passed_on();
    // Half a minute may have gone by, more than once where the machine is busy.
    assert!(passed_on.len() < 20, "{passed_on:?}");
    assert!(own.len() + passed_on.len() >= 40 * first.len(), "{own:?}");
}

#[test]
fn what_is_published_reaches_a_node_at_once_whatever_the_cache_has() {
    let Some((cluster, cache)) = behind_a_cache() else { return };
    let (warm, cold) = (node(&cluster, &cache, "cn001"), node(&cluster, &cache, "cn002"));
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
    let Some((cluster, cache)) = behind_a_cache() else { return };
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
    boots(&cluster, &node(&cluster, &cache, "cn001"), 2);
}

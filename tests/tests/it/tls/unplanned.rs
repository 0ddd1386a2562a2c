//! A node that isn't in what is published has no plan; how its reports go, the manifest says all the same.

use std::fs;

use crate::tls::cluster;
use crate::tls::nodes::{behind_a_proxy, private};

#[test]
fn a_node_without_a_plan_shows_its_token_to_nobody() {
    let cluster = cluster();
    let (node, proxy) = behind_a_proxy(&cluster);
    cluster.site("[nodes.cn002]\npostscripts = [\"one\"]\n");
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    for _ in 0..2 {
        node.provost(&["boot"]).expect(3).says(&["404", "name this node in site.toml"]);
        assert_eq!(private(&proxy), [""; 0]);
        let status = cluster.status("cn001");
        assert_eq!(status["status"], "defined");
        assert!(status["waiting"].as_str().is_some_and(|why| why.contains("no plan")), "{status}");
        fs::remove_dir_all(node.path("state")).unwrap();
    }
    // One that has a disk and was published before.
    cluster.site("[nodes.\"cn[001-002]\"]\npostscripts = [\"one\"]\n").publish().expect(0);
    node.provost(&["boot"]).expect(0);
    cluster.site("[nodes.cn002]\npostscripts = [\"one\"]\n").publish().expect(0);
    node.provost(&["boot"]).expect(3);
    assert_eq!(private(&proxy), [""; 0]);
}

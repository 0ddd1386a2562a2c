//! Nodes that ask for an identity before the site names them.

use crate::enrolment::client::run;
use crate::enrolment::nodes::node;
use crate::enrolment::{cluster, cluster_with};

/// The row of a node in `provostctl nodes`.
fn row(cluster: &provost_tests::Cluster, name: &str) -> String {
    let nodes = cluster.ctl(&["nodes", "--long"]).expect(0).stdout;
    let row = nodes.lines().find(|line| line.starts_with(&format!("{name}  ")));
    row.unwrap_or_else(|| panic!("no {name} in {nodes}")).to_owned()
}

#[test]
fn it_is_listed_with_what_it_waits_for_until_it_boots() {
    let cluster = cluster();
    let (node, _proxy) = node(&cluster, "cn007", "2s");
    // It was made with a token, by which somebody would have named it.
    cluster.ctl(&["remove", "cn007", "--yes"]).expect(0);
    // At its end it has tried to report as well, by a key that nobody knows.
    node.provost(&["boot"]).expect(3).says(&["is no node's identity"]);
    let shown = cluster.status("cn007");
    assert_eq!(shown["status"], "defined", "{shown}");
    let waiting = shown["waiting"].as_str().unwrap();
    assert!(waiting.starts_with("no plan is published for it (since 20"), "{waiting}");
    assert!(waiting.contains("), from 127.0.0.1: name it in site.toml and publish"), "{waiting}");
    let since = waiting.split(')').next().unwrap().to_owned();
    node.provost(&["boot"]).expect(3);
    let listed = row(&cluster, "cn007");
    assert!(listed.starts_with("cn007  defined  ") && listed.contains(&since), "{listed}");
    let text = cluster.ctl(&["show", "cn007"]).expect(0).stdout;
    assert!(text.contains(&since), "{text}");
    for path in ["/nodes?status=defined", "/nodes?q=cn00", "/nodes/cn007"] {
        let page = cluster.daemon().get(path);
        assert!(page.contains("cn007") && page.contains(&since), "{path}: {page}");
    }
    // Anybody may give any name: no command takes it from a set, and none does anything about it.
    for set in [&["@status:defined"][..], &["--status", "defined"], &[]] {
        let names = cluster.ctl(&[&["nodes", "-o", "NODES"], set].concat()).expect(0).stdout;
        assert_eq!(names, "cn[001-003]\n", "{set:?}");
    }
    cluster.ctl(&["join", "cn007"]).expect(1).says(&["cn007 isn't in what is published"]);

    cluster.site("[nodes.\"cn[001-003,007]\"]\npostscripts = [\"one\"]\n");
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    assert_eq!(cluster.status("cn007").get("waiting"), None, "its next try finds the plan");
    node.provost(&["boot"]).expect(3);
    let key = cluster.ctl_json(&["pending"])[0]["key"].as_str().unwrap().to_owned();
    let why = format!("not approved, from 127.0.0.1: provostctl approve cn007 {key}");
    assert!(row(&cluster, "cn007").contains(&why), "{}", row(&cluster, "cn007"));
    let page = cluster.daemon().get("/nodes");
    assert!(page.contains(&why), "{page}");
    cluster.ctl(&["approve", "cn007", &key]).expect(0);
    node.provost(&["boot"]).expect(0);
    let shown = cluster.status("cn007");
    assert_eq!((&shown["status"], shown.get("waiting")), (&"booted".into(), None), "{shown}");
}

#[test]
fn who_has_no_identity_is_told_what_works_where_tokens_do_not() {
    let cluster = cluster_with("[tokens]\nallowed = false\n");
    let base = format!("http://{}/v1/nodes", cluster.daemon().nodes());
    let refused = |name: &str| {
        let url = format!("{base}/{name}/records");
        run("curl", &["-sS", "--data", "[]", &url]).expect(0).stdout
    };
    let said = refused("cn001");
    assert!(said.contains("provostctl enroll open cn001; or provostctl join cn001"), "{said}");
    let said = refused("evil999");
    let hint = "name it in site.toml and publish, then: provostctl join evil999";
    assert!(said.contains(hint), "{said}");
    let pending = cluster.ctl_json(&["pending"]);
    assert_eq!(pending[1]["hint"], hint, "{pending}");
    let all = format!("{pending}{}", cluster.ctl(&["nodes"]).expect(0).stderr);
    assert!(!all.contains("provostctl token"), "{all}");
    let wait = ["wait-for", "evil999", "--status", "booted", "--timeout", "1s"];
    let hint = "hint: list all nodes: provostctl nodes; or name them in site.toml, and publish";
    cluster.ctl(&wait).expect(2).says(&[hint]);
}

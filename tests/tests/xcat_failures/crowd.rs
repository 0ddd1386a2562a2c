//! Many at once.

use provost_tests::xcat::{WebKind, XcatServer, mypostscript};

use super::{IN_VAIN, RAN};

/// How many nodes boot at once.
const NODES: usize = 12;

#[test]
fn f17_many_nodes_boot_at_once_from_one_server() {
    let server = XcatServer::new();
    server.script("last", RAN);
    for n in 0..40 {
        server.script(&format!("more/script{n}"), &format!("#!/bin/sh\necho {n}\n"));
    }
    let Some(web) = server.web(WebKind::Apache) else { return };
    let names: Vec<String> = (0..NODES).map(|n| format!("cn{n:03}")).collect();
    let nodes: Vec<_> = names
        .iter()
        .map(|name| {
            server.mypostscript(name, &mypostscript("", &["last"], &[]));
            let node = server.node(name, web.address());
            node.configure(IN_VAIN);
            node
        })
        .collect();
    let mut runs: Vec<_> = nodes.iter().map(|node| node.spawn(&["boot"])).collect();
    for (run, node) in runs.iter_mut().zip(&nodes) {
        assert_eq!(run.wait().unwrap().code(), Some(0), "{}", node.status());
        assert!(node.path("ran").exists());
    }
}

//! Many at once.

use std::time::Instant;

use provost_tests::program;
use provost_tests::xcat::monitor::{Habit as MonitorHabit, Monitor};
use provost_tests::xcat::{Habit, MOST_AT_ONCE, WebKind, XcatServer, Xcatd, mypostscript};

use super::RAN;

/// How many nodes boot at once. For as many, xCAT takes 15 times as long as for one.
const NODES: usize = 200;

#[test]
fn f17_more_nodes_than_xcatd_serves_at_once_boot_from_one_management_node() {
    let (server, web) = XcatServer::with_web(WebKind::Apache);
    server.script("last", RAN);
    for n in 0..40 {
        server.script(&format!("more/script{n}"), &format!("#!/bin/sh\necho {n}\n"));
    }
    let text = mypostscript("", &["last"], &[]);
    let xcatd = Xcatd::start(&server.path("xcatd"), Habit::Crowded(text));
    let monitor = Monitor::start(MonitorHabit::Right);
    let node = |n| {
        let node = server.node(&format!("cn{n:03}"), web.address());
        node.configure(&format!(
            "xcatd_port = {}\nmonitor_port = {}\n[fetch]\nstall_timeout = \"2m\"\n\
             [report]\ndeadline = \"5m\"\n",
            xcatd.port(),
            monitor.port()
        ));
        node
    };
    let nodes: Vec<_> = (0..NODES).map(node).collect();
    program("provost");
    let began = Instant::now();
    let mut runs: Vec<_> = nodes.iter().map(|node| node.spawn(&["boot"])).collect();
    for (run, node) in runs.iter_mut().zip(&nodes) {
        assert_eq!(run.wait().unwrap().code(), Some(0), "{}", node.status());
        assert!(node.path("ran").exists());
    }
    eprintln!("{NODES} nodes: {:?}", began.elapsed());
    let booted = monitor.said().iter().filter(|said| *said == "installstatus booted").count();
    assert_eq!(booted, NODES);
    assert!(NODES > MOST_AT_ONCE && xcatd.requests() >= NODES);
}

//! What waits without a reason.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use provost_tests::program;
use provost_tests::xcat::XcatServer;

use super::{IN_VAIN, RAN, Site};

#[test]
fn f12_no_deployment_sleeps() {
    let Some(site) = Site::new(&[("first", RAN)]) else { return };
    // Each of xCAT's sleeps for 0 to 59 s: that four of them take so little in all happens to it
    // once in 800 times.
    let began = Instant::now();
    for _ in 0..4 {
        site.node.provost(&["kickstart"]).expect(0);
        site.node.provost(&["xcatinstallpost"]).expect(0);
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn f12_a_rack_that_is_turned_away_does_not_come_back_alike() {
    let server = XcatServer::new();
    program("provost");
    // Each has a web server of its own, so that it is known who comes when.
    let begin = |n| {
        let web = TcpListener::bind("127.0.0.1:0").unwrap();
        let node = server.node(&format!("cn{n:03}"), &web.local_addr().unwrap().to_string());
        node.configure(&format!("[fetch]\ndeadline = \"5m\"\n{IN_VAIN}"));
        (node.spawn(&["boot"]), std::thread::spawn(move || comes_back(&web)))
    };
    let rack: Vec<_> = (0..8).map(begin).collect();
    let mut took = Vec::new();
    for (mut boot, web) in rack {
        took.push(web.join().unwrap());
        boot.kill().unwrap();
        boot.wait().unwrap();
    }
    // Those that all draw by the second of their clocks are at it for the same time.
    let spread = *took.iter().max().unwrap() - *took.iter().min().unwrap();
    assert!(spread > Duration::from_millis(500), "{took:?}");
}

/// Turns a node away that makes two requests at once, six times. Returns how long it was at it.
fn comes_back(web: &TcpListener) -> Duration {
    let mut come = web.incoming().take(12).map(|_| Instant::now());
    let first = come.next().unwrap();
    come.last().unwrap() - first
}

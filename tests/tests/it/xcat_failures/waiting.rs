//! What waits without a reason.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use provost_tests::program;
use provost_tests::xcat::XcatServer;
use provost_tests::xcat::monitor::{Habit, Monitor};

use super::{IN_VAIN, RAN, Site};

#[test]
fn f12_no_deployment_sleeps() {
    let site = Site::new(&[("first", RAN)]);
    let monitor = Monitor::start(Habit::Right);
    site.configure(&format!("monitor_port = {}\n", monitor.port()));
    // Each of xCAT's sleeps for 0 to 59 s: that six of them take so little in all happens to it
    // once in 400,000 times.
    let began = Instant::now();
    for _ in 0..6 {
        site.node.provost(&["kickstart"]).expect(0);
        site.node.provost(&["xcatinstallpost"]).expect(0);
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

/// How many nodes are switched on at once.
const RACK: usize = 16;

#[test]
fn f12_a_rack_that_is_turned_away_does_not_come_back_alike() {
    let server = XcatServer::new();
    program("provost");
    // Each has a web server of its own, so that it is known who comes when.
    let begin = |n| {
        let web = TcpListener::bind("127.0.0.1:0").unwrap();
        let node = server.node(&format!("cn{n:03}"), &web.local_addr().unwrap().to_string());
        node.configure(IN_VAIN);
        (node.spawn(&["boot"]), std::thread::spawn(move || comes_back(&web)))
    };
    let rack: Vec<_> = (0..RACK).map(begin).collect();
    let mut waits = Vec::new();
    for (mut boot, web) in rack {
        waits.push(web.join().unwrap());
        boot.kill().unwrap();
        boot.wait().unwrap();
    }
    // Of waits up to 200 ms one pair in ten is alike, and where a clock's second says which they
    // are, all of that second.
    let all = waits.iter().enumerate();
    let pairs = all.flat_map(|(n, one)| waits[n + 1..].iter().map(|other| one.abs_diff(*other)));
    let alike = pairs.filter(|apart| *apart < Duration::from_millis(10)).count();
    assert!(alike < RACK * (RACK - 1) / 2 / 3, "{alike} pairs of {waits:?}");
}

/// Turns a node away, which makes two requests at once. Returns how long it waits then.
fn comes_back(web: &TcpListener) -> Duration {
    let come: Vec<_> = web.incoming().take(3).map(|_| Instant::now()).collect();
    come[2] - come[1]
}

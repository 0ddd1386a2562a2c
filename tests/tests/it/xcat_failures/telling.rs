//! Whom the status is told.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use provost_tests::xcat::monitor::{Habit, Monitor};
use provost_tests::xcat::{XcatNode, mypostscript};
use provost_tests::{Out, processes};

use super::Site;

/// Far below what xCAT's scripts wait for such a monitor.
const SOON: Duration = Duration::from_secs(60);

/// A site whose monitor is `monitor`.
fn site(monitor: &Monitor) -> Site {
    let site = Site::new(&[]);
    site.configure(&format!("monitor_port = {}\n", monitor.port()));
    site
}

#[test]
fn f01_a_node_whose_installer_failed_does_not_install_again_and_says_failed() {
    let monitor = Monitor::start(Habit::Right);
    let site = site(&monitor);
    let more = format!("monitor_port = {}\n[report]\ndeadline = \"1m\"\n", monitor.port());
    site.node.configure(&more);
    std::fs::remove_file(site.server.postscripts("last")).unwrap();
    site.node.provost(&["kickstart"]).expect(3);
    let said = monitor.said();
    let at = |words: &str| said.iter().position(|said| said == words).unwrap_or(usize::MAX);
    // That it installs needn't be told once it is past.
    let order = [at("next"), at("installstatus failed")];
    assert!(order.is_sorted() && order[1] < usize::MAX, "{said:?}");
}

/// What xCAT's boot unit does on a node that xCAT has installed, whose tables have nothing run at
/// later boots: of those it tells by itself, and calls nothing.
fn boots(node: &XcatNode) -> Option<Out> {
    let info = std::fs::read_to_string(node.path("xcat/xcatinfo")).unwrap_or_default();
    let has_booted = info.lines().any(|line| line == "REBOOT=TRUE");
    (!has_booted).then(|| node.provost(&["xcatinstallpost"]))
}

#[test]
fn f07_a_first_boot_that_a_script_cut_off_is_told_as_booted_once_the_rest_has_run() {
    // The machine goes down under the run; or the script fails, or asks for a reboot.
    let dies = "kill -KILL $(ps -o ppid= -p $PPID)\nsleep 600\n";
    let asks = "echo kernel >\"$PROVOST_REBOOT\"\n";
    for (ends, exit) in [(dies, None), ("exit 1\n", Some(1)), (asks, Some(0))] {
        for by_provost in [true, false] {
            let monitor = Monitor::start(Habit::Right);
            let cut = format!("#!/bin/bash\n[ -e ../down ] && exit\ntouch ../down\n{ends}");
            let site = Site::new(&[("cut", &cut)]);
            site.server.mypostscript("cn001", &mypostscript("", &[], &["cut", "last"]));
            let port = monitor.port();
            site.node.configure(&format!("monitor_port = {port}\n[report]\ndeadline = \"1m\"\n"));
            if by_provost {
                site.node.provost(&["kickstart"]).expect(0);
            }
            assert_eq!(boots(&site.node).unwrap().code, exit);
            let booted = || monitor.said().contains(&"installstatus booted".to_owned());
            assert!(!booted() && site.ran().is_empty());
            let again = boots(&site.node).expect("the unit takes the first boot for past");
            again.expect(0);
            assert!(booted(), "{:?}", monitor.said());
            assert_eq!(site.ran(), ["last"]);
            // Now it is one like any other.
            assert!(boots(&site.node).is_none());
        }
    }
}

#[test]
fn f10_a_monitor_that_others_hold_up_delays_no_script_and_hears_of_the_boot_in_its_turn() {
    let monitor = Monitor::start(Habit::Right);
    let site = site(&monitor);
    site.node
        .configure(&format!("monitor_port = {}\n[report]\ndeadline = \"1m\"\n", monitor.port()));
    // Each has the monitor to itself for 2 s.
    let connect = |_| TcpStream::connect(("127.0.0.1", monitor.port())).unwrap();
    let silent: Vec<_> = (0..5).map(connect).collect();
    let boot = site.node.spawn(&["boot"]);
    assert!(processes::until(SOON, || !site.ran().is_empty()), "the script waits");
    assert_eq!(monitor.said(), [""; 0], "the script ran only after the monitor's turn");
    let out = Out::from(boot.wait_with_output().unwrap()).expect(0);
    // That it boots needn't be told once it has booted.
    out.says(&["the install monitor has read: installstatus booted"]);
    assert_eq!(monitor.said(), ["installstatus booted"]);
    drop(silent);
}

#[test]
fn f11_a_monitor_that_does_not_know_the_nodes_address_delays_no_script_and_is_told_of() {
    let monitor = Monitor::start(Habit::Closes);
    let site = site(&monitor);
    let began = Instant::now();
    let out = site.node.provost(&["boot"]).expect(0);
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    assert_eq!(site.ran(), ["last"]);
    out.says(&["as to an address of no node", "makedns cn001"]);
}

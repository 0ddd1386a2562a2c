//! Which words an xCAT management node is told, by what its own tables and programs say.

use std::time::Duration;

use provost_tests::xcat::monitor::{Habit, Monitor};
use provost_tests::xcat::{Web, WebKind, XcatNode, XcatServer, mypostscript};
use provost_tests::{Out, pipe, processes};

const NETBOOTING: &str = "installstatus netbooting";
const POSTBOOTING: &str = "installstatus postbooting";
const BOOTED: &str = "installstatus booted";
/// The longest that anything here is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A node with one script in both lists, and the monitor that hears of it.
struct Site {
    server: XcatServer,
    /// It serves while it is there.
    _web: Web,
    monitor: Monitor,
    node: XcatNode,
}

impl Site {
    fn new() -> Self {
        let (server, web) = XcatServer::with_web(WebKind::Nginx);
        server.script("one", "#!/bin/sh\n");
        let (monitor, node) = (Monitor::start(Habit::Right), server.node("cn001", web.address()));
        let site = Self { server, _web: web, monitor, node };
        site.table("");
        site.report_within("1m");
        site
    }

    /// Has the site table say so.
    fn table(&self, preamble: &str) {
        self.server.mypostscript("cn001", &mypostscript(preamble, &["one"], &["one"]));
    }

    fn report_within(&self, deadline: &str) {
        let port = self.monitor.port();
        let text = format!("monitor_port = {port}\n[report]\ndeadline = \"{deadline}\"\n");
        self.node.configure(&text);
    }

    /// What a run that ends well had to tell, told in time or not.
    fn told(&self, args: &[&str]) -> Vec<String> {
        self.node.provost(args).expect(0);
        let status = self.node.status();
        let told = status["monitor"].as_array().unwrap().iter();
        told.map(|told| told["told"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn no_status_is_told_where_the_site_table_says_so_and_next_all_the_same() {
    let site = Site::new();
    for no in ["0", "n", "NO"] {
        site.table(&format!("NODESTATUS='{no}'\nexport NODESTATUS"));
        site.monitor.refuse();
        site.report_within("100ms");
        site.node.provost(&["kickstart"]).expect(0).says(&["NODESTATUS in the site table"]);
        site.node.boot(0);
        site.monitor.listen();
        site.report_within("1m");
        let before = site.monitor.said().len();
        site.node.provost(&["report"]).expect(0);
        assert_eq!(site.monitor.said()[before..], ["next"], "{no}");
    }
}

#[test]
fn what_xcats_initrd_and_unit_have_said_is_not_taken_back() {
    let site = Site::new();
    let unit = site.node.path("etc/systemd/system/xcatpostinit1.service");
    std::fs::create_dir_all(unit.parent().unwrap()).unwrap();
    std::fs::write(unit, "[Unit]\n").unwrap();
    site.table("RUNBOOTSCRIPTS=yes\nexport RUNBOOTSCRIPTS");
    for line in ["xcatdsklspost", "xcatdsklspost 4", "xcatinstallpost", "xcatdsklspost 6"] {
        let args: Vec<&str> = line.split(' ').collect();
        assert_eq!(site.told(&args), [BOOTED], "{line}");
    }
}

#[test]
fn a_boot_says_that_it_boots_where_nobody_else_does_and_something_runs() {
    let site = Site::new();
    let (ran, gate) = (site.server.path("ran"), site.server.path("gate"));
    pipe(&gate);
    let script = format!("#!/bin/sh\n: >'{}'\nread -r line <'{}'\n", ran.display(), gate.display());
    site.server.script("one", &script).mypostscript("cn001", &mypostscript("", &[], &["one"]));
    let slowly = |args: &[&str]| {
        let before = site.monitor.said().len();
        let run = site.node.spawn(args);
        assert!(processes::until(PATIENCE, || ran.exists()));
        // What is newer would take its place.
        site.monitor.hears_so_much(before + 1);
        std::fs::write(&gate, "go\n").unwrap();
        Out::from(run.wait_with_output().unwrap()).expect(0);
        std::fs::remove_file(&ran).unwrap();
        site.monitor.said().split_off(before)
    };
    assert_eq!(slowly(&["xcatdsklspost"]), [NETBOOTING, BOOTED]);
    assert_eq!(slowly(&["xcatinstallpost"]), [POSTBOOTING, BOOTED]);
    // At a later boot nothing runs.
    assert_eq!(site.told(&["xcatdsklspost", "6"]), [BOOTED]);
    let runs = "RUNBOOTSCRIPTS=yes\nexport RUNBOOTSCRIPTS";
    site.server.mypostscript("cn001", &mypostscript(runs, &[], &["one"]));
    assert_eq!(slowly(&["xcatdsklspost", "6"]), [POSTBOOTING, BOOTED]);
}

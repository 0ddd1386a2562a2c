//! What scripts do.

use provost_tests::xcat::monitor::{Habit as MonitorHabit, Monitor};
use provost_tests::xcat::{Habit, Xcatd, mypostscript, says};
use provost_tests::{pipe, processes};

use super::{RAN, Site};

#[test]
fn f06_a_background_process_that_holds_the_output_blocks_nothing() {
    let daemon = "#!/bin/bash\nsleep 600 &\necho $! >../pid\n";
    let site = Site::new(&[("daemon", daemon)]);
    site.configure("[run]\nleak = \"1s\"\n");
    site.node.provost(&["boot"]).expect(0).says(&["left processes behind", "sleep"]);
    assert_eq!(site.ran(), ["last"]);
    let pid = std::fs::read_to_string(site.node.path("pid")).unwrap();
    let pid: i32 = pid.trim().parse().unwrap();
    assert!(processes::look(pid).is_some(), "what it left on purpose lives on");
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn f07_after_a_script_that_reboots_the_rest_runs_and_nobody_says_booted_before() {
    // The machine goes down under the run.
    let reboots = "#!/bin/bash\n[ -e ../down ] && exit\ntouch ../down\n\
                   kill -KILL $(cat ../runner)\nsleep 600\n";
    let site = Site::new(&[("first", RAN), ("reboots", reboots)]);
    let mut run = site.node.command(&["boot"]);
    let line = format!("echo $$ >'{}'; exec \"$@\"", site.node.path("runner").display());
    let mut by = std::process::Command::new("sh");
    by.args(["-c", &line, "sh"]).arg(run.get_program()).args(run.get_args());
    by.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert_eq!(by.output().unwrap().status.code(), None);
    assert_eq!(site.ran(), ["first"]);
    run.output().unwrap();
    assert_eq!(site.ran(), ["first", "first", "last"]);
    let journal = site.node.journal("boot");
    let ends: Vec<_> = journal.iter().filter(|e| e["phase"] == "service end").collect();
    assert_eq!((&ends[0]["result"], &ends[0]["cause"]), (&"failure".into(), &"interrupted".into()));
    assert_eq!(ends[1]["result"], "success");

    // One that asks for it goes on with the next script.
    let asks = "#!/bin/bash\necho kernel >\"$PROVOST_REBOOT\"\necho asked >>../ran\n";
    let site = Site::new(&[("asks", asks)]);
    site.node.provost(&["boot"]).expect(0);
    assert_eq!(site.node.reboots().len(), 1);
    assert_eq!(site.ran(), ["asked"]);
    site.node.provost(&["boot"]).expect(0);
    assert_eq!(site.ran(), ["asked", "last"]);
}

#[test]
fn f08_what_a_script_printed_and_how_it_ended_is_there_after_the_first_boot() {
    let hides = "#!/bin/bash\necho looking\nmake_links() {\n  ls /nowhere/at/all\n}\nmake_links\n\
                 exit 0\n";
    let fails = "#!/bin/bash\necho deep\n(exit 5) || exit 5\n";
    let site = Site::new(&[("hides", hides), ("fails", fails)]);
    site.server.mypostscript("cn001", &mypostscript("", &[], &["hides", "fails", "last"]));
    site.node.provost(&["kickstart"]).expect(0);
    // Its output goes nowhere, and its exit status is all that xCAT's unit knows.
    site.node.provost(&["xcatinstallpost"]).expect(1);
    let end = site.end_of("fails");
    assert_eq!((&end["exitCode"], &end["cause"]), (&5.into(), &"exit".into()), "{end:#}");
    assert!(end["errorLine"].as_str().is_some_and(|line| line.starts_with("3 ")), "{end:#}");
    for (script, text) in [("hides", "looking"), ("hides", "/nowhere/at/all"), ("fails", "deep")] {
        let log = site.node.provost(&["log", script]).expect(0).stdout;
        assert!(log.contains(text), "{log}");
    }
    assert!(site.ran().is_empty(), "what comes after a failure doesn't run");
}

/// Asks for the keys of the cluster as xCAT's remoteshell does: a helper of its own in the
/// background, and one request after the other until xcatd answers one.
const REMOTESHELL: &str = "#!/bin/bash
sleep 600 &
getcredentials() {
    until printf '<xcatrequest>\\n<command>getcredentials</command>\\n</xcatrequest>\\n' |
        openssl s_client -quiet -connect \"$XCATSERVER\" 2>&1 | tee /dev/stderr | grep -q '<serverdone>'
    do
        sleep 1
    done
}
getcredentials
";

#[test]
fn f09_a_script_that_asks_a_dead_xcatd_for_ever_is_ended_with_all_that_it_started() {
    let site = Site::new(&[("remoteshell", REMOTESHELL)]);
    let monitor = Monitor::start(MonitorHabit::Right);
    let (refuses, silent) = (Monitor::refusing(), site.server.path("silent"));
    let silent = Xcatd::start(&silent, Habit::Silent);
    for (port, prints) in [(refuses.port(), "Connection refused"), (silent.port(), "")] {
        site.node.configure(&format!(
            "xcatd_port = {port}\nmonitor_port = {}\n[report]\ndeadline = \"1m\"\n\
             [run]\ntimeout = \"4s\"\nslow = \"1s\"\ngrace = \"1s\"\n",
            monitor.port()
        ));
        let out = site.node.provost(&["boot"]).expect(1);
        // While it still waits, the console shows for what.
        out.says(&["remoteshell: still running after ", "remoteshell: FAILED (time-out"]);
        says(&site.end_of("remoteshell"), "timeout", &[prints, "provost log remoteshell"]);
        let mark = site.node.xcatpost("").display().to_string();
        let left = processes::marked(&mark);
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(monitor.said().last().unwrap(), "installstatus failed");
        assert!(site.ran().is_empty());
    }
}

#[test]
fn f13_two_runs_never_share_the_folder() {
    let waits = "#!/bin/bash\necho >../started\ncat ../go\n";
    let site = Site::new(&[("waits", waits)]);
    let [started, go] = ["started", "go"].map(|name| site.node.path(name));
    pipe(&started);
    pipe(&go);
    let mut first = site.node.spawn(&["boot"]);
    assert_eq!(std::fs::read_to_string(started).unwrap(), "\n");
    site.server.script("waits", "#!/bin/sh\necho another\n");
    let args = ["xcatdsklspost", "1", "-m", site.web.address(), "waits", "-c"];
    let shown = site.node.provost(&args).expect(6).stdout;
    assert!(shown.contains("provost boot"), "{shown}");
    assert_eq!(std::fs::read_to_string(site.node.xcatpost("waits")).unwrap(), waits);
    std::fs::write(go, "").unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(0));
    assert_eq!(site.ran(), ["last"]);
}

#[test]
fn f15_what_is_done_is_not_done_again_at_each_boot() {
    let once = "#!/bin/bash\n# /// provost\n# when = \"once\"\n# ///\necho once >>../ran\n";
    let site = Site::new(&[("once", once)]);
    site.node.provost(&["boot"]).expect(0);
    site.node.provost(&["boot"]).expect(0);
    assert_eq!(site.ran(), ["once", "last", "last"]);
}

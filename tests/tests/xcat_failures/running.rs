//! What scripts do.

use std::time::{Duration, Instant};

use provost_tests::{pipe, processes};

use super::{RAN, Site, says};

#[test]
fn f06_a_background_process_that_holds_the_output_blocks_nothing() {
    let daemon = "#!/bin/bash\nsleep 600 &\necho $! >../pid\n";
    let Some(site) = Site::new(&[("daemon", daemon)]) else { return };
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
    let Some(site) = Site::new(&[("first", RAN), ("reboots", reboots)]) else { return };
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
    let Some(site) = Site::new(&[("asks", asks)]) else { return };
    site.node.provost(&["boot"]).expect(0);
    assert_eq!(site.node.reboots().len(), 1);
    assert_eq!(site.ran(), ["asked"]);
    site.node.provost(&["boot"]).expect(0);
    assert_eq!(site.ran(), ["asked", "last"]);
}

#[test]
fn f08_what_a_script_printed_and_how_it_ended_is_there_at_the_first_boot() {
    let fails = "#!/bin/bash\necho looking\nmake_links() {\n  ls /nowhere/at/all\n}\nmake_links\n\
                 exit 0\n";
    let hides = "#!/bin/bash\necho deep\n(exit 5) || exit 5\n";
    let Some(site) = Site::new(&[("fails", fails), ("hides", hides)]) else { return };
    site.node.provost(&["boot"]).expect(1);
    let end = site.end_of("hides");
    assert_eq!((&end["exitCode"], &end["cause"]), (&5.into(), &"exit".into()), "{end:#}");
    assert!(end["errorLine"].as_str().is_some_and(|line| line.starts_with("3 ")), "{end:#}");
    for (script, text) in [("fails", "looking"), ("hides", "deep")] {
        let log = site.node.provost(&["log", script]).expect(0).stdout;
        assert!(log.contains(text), "{log}");
    }
    assert!(site.ran().is_empty(), "what comes after a failure doesn't run");
}

#[test]
fn f09_a_script_that_waits_for_ever_is_ended() {
    let waits = "#!/bin/bash\n# /// provost\n# timeout = \"2s\"\n# ///\necho waiting for 3001\n\
                 (sleep 600) & wait\n";
    let Some(site) = Site::new(&[("waits", waits)]) else { return };
    site.configure("[run]\ngrace = \"1s\"\n");
    let began = Instant::now();
    site.node.provost(&["boot"]).expect(1);
    assert!(began.elapsed() < Duration::from_secs(60));
    says(&site.end_of("waits"), "timeout", &["waiting for 3001"]);
}

#[test]
fn f12_nothing_sleeps_without_a_reason() {
    let Some(site) = Site::new(&[("first", RAN)]) else { return };
    // Each deployment of xCAT's sleeps up to 59 s, 30 s on average: four of them would take 2 min.
    let began = Instant::now();
    for _ in 0..2 {
        site.node.provost(&["kickstart"]).expect(0);
        site.node.provost(&["xcatinstallpost"]).expect(0);
    }
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn f13_two_runs_never_share_the_folder() {
    let waits = "#!/bin/bash\necho >../started\ncat ../go\n";
    let Some(site) = Site::new(&[("waits", waits)]) else { return };
    let [started, go] = ["started", "go"].map(|name| site.node.path(name));
    pipe(&started);
    pipe(&go);
    let mut first = site.node.spawn(&["boot"]);
    assert_eq!(std::fs::read_to_string(started).unwrap(), "\n");
    site.server.script("waits", "#!/bin/sh\necho another\n");
    let args = ["xcatdsklspost", "1", "-m", site.web.address(), "waits", "-c"];
    site.node.provost(&args).expect(6).says(&["provost boot"]);
    assert_eq!(std::fs::read_to_string(site.node.xcatpost("waits")).unwrap(), waits);
    std::fs::write(go, "").unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(0));
    assert_eq!(site.ran(), ["last"]);
}

#[test]
fn f15_what_is_done_is_not_done_again_at_each_boot() {
    let once = "#!/bin/bash\n# /// provost\n# when = \"once\"\n# ///\necho once >>../ran\n";
    let Some(site) = Site::new(&[("once", once)]) else { return };
    site.node.provost(&["boot"]).expect(0);
    site.node.provost(&["boot"]).expect(0);
    assert_eq!(site.ran(), ["once", "last", "last"]);
}

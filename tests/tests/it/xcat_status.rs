//! An xCAT management node is told how far a node is, and costs it nothing.

use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use provost_tests::faults::Faulty;
use provost_tests::xcat::monitor::Habit::{
    self, Closes, Forgets, Garbage, Late, Leaves, Right, Silent, Trickles,
};
use provost_tests::xcat::monitor::Monitor;
use provost_tests::{Cluster, Node, Out, missing, pipe, processes, skip_if};
use rustix::process::{Pid, Signal};
use serde_json::json;

/// The longest that anything here is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
const NETBOOTING: &str = "installstatus netbooting";
const POSTBOOTING: &str = "installstatus postbooting";
const BOOTED: &str = "installstatus booted";
const FAILED: &str = "installstatus failed";

fn cluster(script: &str, daemon: &str) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("one", script).configure_daemon(daemon);
    let site = "[nodes.cn001]\nenv.IPADDR = \"127.0.0.1\"\npostscripts = [\"one\"]\n";
    cluster.site(site).publish().expect(0);
    cluster.start();
    cluster
}

/// A node with one script, which is published next to xCAT's own.
struct Ground {
    cluster: Cluster,
    web: Faulty,
    node: Node,
    port: u16,
}

impl Ground {
    fn new(script: &str, monitor: &Monitor) -> Self {
        Self::of(cluster(script, ""), monitor.port())
    }

    fn of(cluster: Cluster, port: u16) -> Self {
        let root = cluster.path("root");
        std::fs::create_dir_all(root.join("install")).unwrap();
        std::os::unix::fs::symlink(cluster.www(), root.join("install/provost")).unwrap();
        let (node, web) = (cluster.node("cn001"), Faulty::of(root));
        let ground = Self { cluster, web, node, port };
        ground.configure("");
        ground
    }

    fn provost(&self, args: &[&str]) -> Out {
        self.node.provost(args)
    }

    fn configure(&self, more: &str) {
        self.configure_with(&[&format!("http://{}", self.web.address())], more);
    }

    fn configure_with(&self, servers: &[&str], more: &str) {
        self.node.configure(&format!(
            "servers = {servers:?}\n[trust]\nkeys = [\"{}\"]\n[source]\nkind = \"xcat\"\n\
             monitor_port = {}\n[fetch]\ndeadline = \"2s\"\n{more}",
            self.cluster.key(),
            self.port
        ));
    }

    /// What came of what was told.
    fn told(&self) -> Vec<(String, String)> {
        let status = self.node.status();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let all = status["monitor"].as_array().unwrap();
        all.iter().map(|told| (text(&told["told"]), text(&told["result"]))).collect()
    }
}

/// How long a run is at it whose monitor is never there; a kickstart 20 times as long.
const SHORTEST: &str = "[report]\ndeadline = \"100ms\"\n";
/// Long enough for many tries of a kickstart.
const SHORT: &str = "[report]\ndeadline = \"3s\"\n";

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(told, result)| (told.to_string(), result.to_string())).collect()
}

/// A script that is through in two steps: it says that it runs, and waits for the test's word.
fn two_steps(cluster: &Cluster) -> String {
    let (ran, gate) = (cluster.path("ran"), cluster.path("gate"));
    format!("#!/bin/sh\n: >'{}'\nread -r line <'{}'\n", ran.display(), gate.display())
}

#[test]
fn a_script_waits_for_no_monitor_and_a_mended_one_hears_all_in_order() {
    for habit in [Silent, Closes, Leaves, Forgets, Garbage, Trickles] {
        let monitor = Monitor::start(habit);
        let ground = Ground::new("#!/bin/sh\n", &monitor);
        pipe(&ground.cluster.path("gate"));
        ground.cluster.script("one", &two_steps(&ground.cluster)).publish().expect(0);
        let run = ground.node.spawn(&["boot"]);
        monitor.is_visited();
        let ran = || ground.cluster.path("ran").exists();
        assert!(processes::until(PATIENCE, ran), "{habit:?}: the script waits");
        assert!(monitor.said().is_empty());
        monitor.repair();
        monitor.hears(NETBOOTING);
        std::fs::write(ground.cluster.path("gate"), "go\n").unwrap();
        let out: Out = run.wait_with_output().unwrap().into();
        let out = out.expect(0).says(&["has read: ", "lsdef cn001 -i status"]);
        assert_eq!(monitor.said(), [NETBOOTING, BOOTED], "{habit:?}:\n{}", out.stderr);
        assert_eq!(ground.told(), pairs(&[(NETBOOTING, "read"), (BOOTED, "read")]));
    }
}

#[test]
fn each_fault_is_told_with_its_own_words_and_the_rest_goes_later() {
    let later = |habit: Habit, words: &str| {
        let monitor = Monitor::start(habit);
        let ground = Ground::new("#!/bin/sh\n", &monitor);
        ground.configure("[report]\ndeadline = \"10s\"\n");
        let told = ["telling the install monitor ", words, "hint: "];
        ground.provost(&["boot"]).expect(0).says(&told);
        let text = ground.provost(&["status"]).expect(0).stdout;
        assert!(text.contains("not sent yet") && text.contains("hint"), "{habit:?}: {text}");
        let out = ground.provost(&["report"]).expect(3).says(&["telling the install monitor "]);
        assert_eq!(out.stderr.matches("hint: ").count(), 1, "{}", out.stderr);
        monitor.repair();
        ground.configure("");
        ground.provost(&["report"]).expect(0).says(&["has read: installstatus booted"]);
        assert_eq!(monitor.said(), [BOOTED], "{habit:?}");
        ground.provost(&["report"]).expect(0);
        assert_eq!(monitor.said(), [BOOTED], "{habit:?}: it is told twice");
    };
    std::thread::scope(|scope| {
        for (habit, words) in [
            (Silent, "no greeting within"),
            (Closes, "getent hosts"),
            (Leaves, "without an answer"),
            (Forgets, "without an answer"),
            (Garbage, "HTTP/1.1 400 Bad Request \\u{1b}[31m"),
            (Trickles, "no greeting within"),
        ] {
            scope.spawn(move || later(habit, words));
        }
    });
}

#[test]
fn a_done_that_comes_late_is_waited_for_and_nothing_is_told_twice() {
    let monitor = Monitor::start(Late);
    let ground = Ground::new("#!/bin/sh\n", &monitor);
    ground.provost(&["boot"]).expect(0);
    assert_eq!(monitor.said().last().unwrap(), BOOTED);
    assert_eq!(monitor.said().iter().filter(|said| *said == BOOTED).count(), 1);
}

#[test]
fn a_kickstart_and_the_boot_after_it_are_told_in_the_words_of_xcat() {
    let monitor = Monitor::refusing();
    let ground = Ground::new("#!/bin/sh\n", &monitor);
    ground.configure(SHORTEST);
    ground.provost(&["kickstart"]).expect(0).says(&[
        "telling the install monitor next",
        "Connection refused",
        "nodeset cn001 boot",
    ]);
    let kept = [("installstatus installing", "superseded"), ("next", "waiting")];
    assert_eq!(ground.told(), pairs(&kept));
    assert_eq!(ground.node.status()["unreported"], 0);
    ground.provost(&["boot"]).expect(0);
    let kept = [("next", "waiting"), (POSTBOOTING, "superseded"), (BOOTED, "waiting")];
    assert_eq!(ground.told(), pairs(&kept));
    let checked = || ground.provost(&["check"]).stdout;
    let told = checked();
    assert!(told.contains("2 status messages not sent yet"), "{told}");
    monitor.listen();
    ground.configure("");
    ground.provost(&["run", "one"]).expect(0);
    assert_eq!(monitor.said(), ["next", BOOTED]);
    // Its records stay here, which is as it should be.
    let told = checked() + &ground.provost(&["analyze"]).expect(0).stdout;
    assert!(told.contains("none is left to send") && !told.contains("records"), "{told}");
    let out = ground.provost(&["run", "one"]).expect(0);
    assert!(!out.stderr.contains("install monitor"), "{}", out.stderr);
    assert!(!ground.node.path("state/report/logs").exists());
}

#[test]
fn a_node_that_failed_does_not_install_itself_again_and_says_that_it_failed() {
    let monitor = Monitor::start(Right);
    let ground = Ground::new("#!/bin/sh\nexit 3\n", &monitor);
    let guard = "[guard]\nmax_attempts = 5\n";
    ground.configure(&format!("{SHORTEST}{guard}"));
    let told = |of: &[&str], code: i32| {
        let before = monitor.said().len();
        ground.provost(of).expect(code);
        monitor.said().split_off(before)
    };
    monitor.refuse();
    ground.provost(&["kickstart"]).expect(1).says(&["next, installstatus failed", "refused"]);
    ground.configure(guard);
    monitor.listen();
    let failed = told(&["kickstart"], 1);
    assert!(failed.ends_with(&["next".to_owned(), FAILED.to_owned()]), "{failed:?}");
    assert_eq!(told(&["boot"], 1).last().unwrap(), FAILED);
    assert!(told(&["run", "one"], 1).is_empty());
    std::fs::remove_file(ground.cluster.www().join("manifest.toml")).unwrap();
    let failed = told(&["kickstart"], 3);
    assert!(failed.ends_with(&["next".to_owned(), FAILED.to_owned()]), "{failed:?}");
    assert_eq!(told(&["boot"], 3).last().unwrap(), FAILED);
    assert_eq!(told(&["boot"], 4).last().unwrap(), FAILED);
    // What can't be recorded, and what is wrong in the configuration.
    ground.provost(&["release"]).expect(0);
    std::fs::remove_dir_all(ground.node.path("log/services")).unwrap();
    std::fs::write(ground.node.path("log/services"), "no folder").unwrap();
    assert_eq!(told(&["boot"], 2).last().unwrap(), FAILED);
    std::fs::remove_file(ground.node.path("log/services")).unwrap();
    ground.configure("ca = \"/nowhere\"\n");
    assert_eq!(told(&["boot"], 2).last().unwrap(), FAILED);
}

#[test]
fn next_outlives_a_runner_that_is_killed() {
    let monitor = Monitor::start(Silent);
    let ground = Ground::new("#!/bin/sh\n", &monitor);
    let mut run = ground.node.spawn(&["kickstart"]);
    let ended = || {
        let journal = std::fs::read_to_string(ground.node.path("log/services/kickstart.json"));
        journal.is_ok_and(|text| text.contains("service end"))
    };
    assert!(processes::until(PATIENCE, ended));
    run.kill().unwrap();
    run.wait().unwrap();
    monitor.repair();
    ground.provost(&["report"]).expect(0);
    assert_eq!(monitor.said(), ["next"]);
    assert_eq!(ground.node.status()["result"], json!("success"));
}

#[test]
fn what_no_disk_takes_is_told_all_the_same() {
    let monitor = Monitor::start(Right);
    let ground = Ground::new("#!/bin/sh\n", &monitor);
    std::fs::create_dir_all(ground.node.path("state/monitor.json/full")).unwrap();
    ground.provost(&["boot"]).expect(0).says(&["has read: "]);
    assert_eq!(monitor.said().last().unwrap(), BOOTED);
}

#[test]
fn an_old_kernel_installs_the_node() {
    skip_if(missing::program("strace", "strace"));
    let monitor = Monitor::start(Right);
    let ground = Ground::new("#!/bin/sh\n", &monitor);
    let old = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=pidfd_open:error=ENOSYS"];
    let out = ground.node.command_by(&old, &["kickstart"]).output().unwrap();
    Out::from(out).expect(0);
    assert_eq!(monitor.said().last().unwrap(), "next");
}

#[test]
fn the_next_server_is_told_where_the_first_is_dead() {
    let monitor = Monitor::start(Right);
    let ground = Ground::new("#!/bin/sh\n", &monitor);
    let named = ground.web.address().replace("127.0.0.1", "http://localhost");
    ground.configure_with(&["http://127.0.0.2:1", &named], "");
    ground.provost(&["boot"]).expect(0);
    assert_eq!(monitor.said().last().unwrap(), BOOTED);
}

#[test]
fn a_check_says_whether_the_monitor_greets_the_node_and_tells_it_nothing() {
    let monitor = Monitor::start(Right);
    let ground = Ground::new("#!/bin/sh\n", &monitor);
    let expect = |parts: &[&str]| {
        let told = ground.provost(&["check"]).expect(0).stdout;
        parts.iter().for_each(|part| assert!(told.contains(part), "no {part:?} in {told}"));
    };
    expect(&["127.0.0.1:", "greets this node"]);
    monitor.behave(Closes);
    expect(&["closed the connection without a greeting", "hint: see on the management node"]);
    monitor.behave(Silent);
    expect(&["no greeting within 5 s"]);
    monitor.behave(Right);
    monitor.refuse();
    expect(&["Connection refused"]);
    assert!(monitor.said().is_empty());
    assert!(!ground.node.path("state/monitor.json").exists());
}

#[test]
fn provostd_is_told_as_xcat_is() {
    let cluster = cluster("#!/bin/sh\nexit 3\n", "[xcat]\nmonitor = \"127.0.0.1:0\"\n");
    let monitor = cluster.daemon().address("monitor");
    let port = monitor.rsplit_once(':').unwrap().1.parse().unwrap();
    let ground = Ground::of(cluster, port);
    ground.provost(&["boot"]).expect(1);
    assert_eq!(ground.cluster.status("cn001")["status"], "failed");
    ground.cluster.script("one", "#!/bin/sh\n").publish().expect(0);
    ground.provost(&["boot"]).expect(0);
    assert_eq!(ground.cluster.status("cn001")["status"], "booted");
    ground.provost(&["kickstart"]).expect(0);
    assert_eq!(ground.cluster.status("cn001")["status"], "booting");
}

/// A kickstart whose monitor is gone, once it has said that it goes on with `next`; and what it
/// says then.
fn beyond_its_deadline(ground: &Ground) -> (std::process::Child, impl FnOnce() -> String) {
    ground.configure(SHORT);
    let mut run = ground.node.spawn(&["kickstart"]);
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("retrying for up to 57 s")));
    (run, move || lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn next_is_told_to_a_monitor_that_comes_after_the_last_report() {
    let monitor = Monitor::refusing();
    let ground = Ground::new("#!/bin/sh\n", &monitor);
    let (mut run, rest) = beyond_its_deadline(&ground);
    monitor.listen();
    assert!(run.wait().unwrap().success());
    assert_eq!(monitor.said(), ["next"]);
    assert!(rest().contains("the install monitor has read: next"));
}

#[test]
fn a_signal_ends_the_wait_for_next() {
    let monitor = Monitor::refusing();
    let ground = Ground::new("#!/bin/sh\n", &monitor);
    let (mut run, rest) = beyond_its_deadline(&ground);
    let began = Instant::now();
    rustix::process::kill_process(Pid::from_child(&run), Signal::TERM).unwrap();
    // The installation has succeeded before.
    assert!(run.wait().unwrap().success());
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    assert!(rest().contains("nodeset cn001 boot"));
    // Nothing that waits for a boot goes on for so long: a timer does then.
    let began = Instant::now();
    ground.provost(&["boot"]).expect(0).says(&["telling the install monitor next"]);
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
}

#[test]
fn no_status_is_told_where_the_kernel_was_told_so_and_next_all_the_same() {
    skip_if(missing::mounts());
    let monitor = Monitor::start(Right);
    let ground = Ground::new("#!/bin/sh\n", &monitor);
    let cmdline = ground.node.path("cmdline");
    std::fs::write(&cmdline, "quiet nonodestatus\n").unwrap();
    let line = format!("mount --bind {cmdline:?} /proc/cmdline && exec \"$@\"");
    let by = ["unshare", "-m", "sh", "-c", &line, "sh"];
    let run =
        |service: &str| -> Out { ground.node.command_by(&by, &[service]).output().unwrap().into() };
    run("kickstart").expect(0).says(&["nonodestatus is on the kernel's command line"]);
    assert_eq!(ground.told(), pairs(&[("next", "read")]));
    run("boot").expect(0);
    assert_eq!(monitor.said(), ["next"]);
}

#[test]
fn a_host_of_a_lease_that_has_nothing_keeps_no_node_from_what_it_has() {
    let monitor = Monitor::start(Habit::Right);
    let ground = Ground::new("#!/bin/sh\n", &monitor);
    ground.provost(&["boot"]).expect(0);
    ground.web.refuse();
    let other = Faulty::of(ground.cluster.path("site"));
    let servers = [&ground.web, &other].map(|web| format!("http://{}", web.address()));
    ground.configure_with(&servers.each_ref().map(|url| &**url), "offline = \"last-good\"\n");
    ground.provost(&["boot"]).expect(0).says(&["last good bundle", "404"]);
}

//! The logs of steps that succeeded: a node that keeps them in memory uploads them, and a reboot takes none away.

use std::time::{Duration, Instant};

use provost_tests::faults::{Fault, Faulty, Times};
use provost_tests::{Cluster, Node, Out, Postgres, missing, skip_if, skip_part};

/// Prints a secret, and runs a command.
const ONE: &str = "#!/bin/sh\necho \"with $ROOT_PASSWORD\"\n/bin/echo first\n";
const TWO: &str = "#!/bin/sh\n/bin/echo second\n";
const BAD: &str = "#!/bin/sh\n/bin/echo third\nexit 3\n";

/// A site with a node that runs these postscripts, and a daemon that is configured so.
fn site(postscripts: &str, daemon: &str) -> (Cluster, Node) {
    let mut cluster = Cluster::new();
    cluster.script("one", ONE).script("two", TWO).script("bad", BAD).configure_daemon(daemon);
    let env = "env = { ROOT_PASSWORD = \"mark3d\" }";
    cluster.site(&format!("[nodes.cn001]\npostscripts = [{postscripts}]\n{env}\n"));
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    (cluster, node)
}

/// Boots the node with LOG on a tmpfs of its own, which is gone afterwards, as after a reboot.
fn boot_in_memory(node: &Node, mount: &str) -> Out {
    std::fs::create_dir_all(node.path("log")).unwrap();
    let line = format!("cd \"$0\" && {mount} && exec \"$@\"");
    let log = node.path("log").display().to_string();
    let by = ["unshare", "--mount", "--propagation", "private", "sh", "-c", &line, &log];
    node.command_by(&by, &["boot"]).output().unwrap().into()
}

const TMPFS: &str = "mount -t tmpfs -o mode=700 none \"$0\"";

/// How many logs the daemon has stored in its life.
fn stored(cluster: &Cluster) -> String {
    let metrics = cluster.metrics();
    let line = metrics.lines().find(|line| line.starts_with("provost_logs_total "));
    line.unwrap().split(' ').next_back().unwrap().to_owned()
}

fn shows(cluster: &Cluster, script: &str, texts: &[&str]) {
    let log = cluster.ctl(&["log", "cn001", script]).expect(0).stdout;
    assert!(texts.iter().all(|text| log.contains(text)), "{log}");
}

fn shows_both(cluster: &Cluster) {
    shows(cluster, "one", &["| with [redacted:ROOT_PASSWORD]", "$ /bin/echo first", "| first"]);
    shows(cluster, "two", &["$ /bin/echo second", "| second"]);
}

#[test]
fn a_node_that_keeps_its_logs_in_memory_has_them_all_after_a_reboot() {
    skip_if(missing::mounts());
    let server = match Postgres::missing() {
        None => Some(Postgres::start()),
        Some(why) => {
            skip_part(&why);
            None
        }
    };
    let postgres = server.as_ref().map(|server| format!("store = {:?}\n", server.database("site")));
    for daemon in [Some(String::new()), postgres].into_iter().flatten() {
        let (cluster, node) = site("\"one\", \"two\"", &daemon);
        boot_in_memory(&node, TMPFS).expect(0);
        assert!(!node.path("log/services").exists(), "they were in memory");
        shows_both(&cluster);
        assert_eq!(stored(&cluster), "2");
        let page = cluster.daemon().get("/nodes/cn001");
        let links = ["Log of one: each command", "Log of two: each command"];
        assert!(links.iter().all(|link| page.contains(link)), "{page}");
        assert!(!page.contains("Log of fetch"));
        let link =
            page.split('"').find(|text| text.contains("/logs/") && text.contains("01%2Done"));
        assert!(cluster.daemon().get(link.unwrap()).contains("/bin/echo first"));
    }
}

#[test]
fn an_overlay_is_as_the_file_system_of_its_upper_folder() {
    skip_if(missing::mounts());
    let (cluster, node) = site("\"one\", \"two\"", "");
    let folders = "mkdir -p upper work";
    let mount =
        "mount -t overlay -o lowerdir=\"$0\",upperdir=$PWD/upper,workdir=$PWD/work none \"$0\"";
    let other = node.path("other").display().to_string();
    boot_in_memory(&node, &format!("mkdir -p '{other}' && cd '{other}' && {folders} && {mount}"))
        .expect(0);
    assert_eq!(stored(&cluster), "0", "the upper folder is on a disk");
    let tmpfs = format!("mount -t tmpfs none '{other}' && cd '{other}'");
    boot_in_memory(&node, &format!("{tmpfs} && {folders} && {mount}")).expect(0);
    assert_eq!(stored(&cluster), "2");
    shows_both(&cluster);
}

#[test]
fn what_the_configuration_says_counts_more_and_check_says_which_and_why() {
    skip_if(missing::mounts());
    let (cluster, node) = site("\"one\", \"bad\"", "[guard]\nmax_attempts = 9\n");
    let config = cluster.settings_for(&[&cluster.daemon().nodes()]);
    let check = || node.provost(&["check"]).expect(0).stdout;
    let log = node.path("log").display().to_string();
    node.provost(&["boot"]).expect(1);
    assert_eq!(stored(&cluster), "1", "on a disk only that of the step that failed is uploaded");
    let says = format!("those of failed steps are uploaded: {log} is on a disk");
    assert!(check().contains(&says), "{}", check());

    node.configure(&format!("{config}[report]\nlogs = \"failed\"\n[guard]\nmax_attempts = 9\n"));
    boot_in_memory(&node, TMPFS).expect(1);
    assert_eq!(stored(&cluster), "2");
    let says = "those of failed steps are uploaded: `logs` under [report] says so";
    assert!(check().contains(says), "{}", check());

    node.configure(&format!("{config}[report]\nlogs = \"all\"\n[guard]\nmax_attempts = 9\n"));
    node.provost(&["boot"]).expect(1);
    assert_eq!(stored(&cluster), "4");
    assert!(check().contains("those of all steps are uploaded: `logs` under [report] says so"));
    node.configure(&format!("{config}[report]\nlogs = \"some\"\n"));
    let mistake = node.provost(&["check"]).expect(2).stdout;
    assert!(mistake.contains("unknown variant `some`, expected `failed` or `all`"), "{mistake}");
}

#[test]
fn what_the_management_node_does_not_take_in_time_comes_later() {
    let (mut cluster, node) = site("\"one\", \"two\"", "");
    let more = "[report]\nlogs = \"all\"\ndeadline = \"10s\"\n";
    // One that is busy isn't asked again, and no run waits for it.
    let busy = Faulty::before(cluster.daemon().nodes());
    busy.fault("/v1/nodes/cn001/runs/", Times::Always, Fault::RetryAfter(503, 60));
    node.configure(&format!("{}{more}", cluster.settings_for(&[busy.address()])));
    let later = "2 logs of steps that succeeded will be uploaded later, by the next run or";
    let out = node.provost(&["boot"]).expect(0);
    assert!(out.stderr.contains(later) && !out.stderr.contains("503"), "{}", out.stderr);
    let uploads = busy.exchanges();
    let uploads = uploads.iter().filter(|e| e.request.path.contains("/logs/")).count();
    assert_eq!((stored(&cluster), uploads), ("0".to_owned(), 1));
    busy.repair();
    node.provost(&["report"]).expect(0);
    assert_eq!(stored(&cluster), "2");

    // One that is away at the end of the run.
    let away = "[report]\nlogs = \"all\"\ndeadline = \"10ms\"\n[fetch]\noffline = \"last-good\"\ndeadline = \"100ms\"\n";
    node.configure(&format!("{}{away}", cluster.settings_for(&[&cluster.daemon().nodes()])));
    let address = cluster.kill_daemon();
    node.provost(&["run", "two"]).expect(0).says(&["records and 1 log not sent yet"]);
    cluster.start_at(&address);
    node.configure(&format!("{}{more}", cluster.settings_for(&[&address])));
    node.provost(&["report"]).expect(0);
    assert_eq!(stored(&cluster), "1", "since its start");
    node.provost(&["report"]).expect(0);
    assert_eq!(stored(&cluster), "1", "once");
    shows_both(&cluster);
}

/// Which is less than a request that isn't answered.
#[test]
fn where_a_timer_goes_on_with_them_no_run_waits_for_longer_than_five_seconds() {
    let (cluster, node) = site("\"one\", \"two\"", "");
    let units = node.path("etc/systemd/system");
    std::fs::create_dir_all(&units).unwrap();
    std::fs::write(units.join("provost-report.timer"), "").unwrap();
    let silent = Faulty::before(cluster.daemon().nodes());
    silent.fault("/v1/nodes/cn001/runs/", Times::Always, Fault::Stall);
    let more = "[report]\nlogs = \"all\"\n";
    node.configure(&format!("{}{more}", cluster.settings_for(&[silent.address()])));
    let begun = Instant::now();
    let later = "2 logs of steps that succeeded will be uploaded later, by a timer";
    node.provost(&["boot"]).expect(0).says(&[later]);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(std::fs::read_to_string(node.path("reboots")).unwrap().contains("start --no-block"));
    silent.repair();
    node.provost(&["report"]).expect(0);
    shows_both(&cluster);
}

/// 1 MiB, of which each log takes 64 KiB at least.
#[test]
fn within_a_full_quota_they_make_room_for_newer_ones_and_for_those_of_failed_steps() {
    let steps: Vec<_> = (1..=17).map(|n| format!("\"two {n}\"")).collect();
    let (cluster, node) = site(&steps.join(", "), "[quota]\nlogs_mib = 1\n");
    let more = "[report]\nlogs = \"all\"\n";
    node.configure(&format!("{}{more}", cluster.settings_for(&[&cluster.daemon().nodes()])));
    node.provost(&["boot"]).expect(0);
    let pruned = || {
        let metrics = cluster.metrics();
        let line = metrics.lines().find(|line| line.starts_with("provost_pruned_logs_total "));
        line.unwrap().to_owned()
    };
    assert_eq!(
        (stored(&cluster), pruned()),
        ("17".to_owned(), "provost_pruned_logs_total 1".into())
    );
    for _ in 0..16 {
        node.provost(&["run", "bad"]).expect(1);
    }
    assert_eq!(
        (stored(&cluster), pruned()),
        ("33".to_owned(), "provost_pruned_logs_total 17".into())
    );
    shows(&cluster, "bad", &["$ /bin/echo third", "| third"]);
    let out = node.provost(&["run", "two"]).expect(0);
    assert!(out.stderr.contains("the log 01-two of run"), "{}", out.stderr);
    assert!(out.stderr.contains("its quota of 1 MiB in all"), "{}", out.stderr);
    assert_eq!(cluster.status("cn001").get("overQuota"), None, "nothing urgent was refused");
    node.provost(&["report"]).expect(0);
}

#[test]
fn each_try_of_a_step_is_uploaded_and_of_a_script_that_ran_twice_the_last_log_is_shown() {
    let flaky = "#!/bin/sh\n# /// provost\n# retries = 1\n# ///\n[ -e \"$PROVOST_CONFIG.$1\" ] && \
                 exec /bin/echo \"again $1\"\n: >\"$PROVOST_CONFIG.$1\"\n/bin/echo no\nexit 3\n";
    let (cluster, node) = site("\"one a\", \"one b\"", "");
    cluster.script("one", flaky).publish().expect(0);
    let more = "[report]\nlogs = \"all\"\n";
    node.configure(&format!("{}{more}", cluster.settings_for(&[&cluster.daemon().nodes()])));
    node.provost(&["boot"]).expect(0);
    assert_eq!(stored(&cluster), "4");
    shows(&cluster, "one", &["| again b"]);
    let run = node.status()["run"].as_str().unwrap().to_owned();
    let logs = ["01-one", "01-one.try2", "02-one", "02-one.try2"];
    let read = |log| cluster.daemon().get(&format!("/v1/runs/{run}/logs/{log}"));
    let ends = logs.map(|log| read(log).contains("again"));
    assert_eq!(ends, [false, true, false, true]);
}

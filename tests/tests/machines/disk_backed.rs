//! A node with its root on a disk: what it has written outlives a reboot and a power cut.

use std::time::Duration;

use provost_tests::Postgres;
use provost_tests::processes::until;
use serde_json::{Value, json};

use crate::disk::Disk;
use crate::image::{Image, from_inside};
use crate::machine::required;
use crate::site::{ended, site, site_of_identities, waits_for};

/// Notes that it has run.
const NOTES: &str = "#!/bin/sh\necho \"$PROVOST_STAGE\" >>/root/ran\n";

#[test]
fn a_run_goes_on_after_the_reboot_that_a_script_asks_for() {
    let asks = format!("{NOTES}. provost.sh\nreboot_and_continue new firmware\n");
    required();
    let database = Postgres::start();
    let scripts = [("first", NOTES), ("asks", &*asks), ("last", NOTES)];
    let cluster = site_of_identities(&scripts, Some(&database));
    cluster.ctl(&["enroll", "open", "cn001", "--for", "1h"]).expect(0);
    let disk = Disk::of(&Image::of(&cluster, "cn001"));
    let mut machine = disk.boot();
    machine.says("requests a reboot: new firmware");
    machine.says("boot of cn001 continues");
    machine.boots();
    waits_for(&cluster, "booted");

    let shown = cluster.ctl_json(&["show", "cn001"]);
    let [run] = &shown["runs"].as_array().unwrap()[..] else { panic!("two runs: {shown:#}") };
    let scripts: Vec<_> = ended(run).into_iter().filter(|end| !end.starts_with("fetch")).collect();
    assert_eq!(scripts, ["first: success", "asks: success", "last: success"]);
    let records = run["records"].as_array().unwrap();
    let boots: Vec<&Value> = records.iter().filter_map(|record| record.get("bootId")).collect();
    assert!(boots.len() == 2 && boots[0] != boots[1], "{boots:?}");

    machine.log_in();
    assert_eq!(machine.shell("cat /root/ran").0, "first\nasks\nlast\n");
    assert_eq!(machine.shell("systemctl is-active provost-boot").0, "active\n");
    // The identity outlived the reboot.
    let identity = &shown["identity"]["key"];
    let (status, _) = machine.shell("provost status --format json");
    let status: Value = serde_json::from_str(&status).unwrap();
    assert!(identity.is_string() && &status["identity"]["key"] == identity, "{status:#}");
}

/// Hangs in its first run.
const HANGS_ONCE: &str = "#!/bin/sh\n[ -e /root/hung ] && exit\n\
    : >/root/hung && sync && echo 'in the middle' >/dev/console\nsleep 54321\n";

#[test]
fn a_run_that_a_power_cut_ends_is_recorded_and_the_next_one_completes() {
    let once = NOTES.replacen('\n', "\n# /// provost\n# when = \"once\"\n# ///\n", 1);
    let cluster = site(&[("once", &once), ("middle", HANGS_ONCE), ("last", NOTES)]);
    let disk = Disk::of(&Image::with_token(&cluster, "cn001"));
    let mut machine = disk.boot();
    machine.says("in the middle");
    drop(machine);

    let mut machine = disk.boot();
    machine.boots();
    // What became of the first run is told first: until the rest has come, it has failed.
    let is_booted = || cluster.status("cn001")["status"] == "booted";
    assert!(until(Duration::from_secs(60), is_booted), "{:#}", cluster.status("cn001"));
    let shown = cluster.ctl_json(&["show", "cn001", "--runs", "2"]);
    let [second, first] = &shown["runs"].as_array().unwrap()[..] else { panic!("{shown:#}") };
    assert_eq!(ended(first), ["fetch: success", "once: success", "middle: failure"]);
    let end = first["records"].as_array().unwrap().last().unwrap();
    assert_eq!((&end["phase"], &end["cause"]), (&json!("service end"), &json!("interrupted")));
    // What was done before is done.
    let stages = ["fetch: success", "once: skipped", "middle: success", "last: success"];
    assert_eq!(ended(second), stages);
    machine.log_in();
    assert_eq!(machine.shell("cat /root/ran").0, "once\nlast\n");
    assert_eq!(
        machine.shell("provost status --format json | grep -c '\"unreported\": *0'").0,
        "1\n"
    );
}

#[test]
fn what_a_kickstart_installs_boots_and_finishes() {
    let cluster = site_of_identities(&[("setup", NOTES), ("greet", NOTES)], None);
    // The installer sees the first of the two, the machine the second.
    let here = format!("http://{}", cluster.daemon().nodes());
    let there = format!("http://{}", from_inside(&cluster));
    let script = cluster.post_script(&["--join", "--server", &here, "--server", &there]);
    let disk = Disk::installed(|root| {
        root.sh(&script).expect(0);
        assert_eq!(root.text("/root/ran"), "setup\n");
    });
    assert_eq!(cluster.status("cn001")["status"], "booting");

    let mut machine = disk.boot();
    machine.boots();
    waits_for(&cluster, "booted");
    let shown = cluster.ctl_json(&["show", "cn001"]);
    // The installer's server is passed over first.
    let stages = ["fetch: failure", "fetch: success", "greet: success"];
    assert_eq!(ended(&shown["runs"][0]), stages);
    machine.log_in();
    assert_eq!(machine.shell("cat /root/ran").0, "setup\ngreet\n");
    assert_eq!(machine.shell("systemctl is-system-running --wait").0, "running\n");
}

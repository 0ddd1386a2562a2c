//! A diskless node boots, and all or something goes wrong.

use std::process::Command;

use provost_tests::{Cluster, Out, program};
use serde_json::{Value, json};

use crate::image::Image;
use crate::machine::Machine;
use crate::site::{ended, site, site_of_identities, waits_for};

/// A management node whose only node runs `scripts`, and that node switched on.
fn boot(scripts: &[(&str, &str)]) -> (Cluster, Machine) {
    let cluster = site(scripts);
    let machine = Image::with_token(&cluster, "cn001").boot();
    (cluster, machine)
}

const FIRST: &str = "#!/bin/bash\necho \"first on $NODE\" >/etc/first\n";
const LAST: &str = "#!/bin/sh\n[ -s /etc/first ] && echo last >/etc/last\n";

#[test]
fn a_node_boots_and_runs_its_scripts() {
    let cluster = site_of_identities(&[("first", FIRST), ("last", LAST)], None);
    // As its boot server asks for one at each boot.
    let args = ["join", "cn001", "--for", "15m", "--kernel-args"];
    let argument = cluster.ctl(&args).expect(0).stdout;
    let mut machine = Image::of(&cluster, "cn001").boot_with(argument.trim());
    machine.boots();
    let node = waits_for(&cluster, "booted");
    assert_eq!(node["service"], "boot", "{node:#}");
    let run = &cluster.ctl_json(&["show", "cn001"])["runs"][0];
    assert_eq!(ended(run), ["fetch: success", "first: success", "last: success"]);

    machine.log_in();
    assert_eq!(machine.shell("cat /etc/first /etc/last").0, "first on cn001\nlast\n");
    let units = "systemctl is-active provost-boot provost-renew.timer";
    assert_eq!(machine.shell(units).0, "active\nactive\n");
    assert_eq!(machine.shell("systemctl is-system-running --wait").0, "running\n");
    let (status, _) = machine.shell("provost status --format json");
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!((&status["result"], &status["unreported"]), (&json!("success"), &json!(0)));
    let (boot_id, _) = machine.shell("cat /proc/sys/kernel/random/boot_id");
    assert_eq!(run["records"][0]["bootId"], boot_id.trim());

    // An admin's rerun is told by the same identity.
    let (printed, succeeded) = machine.shell("provost run first");
    assert!(succeeded, "{printed}");
    assert_eq!(cluster.status("cn001")["updatestatus"], "synced");
    // Who reads the kernel's arguments now is nobody by them.
    let (arguments, _) = machine.shell("cat /proc/cmdline");
    assert!(arguments.contains(argument.trim()), "{arguments}");
    let (printed, succeeded) = machine.shell("rm -r /var/lib/provost/id; provost run first");
    assert!(!succeeded && printed.contains("hint: "), "{printed}");
}

/// The script that fails on docs/diskless.md.
const SETUPNTP: &str = "#!/bin/bash\ninstall_keys() {\n    install -m 0640 \
    /srv/ntp/chrony.keys /etc/chrony.keys\n}\ninstall_keys\n";

#[test]
fn a_script_that_fails_is_told_everywhere() {
    let scripts = [("hostname", "#!/bin/sh\n"), ("setupntp", SETUPNTP), ("motd", LAST)];
    let (cluster, mut machine) = boot(&scripts);
    // On the console, without anybody asking.
    let console = machine.says("boot FAILED");
    let node = waits_for(&cluster, "failed");
    assert_eq!((&node["stage"], &node["cause"]), (&json!("setupntp"), &json!("exit")), "{node:#}");
    assert!(node["errorLine"].as_str().unwrap().starts_with("3 install_keys "), "{node:#}");
    assert!(node["errorMessage"].as_str().unwrap().contains("/srv/ntp"), "{node:#}");

    let greeting = tells_an_admin(&mut machine, "setupntp");
    assert!(!machine.shell("test -e /etc/last").1, "a script ran after the failure");
    // The management node has the log.
    let log = cluster.ctl(&["log", "cn001", "setupntp"]).expect(0).stdout;
    assert!(log.contains("/srv/ntp"), "{log}");

    let shown = PAGE.split("```text\n").skip(1).map(|part| part.split("```").next().unwrap());
    let said = [console, greeting];
    assert_eq!(shown.clone().count(), said.len());
    for (shown, said) in shown.zip(said) {
        let said = constant(&said);
        let lines = constant(shown);
        let missing: Vec<_> = lines.iter().filter(|line| !said.contains(line)).collect();
        assert!(missing.is_empty(), "the page shows {missing:#?}, which isn't in {said:#?}");
    }
}

const PAGE: &str = include_str!("../../../docs/diskless.md");

/// Lines without what differs from run to run: numbers, ids, and what the console has before them.
fn constant(text: &str) -> Vec<String> {
    let is_constant = |word: &&str| {
        let word = word.trim_matches(['(', ')', ',']);
        let units = ["ms", "s", "second", "seconds", "minute", "minutes"];
        !word.starts_with(|c: char| c.is_ascii_digit()) && !units.contains(&word)
    };
    let line = |line: &str| {
        let line = line.split_once("]: ").map_or(line, |(_, line)| line);
        line.split_whitespace().filter(is_constant).collect::<Vec<_>>().join(" ")
    };
    // A log's path has the run's id.
    text.lines().filter(|line| !line.contains("/scripts/")).map(line).collect()
}

const HANGS: &str = "#!/bin/bash\n# /// provost\n# timeout = \"3s\"\n# ///\n\
    trap '' TERM\nsetsid sleep 54321 &\nsleep 54321\n";

#[test]
fn a_script_that_hangs_ends_at_its_timeout() {
    let (cluster, mut machine) = boot(&[("hangs", HANGS), ("last", LAST)]);
    machine.says("hangs: FAILED (time-out");
    let node = waits_for(&cluster, "failed");
    assert_eq!((&node["stage"], &node["cause"]), (&json!("hangs"), &json!("timeout")), "{node:#}");
    tells_an_admin(&mut machine, "hangs: time-out");
    // The whole tree is gone.
    let (names, _) = machine.shell("cat /proc/[0-9]*/comm 2>/dev/null");
    assert!(names.contains("systemd\n") && !names.contains("sleep"), "{names}");
}

/// Notes at each boot that it has run.
const NOTES: &str = "#!/bin/sh\necho \"$PROVOST_STAGE\" >>/etc/ran\n";

#[test]
fn what_is_stamped_in_the_image_is_skipped_at_every_boot() {
    let once = NOTES.replacen('\n', "\n# /// provost\n# when = \"once\"\n# ///\n", 1);
    let cluster = site(&[("stamped", &once), ("always", NOTES)]);
    let image = Image::with_token(&cluster, "cn001");
    stamp(&cluster, &image);
    for boots in 1..=2 {
        let mut machine = image.boot();
        machine.boots();
        waits_for(&cluster, "booted");
        let shown = cluster.ctl_json(&["show", "cn001"]);
        assert_eq!(shown["runs"].as_array().unwrap().len(), boots);
        let run = &shown["runs"][0];
        assert_eq!(ended(run), ["fetch: success", "stamped: skipped", "always: success"]);
        machine.log_in();
        assert_eq!(machine.shell("cat /etc/ran").0, "always\n");
    }
}

/// Stamps `image` from outside, on the machine that makes it.
fn stamp(cluster: &Cluster, image: &Image) {
    let config = cluster.path("stamp.toml");
    let text = format!(
        "node = \"cn001\"\ntoken_file = {:?}\n{}[paths]\nlog = {:?}\n",
        image.path("etc/provost/token"),
        cluster.settings_for(&[&cluster.daemon().nodes()]),
        cluster.path("log"),
    );
    std::fs::write(&config, text).unwrap();
    let mut command = Command::new(program("provost"));
    command.arg("--config").arg(config).arg("stamp").arg("--root").arg(image.path(""));
    let out: Out = command.output().unwrap().into();
    out.expect(0).says(&["stamped: stamped", "1 step stamped in"]);
}

/// The login shows `script`, and so does systemd. Returns what the former is
/// told.
#[track_caller]
fn tells_an_admin(machine: &mut Machine, script: &str) -> String {
    let greeting = machine.log_in();
    assert!(greeting.contains(script), "the greeting says nothing of {script}:\n{greeting}");
    assert_eq!(machine.shell("systemctl is-failed provost-boot").0, "failed\n");
    // The rest of the boot didn't wait, and is well.
    assert_eq!(machine.shell("systemctl is-system-running --wait").0, "degraded\n");
    let (failed, _) = machine.shell("systemctl list-units --failed --plain --no-legend");
    assert_eq!(failed.lines().count(), 1, "{failed}");
    for command in ["journalctl --no-pager -u provost-boot", "cat /etc/issue.d/*", "provost status"]
    {
        let (said, _) = machine.shell(command);
        assert!(said.contains(script), "{command} says nothing of {script}:\n{said}");
    }
    greeting
}

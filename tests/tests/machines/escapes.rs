//! Scripts that try to get out of a dry run, and would end or change the whole machine if they did: in a machine that
//! is thrown away. The others are tried in `tests/it/dry_run/hostile.rs`.

use std::fs;

use provost_tests::{Escape, escapes};
use tempfile::NamedTempFile;

use crate::image::Image;
use crate::machine::Machine;
use crate::site::{site, waits_for};

/// What it looks at.
const LOOK: &[u8] = include_bytes!("look.sh");

/// Runs a command, and shows what differs of the machine after it, but for its clock.
const ATTACK: &str = "#!/bin/bash
mkdir -p /run/attack
cd /run/attack || exit
/root/look >before
\"$@\" 2>&1 | tee printed | grep --line-buffered -aE 'LET |making a sandbox|hint: load|dry run.s limit|^provost: \\['
echo \"status ${PIPESTATUS[0]}\"
/root/look >after
diff before after | grep '^[<>]'
exit 0
";

/// How far the clock is ahead of the time since the boot, in seconds.
const CLOCK: &str = r#"#!/usr/bin/perl
# clock_gettime(2) of CLOCK_REALTIME and CLOCK_BOOTTIME
my ($now, $up) = ("x" x 16, "x" x 16);
syscall(228, 0, $now);
syscall(228, 7, $up);
my ($s, $ns, $up_s, $up_ns) = unpack("q4", $now . $up);
printf "%.3f\n", $s - $up_s + ($ns - $up_ns) / 1e9;
"#;

/// The names of scripts end so that take all there is of something: nothing goes on beside one in its sandbox.
const TO_THE_LIMIT: &str = "_to_the_limit";
/// What scripts of these names change without a sandbox.
const HARM: &[(&str, &str)] = &[
    ("sysrq", "/proc/sys/kernel/sysrq:1\n"),
    ("disk_by_number", "  /dev/vda\n"),
    ("kernel_settings_of_all", "/proc/sys/vm/swappiness:1\n"),
    ("new_sysfs", "/sys/kernel/mm/ksm/run:1\n"),
    ("cgroups", "> /sys/fs/cgroup/evil\n"),
];

/// What is on the disk of the machine, in bytes.
const DISK: usize = 1 << 20;

#[test]
fn hostile_scripts_change_nothing_of_a_machine() {
    let cluster = site(&[("nothing", "#!/bin/sh\n")]);
    let all: Vec<Escape> = escapes().into_iter().filter(|one| one.needs_machine).collect();
    for Escape { name, text, .. } in &all {
        // No plan names it.
        cluster.script(name, text);
    }
    cluster.publish().expect(0);
    let disk = NamedTempFile::new().unwrap();
    fs::write(disk.path(), vec![7; DISK]).unwrap();
    let image = Image::with_token(&cluster, "cn001");
    image.add("etc/provost/provost.d/all.toml", b"[run]\non_failure = \"continue\"\n", 0o644);
    image.add("root/look", LOOK, 0o755);
    image.add("root/attack", ATTACK.as_bytes(), 0o755);
    image.add("root/clock", CLOCK.as_bytes(), 0o755);
    let mut machine = image.boot_with_disk(disk.path());
    waits_for(&cluster, "booted");
    machine.log_in();
    machine.shell("systemctl is-system-running --wait");

    a_kernel_without_overlays_is_named(&mut machine);
    let before = clock(&mut machine);
    let names = all.iter().map(|one| one.name.as_str());
    let (alone, together): (Vec<&str>, Vec<&str>) =
        names.partition(|name| name.ends_with(TO_THE_LIMIT));
    nothing_changes(&mut machine, "", &together);
    nothing_changes(&mut machine, "--network none ", &together);
    assert_eq!(alone.len(), 2);
    for name in alone {
        a_limit_ends_it(&mut machine, name);
    }
    let after = clock(&mut machine);
    assert!((before - after).abs() < 0.2, "the clock was set from {before} to {after}");
    assert!(fs::read(disk.path()).unwrap() == vec![7; DISK], "its disk has changed");
    what_they_change_otherwise_is_seen(&mut machine);
}

/// Runs scripts in one sandbox, each though the one before it has failed.
fn nothing_changes(machine: &mut Machine, network: &str, names: &[&str]) {
    let dry_run = format!("provost run --dry-run {network}-P {}", names.join(","));
    let (shown, _) = machine.shell(&format!("/root/attack {dry_run}"));
    let (tried, others): (Vec<_>, Vec<_>) =
        shown.lines().partition(|line| line.starts_with("provost: ["));
    if others != ["status 1"] {
        panic!("{dry_run}: {shown}{}", machine.shell("head -c 20000 /run/attack/printed").0);
    }
    let are_all = tried.iter().zip(names).all(|(line, name)| line.contains(&format!("] {name}: ")));
    assert!(are_all && tried.len() == names.len(), "{dry_run}: {shown}");
}

/// A script of which nothing in its sandbox may be left, and which changes nothing outside.
fn a_limit_ends_it(machine: &mut Machine, name: &str) {
    let (shown, _) = machine.shell(&format!("/root/attack provost run --dry-run {name}"));
    // The kernel says on the console whom it kills.
    let mut others = shown
        .lines()
        .filter(|line| !line.starts_with("provost: [") && !line.contains("] Memory cgroup out of"));
    let limit = others.next().unwrap_or_default();
    let is_named =
        limit.starts_with("provost: the dry run's limit of ") && limit.contains(" was reached");
    if !is_named || others.collect::<Vec<_>>() != ["status 1"] {
        panic!("{name}: {shown}{}", machine.shell("tail -c 20000 /run/attack/printed").0);
    }
}

/// Without a sandbox, else what is said above would prove nothing.
fn what_they_change_otherwise_is_seen(machine: &mut Machine) {
    let before = clock(machine);
    let names: Vec<&str> = HARM.iter().map(|(name, _)| *name).collect();
    // All in one run: nothing is fetched any more with such a clock and such settings.
    let run = format!("/root/attack provost run -P clock,{}", names.join(","));
    let (shown, _) = machine.shell(&run);
    for (name, changed) in HARM {
        assert!(shown.contains(changed), "{name}: {shown}");
    }
    let after = clock(machine);
    assert!((before - after).abs() > 1e6, "the clock is at {after}, and was at {before}");
}

/// A dry run says which module is missing.
fn a_kernel_without_overlays_is_named(machine: &mut Machine) {
    let folder = "/lib/modules/*/kernel/fs/overlayfs";
    let attack = "/root/attack provost run --dry-run nothing";
    let (printed, _) = machine.shell(&format!("mv {folder} /root; {attack}"));
    assert!(printed.contains("status 2\n"), "{printed}");
    assert!(printed.contains("the kernel has no overlay file system"), "{printed}");
    assert!(printed.contains("hint: load its module: modprobe overlay"), "{printed}");
    let back = "mv /root/overlayfs /lib/modules/*/kernel/fs && provost run --dry-run nothing";
    let (printed, succeeded) = machine.shell(back);
    assert!(succeeded, "{printed}");
}

fn clock(machine: &mut Machine) -> f64 {
    let (printed, _) = machine.shell("/root/clock");
    printed.trim().parse().unwrap()
}

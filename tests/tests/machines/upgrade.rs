//! A management node whose packages are upgraded while its nodes boot, and then removed.

use provost_tests::Packages;
use serde_json::Value;

use crate::machine::Machine;
use crate::management::runs;

const NEW: &str = env!("CARGO_PKG_VERSION");

/// `boots NODE…` has each of them boot again and again, and notes each end in `ended`, until there is a file `stop`.
pub(crate) const BOOTS: &str = r#"#!/bin/sh
cd /root
for node; do
    while ! [ -e stop ]; do
        provost --config /root/$node/provost.toml boot >$node/said 2>&1
        status=$?
        [ $status = 0 ] || sed "s/^/$node: exit status $status: /" $node/said >>failed
        echo $node >>ended
    done &
done
wait
"#;

/// Waits until each of the nodes has ended a boot that hasn't ended yet.
fn wait_for_boots(machine: &mut Machine) {
    let nodes = "sort -u ended 2>/dev/null | grep -c .";
    runs(machine, &format!("rm -f ended; until [ \"$({nodes})\" = 2 ]; do sleep 1; done"));
}

/// What the store has of nodes that reported to an earlier version.
fn history(machine: &mut Machine) -> String {
    let show = "for node in cn001 cn002 cn003 cn009; do provostctl show $node --format json; done >history";
    runs(machine, &format!("(set -e; {show}; grep -q 'no disk' history; sha256sum <history)"))
}

fn version_of_daemon(machine: &mut Machine) -> String {
    let versions = runs(machine, "provostctl compat --format json");
    let versions: Value = serde_json::from_str(&versions).unwrap();
    versions["provostd"].as_str().unwrap().to_owned()
}

fn pid_of_daemon(machine: &mut Machine) -> String {
    runs(machine, "systemctl show -P MainPID provostd").trim().to_owned()
}

/// The records in a file, by run and number.
const RECORDS: &str = r#"grep -oh '"run":"[^"]*","seq":[0-9]*'"#;

/// The daemon runs, of [`Packages::OLD`].
pub(crate) fn is_lived_through(machine: &mut Machine) {
    assert_eq!(version_of_daemon(machine), Packages::OLD);
    let (before, pid) = (history(machine), pid_of_daemon(machine));
    runs(machine, "cd /root && systemd-run --quiet --unit=boots /root/boots cn011 cn012");
    wait_for_boots(machine);
    let printed = runs(machine, "dpkg -i new/*.deb 2>&1");
    assert!(!printed.contains("did not start"), "{printed}");
    assert_eq!(version_of_daemon(machine), NEW, "{printed}");
    let new_pid = pid_of_daemon(machine);
    assert_ne!(new_pid, pid);
    // Each ends the boot that it is at, and then one that it has begun since.
    wait_for_boots(machine);
    runs(machine, "touch stop; while systemctl is-active --quiet boots; do sleep 1; done");

    // No run failed; each record is there, so also those that were acknowledged, which no node sends again.
    runs(machine, "! cat failed");
    for node in ["cn011", "cn012"] {
        runs(machine, &format!("provost --config /root/{node}/provost.toml report"));
        runs(machine, &format!("{RECORDS} {node}/log/services/boot.json* | sort >sent"));
        let show = format!("provostctl show {node} --runs 200 --format json");
        runs(machine, &format!("{show} | {RECORDS} | sort >stored"));
        assert_eq!(runs(machine, "diff sent stored"), "", "{node}");
        let count: usize = runs(machine, "wc -l <sent").trim().parse().unwrap();
        assert!(count >= 16, "{node}: {count} records");
    }
    assert_eq!(history(machine), before);

    runs(machine, "dpkg -r provost-server");
    runs(machine, &format!("! [ -e /proc/{new_pid} ]"));
    assert_eq!(runs(machine, "find /etc/systemd /usr/lib/systemd -name provostd.service"), "");
    runs(machine, "! journalctl --no-pager -u provostd | grep -iE 'denied|read-only file'");
    assert_eq!(runs(machine, "systemctl is-system-running --wait"), "running\n");
}

//! A management node whose packages are upgraded while its nodes boot, and then removed.

use provost_tests::Packages;
use serde_json::Value;

use crate::downgrade;
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

/// Runs until the packages are upgraded.
pub(crate) const WAITS: &str = "#!/bin/sh\nuntil [ -e /root/upgraded ]; do sleep 1; done\n";

/// This machine is a node too, whose boot is the packages' unit: it begins before they are upgraded.
const BOOT_OF_THE_MACHINE: &str = r#"(set -e
provostctl token cn013 >/etc/provost/token
key=$(tail -n 1 provost.pub)
sed "s|/root/NAME/token|/etc/provost/token|; s|NAME|cn013|; s|KEY|$key|; /paths/,\$d" \
    node.toml >/etc/provost/provost.toml
chmod 600 /etc/provost/token
systemctl start --no-block provost-boot
until provostctl show cn013 | grep -q waits; do sleep 1; done)"#;

/// What systemd runs before it ends the daemon: it has the daemon ended right after that has acknowledged a record of
/// each node, and keeps what each was acknowledged until then.
pub(crate) const BEFORE_STOP: &str = r#"#!/bin/sh
cd /root
for node in cn011 cn012; do
    acknowledged=$node/state/report/boot.json
    before=$(cat $acknowledged)
    while [ "$(cat $acknowledged)" = "$before" ]; do sleep 0.1; done
done
for node in cn011 cn012; do
    cp $node/state/report/boot.json $node/acknowledged
done
"#;

/// Of the unit of the daemon, for as long as nodes boot.
const DROP_IN: &str = "(set -e; mkdir /run/systemd/system/provostd.service.d; \
    printf '[Service]\nExecStop=+/root/before-stop\nTimeoutStopSec=10min\n' \
    >/run/systemd/system/provostd.service.d/test.conf; systemctl daemon-reload)";

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

/// The records in files, a whole one a line. None of these nodes' texts has a brace.
const RECORDS: &str = r#"grep -ohE '\{"timestamp"([^{}]|\{[^{}]*\})*\}'"#;
/// Which record of which run that is.
const NAME: &str = r#"grep -oE '"run":"[^"]*","seq":[0-9]*'"#;

/// The daemon runs, of [`Packages::OLD`].
pub(crate) fn is_lived_through(machine: &mut Machine) {
    assert_eq!(version_of_daemon(machine), Packages::OLD);
    let (before, pid) = (history(machine), pid_of_daemon(machine));
    downgrade::back_up(machine);
    runs(machine, "cd /root && systemd-run --quiet --unit=boots /root/boots cn011 cn012");
    wait_for_boots(machine);
    runs(machine, BOOT_OF_THE_MACHINE);
    let boot = |machine: &mut Machine| {
        runs(machine, "systemctl show -P SubState -P MainPID -P Result provost-boot")
    };
    let started = boot(machine);
    assert!(started.contains("start\n"), "{started}");
    runs(machine, DROP_IN);
    let printed = runs(machine, "dpkg -i new/*.deb 2>&1");
    assert_eq!(boot(machine), started, "{printed}");
    assert!(!printed.contains("did not start"), "{printed}");
    assert_eq!(version_of_daemon(machine), NEW, "{printed}");
    let new_pid = pid_of_daemon(machine);
    assert_ne!(new_pid, pid);
    runs(machine, "rm -r /run/systemd/system/provostd.service.d && systemctl daemon-reload");
    // Each ends the boot that it is at, and then one that it has begun since.
    wait_for_boots(machine);
    runs(machine, "touch stop; while systemctl is-active --quiet boots; do sleep 1; done");
    runs(
        machine,
        "touch upgraded; while systemctl show -P SubState provost-boot | grep -q start; do sleep 1; done",
    );
    assert!(boot(machine).contains("success\n"), "{}", boot(machine));
    let own = "provostctl show cn013 --format json";
    let own: Value = serde_json::from_str(&runs(machine, own)).unwrap();
    assert_eq!(own["node"]["status"], "booted", "{own:#}");
    assert_eq!(own["runs"].as_array().unwrap().len(), 1, "{own:#}");

    // No run failed; each record is there as the node wrote it, so also those that were acknowledged, which no node
    // sends again: of two nodes one right before the daemon was ended.
    runs(machine, "! cat failed");
    for (node, least) in [("cn011", 40), ("cn012", 40), ("cn013", 6)] {
        let (config, log) = match node {
            "cn013" => ("/etc/provost/provost.toml".to_owned(), "/var/log/provost".to_owned()),
            _ => (format!("/root/{node}/provost.toml"), format!("{node}/log")),
        };
        runs(machine, &format!("provost --config {config} report"));
        runs(machine, &format!("{RECORDS} {log}/services/boot.json* | sort >sent"));
        let show = format!("provostctl show {node} --runs 200 --format json");
        runs(machine, &format!("{show} | {RECORDS} | sort >stored"));
        if node != "cn013" {
            let last = runs(machine, &format!("{NAME} {node}/acknowledged | tee last"));
            runs(machine, "grep -qwFf last sent");
            let (_, is_stored) = machine.shell("grep -qwFf last stored");
            assert!(is_stored, "{node}: acknowledged right before the end, and lost: {last}");
        }
        assert_eq!(runs(machine, "diff sent stored || :"), "", "{node}");
        let count: usize = runs(machine, "wc -l <sent").trim().parse().unwrap();
        assert!(count >= least, "{node}: {count} records");
    }
    assert_eq!(history(machine), before);
    a_typo_is_one_failure(machine);
    downgrade::is_lived_through(machine);
    let new_pid = pid_of_daemon(machine);

    runs(machine, "dpkg -r provost-server");
    runs(machine, &format!("! [ -e /proc/{new_pid} ]"));
    assert_eq!(runs(machine, "find /etc/systemd /usr/lib/systemd -name provostd.service"), "");
    runs(machine, "! journalctl --no-pager -u provostd | grep -iE 'denied|read-only file'");
    assert_eq!(runs(machine, "systemctl is-system-running --wait"), "running\n");
}

/// Nothing starts it again and again with a wrong configuration, and nothing has to be reset once that is right.
fn a_typo_is_one_failure(machine: &mut Machine) {
    let config = "/etc/provost/provostd.toml";
    runs(machine, &format!("sed -i 's/^www/wwww/' {config}; ! systemctl restart provostd"));
    // Longer than RestartSec: nothing else says that it isn't to come.
    runs(machine, "sleep 4; [ $(systemctl show -P NRestarts provostd) = 0 ]");
    assert_eq!(runs(machine, "systemctl show -P ActiveState provostd"), "failed\n");
    runs(machine, &format!("sed -i 's/^wwww/www/' {config} && systemctl start provostd"));
}

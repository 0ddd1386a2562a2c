//! A management node under systemd: the daemon as the packages install it, with its own user, and
//! who may do what with it.

use serde_json::Value;

use crate::image::Image;
use crate::machine::{Machine, required};

const SITE: &str = "[nodes.cn001]\npostscripts = [\"first\"]\n";
const NODE: &str = "node = \"cn001\"\nservers = [\"http://127.0.0.1:8480\"]\n\
    token_file = \"/root/token\"\n[trust]\nkeys = [\"KEY\"]\n";

/// A management node that is on, with its daemon started by hand.
fn switched_on() -> Machine {
    required();
    let image = Image::of_management_node();
    // Its disk is its memory.
    let config = b"www = \"/srv/provost/www\"\n[quota]\nreserve_mib = 1\n";
    image.add("etc/provost/provostd.toml", config, 0o644);
    image.add("root/site.toml", SITE.as_bytes(), 0o644);
    image.add("root/scripts/first", b"#!/bin/sh\necho \"first on $NODE\"\n", 0o755);
    image.add("root/node.toml", NODE.as_bytes(), 0o644);
    let mut machine = image.boot();
    machine.log_in();
    runs(&mut machine, "systemd-sysusers provostd.conf");
    machine
}

/// Runs a command, which must succeed. Returns what it printed.
#[track_caller]
fn runs(machine: &mut Machine, command: &str) -> String {
    let (printed, succeeded) = machine.shell(command);
    assert!(succeeded, "{command}: {printed}");
    printed
}

#[test]
fn the_daemon_serves_as_its_own_user_and_each_group_may_do_its_part() {
    let mut machine = switched_on();
    let machine = &mut machine;
    runs(machine, "provostctl key new --out /root");
    runs(
        machine,
        "provostctl publish --site /root/site.toml --scripts /root/scripts \
         --key /root/provost.key --to /srv/provost/www",
    );
    assert_eq!(runs(machine, "stat -c '%a %G' /srv/provost/www/plans/cn001.toml"), "640 provost\n");

    // Ready when `start` returns; of its own user, and without a right that it doesn't need.
    runs(machine, "systemctl start provostd");
    let user = "stat -c %U /proc/$(systemctl show -P MainPID provostd)";
    assert_eq!(runs(machine, user), "provostd\n");
    let files = "find /var/lib/provostd -mindepth 1 ! -user provostd";
    assert_eq!(runs(machine, files), "");

    // A node of this site gets its plan, and is heard.
    runs(machine, "provostctl token cn001 >/root/token && chmod 0600 /root/token");
    runs(machine, "sed -i \"s|KEY|$(tail -n 1 /root/provost.pub)|\" /root/node.toml");
    runs(machine, "provost --config /root/node.toml boot");
    let nodes = runs(machine, "provostctl nodes --format json");
    let nodes: Value = serde_json::from_str(&nodes).unwrap();
    assert_eq!(nodes[0]["status"], "booted", "{nodes:#}");

    for (user, groups) in
        [("op", "-G provost-operators"), ("reader", "-G provost-readers"), ("nobodys", "")]
    {
        runs(machine, &format!("useradd {groups} {user}"));
    }
    let by = |machine: &mut Machine, user: &str, socket: &str, command: &str| {
        let admin = format!("--admin unix:/var/lib/provostd/{socket}");
        machine.shell(&format!("runuser -u {user} -- provostctl {admin} {command} 2>&1"))
    };
    for (user, socket, command, may) in [
        ("op", "admin.sock", "release cn001", true),
        ("op", "admin.sock", "token cn001", true),
        ("reader", "read.sock", "nodes", true),
        ("reader", "admin.sock", "release cn001", false),
        ("reader", "read.sock", "release cn001", false),
        ("nobodys", "read.sock", "nodes", false),
        ("nobodys", "admin.sock", "nodes", false),
    ] {
        let (printed, succeeded) = by(machine, user, socket, command);
        assert_eq!(succeeded, may, "{user}, {socket}, {command}: {printed}");
        assert!(may || printed.contains("hint: "), "{user}, {socket}, {command}: {printed}");
    }
    let (printed, succeeded) =
        machine.shell("runuser -u nobodys -- cat /srv/provost/www/plans/cn001.toml 2>&1");
    assert!(!succeeded && printed.contains("Permission denied"), "{printed}");

    // What it knew outlives it; it ends in order, and starts again after a kill.
    runs(machine, "systemctl restart provostd");
    assert!(runs(machine, "provostctl nodes --long cn001").contains("booted"));
    runs(machine, "systemctl kill -s KILL provostd");
    runs(machine, "until provostctl nodes --long cn001 | grep -q booted; do sleep 1; done");
    runs(machine, "systemctl stop provostd");
    assert_eq!(runs(machine, "systemctl show -P Result provostd"), "success\n");
    runs(machine, "! journalctl --no-pager -u provostd | grep -iE 'denied|read-only file'");
    assert_eq!(runs(machine, "systemctl is-system-running --wait"), "running\n");
}

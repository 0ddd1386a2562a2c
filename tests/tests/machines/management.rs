//! A management node under systemd: the daemon as the packages install it, with its own user, and
//! who may do what with it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use provost_tests::{Chroot, Packages};
use serde_json::Value;

use crate::disk::Disk;
use crate::machine::{Machine, required};
use crate::upgrade;

const SITE: &str = "[groups.all]\nnodes = \"cn[011-012]\"\npostscripts = [\"first 1\", \"second 1\", \
    \"first 2\", \"second 2\", \"first 3\", \"second 3\", \"first 4\", \"second 4\"]\n\
    [nodes.cn013]\npostscripts = [\"waits\"]\n";
/// The node `NAME`, which has a folder of its own on the management node.
const NODE: &str = "node = \"NAME\"\nservers = [\"http://127.0.0.1:8480\"]\n\
    token_file = \"/root/NAME/token\"\n[trust]\nkeys = [\"KEY\"]\n[paths]\nstate = \"/root/NAME/state\"\n\
    log = \"/root/NAME/log\"\netc = \"/root/NAME/etc\"\n";
/// What its nodes reported, and its admins did, with an earlier version.
const BEFORE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/compat/0.1/sqlite");

/// A management node that is on, with packages of two versions, of which the older one is installed, and with
/// [`BEFORE`], which is root's still. Its daemon is to be started by hand.
fn switched_on() -> Machine {
    required();
    let disk = Disk::installed(|root| {
        for (packages, to) in [(Packages::make_old(), "old"), (Packages::make(), "new")] {
            fs::create_dir(root.path("/root").join(to)).unwrap();
            packages.copy_to(root, &format!("/root/{to}"));
        }
        let config =
            "www = \"/srv/provost/www\"\n[retention]\nage = \"36500d\"\nlogs = \"36500d\"\n";
        put(root, "root/provostd.toml", config, 0o644);
        put(root, "root/site.toml", SITE, 0o644);
        put(root, "root/scripts/first", "#!/bin/sh\necho \"first on $NODE\"\n", 0o755);
        // There are always records that are on their way, or just stored, also when the daemon ends.
        put(root, "root/scripts/second", "#!/bin/sh\nsleep 1\n", 0o755);
        put(root, "root/scripts/waits", upgrade::WAITS, 0o755);
        put(root, "root/node.toml", NODE, 0o644);
        put(root, "root/boots", upgrade::BOOTS, 0o755);
        put(root, "root/before-stop", upgrade::BEFORE_STOP, 0o755);
        let packed = fs::read(Path::new(BEFORE).join("after.db.zst")).unwrap();
        put(root, "var/lib/provostd/provost.db", zstd::decode_all(&*packed).unwrap(), 0o600);
    });
    let mut machine = disk.boot();
    machine.log_in();
    runs(&mut machine, "dpkg -i /root/old/*.deb && cp /root/provostd.toml /etc/provost");
    machine
}

fn put(root: &Chroot, name: &str, bytes: impl AsRef<[u8]>, mode: u32) {
    let path = root.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

/// Runs a command, which must succeed. Returns what it printed.
#[track_caller]
pub(crate) fn runs(machine: &mut Machine, command: &str) -> String {
    let (printed, succeeded) = machine.shell(command);
    assert!(succeeded, "{command}: {printed}");
    printed
}

#[test]
fn the_daemon_serves_as_its_own_user_each_group_may_do_its_part_and_an_upgrade_disturbs_no_node() {
    let mut machine = switched_on();
    serves_each_group(&mut machine);
    upgrade::is_lived_through(&mut machine);
}

fn serves_each_group(machine: &mut Machine) {
    runs(machine, "provostctl key new --out /root");
    runs(
        machine,
        "provostctl publish --site /root/site.toml --scripts /root/scripts \
         --key /root/provost.key --to /srv/provost/www",
    );
    assert_eq!(runs(machine, "stat -c '%a %G' /srv/provost/www/plans/cn011.toml"), "640 provost\n");

    // Ready when `start` returns; of its own user, and without a right that it doesn't need.
    runs(machine, "systemctl enable --quiet --now provostd");
    let user = "stat -c %U /proc/$(systemctl show -P MainPID provostd)";
    assert_eq!(runs(machine, user), "provostd\n");
    let files = "find /var/lib/provostd -mindepth 1 ! -user provostd";
    assert_eq!(runs(machine, files), "");

    // A node of this site gets its plan, and is heard.
    let setup = "(set -e; for node in cn011 cn012; do mkdir -m 700 $node; provostctl token $node >$node/token; \
        sed \"s|KEY|$(tail -n 1 provost.pub)|; s|NAME|$node|\" node.toml >$node/provost.toml; done)";
    runs(machine, setup);
    runs(machine, "provost --config /root/cn011/provost.toml boot");
    let show = runs(machine, "provostctl show cn011 --format json");
    let show: Value = serde_json::from_str(&show).unwrap();
    assert_eq!(show["node"]["status"], "booted", "{show:#}");

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
        ("op", "admin.sock", "release cn011", true),
        ("op", "admin.sock", "token cn013", true),
        ("reader", "read.sock", "nodes", true),
        ("reader", "admin.sock", "release cn011", false),
        ("reader", "read.sock", "release cn011", false),
        ("nobodys", "read.sock", "nodes", false),
        ("nobodys", "admin.sock", "nodes", false),
    ] {
        let (printed, succeeded) = by(machine, user, socket, command);
        assert_eq!(succeeded, may, "{user}, {socket}, {command}: {printed}");
        assert!(may || printed.contains("hint: "), "{user}, {socket}, {command}: {printed}");
    }
    let (printed, succeeded) =
        machine.shell("runuser -u nobodys -- cat /srv/provost/www/plans/cn011.toml 2>&1");
    assert!(!succeeded && printed.contains("Permission denied"), "{printed}");

    // What it knew outlives it; it ends in order, and starts again after a kill.
    runs(machine, "systemctl restart provostd");
    assert!(runs(machine, "provostctl nodes --long cn011").contains("booted"));
    runs(machine, "systemctl kill -s KILL provostd");
    runs(machine, "until provostctl nodes --long cn011 | grep -q booted; do sleep 1; done");
    runs(machine, "systemctl stop provostd");
    assert_eq!(runs(machine, "systemctl show -P Result provostd"), "success\n");
    runs(machine, "systemctl start provostd");
}

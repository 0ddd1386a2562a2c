//! The library's services: over SysV init, and over systemd as far as it goes without one.

use crate::postscripts::root::{Kind, Root};

/// An init script that keeps its state in a file.
const INIT: &str = r#"#!/bin/sh
### BEGIN INIT INFO
# Provides: widget
# Required-Start:
# Required-Stop:
# Default-Start: 2 3 4 5
# Default-Stop: 0 1 6
### END INIT INFO
case $1 in
start) >/run/widget ;;
stop) rm /run/widget ;;
restart) >/run/widget ;;
status) [ -e /run/widget ] || exit 3 ;;
esac
"#;

/// Runs `call` twice: it says `change` once, and then nothing.
#[track_caller]
fn once(root: &Root, call: &str, change: &str) {
    for said in [change, ""] {
        let out = root.sh(&format!("set -eu; . provost.sh; {call}"), &[]).expect(0);
        assert_eq!(out.stdout.trim_end(), said, "{call}: {out:?}");
    }
}

#[test]
fn an_init_script_is_started_and_enabled_once() {
    let root = Root::new(Kind::Machine);
    root.write("/etc/init.d/widget", INIT);
    root.sh("chmod 755 /etc/init.d/widget", &[]).expect(0);
    let status = |code| {
        root.sh(". provost.sh; service_status widget", &[]).expect(code);
    };
    status(3);
    once(&root, "service_start widget", "changed: started widget");
    status(0);
    once(&root, "service_enable widget", "changed: enabled widget");
    assert!(root.sh("ls /etc/rc3.d", &[]).stdout.contains("widget"));
    once(&root, "service_disable widget", "changed: disabled widget");
    once(&root, "service_stop widget", "changed: stopped widget");
    status(3);
    root.sh(". provost.sh; service_status nosuch", &[]).expect(4);
    let out = root.sh(". provost.sh; service_start nosuch", &[]).expect(1);
    out.says(&["there is no service nosuch", "hint: "]);
    once(&root, "service_stop nosuch", "");
}

#[test]
fn in_a_chroot_a_unit_is_enabled_by_any_of_its_names_and_started_later() {
    let root = Root::new(Kind::Chroot);
    root.sh("systemctl --quiet disable chrony ssh", &[]).expect(0);
    once(&root, "service_enable chronyd", "changed: enabled chrony");
    once(&root, "service_enable sshd", "changed: enabled ssh");
    once(&root, "service_disable chronyd.service", "changed: disabled chrony");
    let out = root.sh(". provost.sh; service_restart chronyd", &[]).expect(0);
    assert!(out.stdout.contains("chrony will start at the next boot"), "{out:?}");
    root.sh(". provost.sh; service_status chrony", &[]).expect(3);
    once(&root, "service_stop chronyd", "");
}

#[test]
fn a_static_unit_and_an_alias_change_nothing_again() {
    let root = Root::new(Kind::Chroot);
    let unit = "[Service]\nExecStart=/bin/true\n";
    root.write("/etc/systemd/system/fixed.service", unit);
    let is_static = "fixed is static: it starts when another unit needs it";
    let commands = "set -eu; . provost.sh; service_enable fixed; ! changes";
    for _ in 0..2 {
        assert_eq!(root.sh(commands, &[]).expect(0).stdout.trim_end(), is_static);
    }
    root.write(
        "/etc/systemd/system/named-so.service",
        &format!("{unit}[Install]\nAlias=so.service\n"),
    );
    once(&root, "service_enable named-so", "changed: enabled named-so");
}

/// So that a step whose marker an image has, and which a node skips, leaves nothing to do at the boot.
#[test]
fn in_a_folder_scripts_enable_their_services() {
    let root = Root::new(Kind::Machine);
    let image = "set -e; mkdir -p /srv/image/lib/systemd /srv/image/etc/default
        cp -a /lib/systemd/system /srv/image/lib/systemd; ln -s ../lib /srv/image/usr || :
        printf 'USE_KDUMP=0\n' >/srv/image/etc/default/kdump-tools
        cp /lib/systemd/system/chrony.service /srv/image/lib/systemd/system/kdump-tools.service
        sed -i /Alias/d /srv/image/lib/systemd/system/kdump-tools.service";
    root.sh(image, &[]).expect(0);
    let env = [("PROVOST_ROOT", "/srv/image"), ("MASTER", "10.0.0.1")];
    for (script, unit) in [
        ("setupntp", "chrony"),
        ("syslog", "rsyslog"),
        ("remoteshell", "ssh"),
        ("enablekdump", "kdump-tools"),
    ] {
        let keys = ("AUTHORIZED_KEYS", KEY);
        let env = [&env[..], &[keys]].concat();
        root.settles(script, &env);
        let link = format!("/srv/image/etc/systemd/system/multi-user.target.wants/{unit}.service");
        root.sh(&format!("[ -L {link} ]"), &[]).expect(0);
    }
    let out =
        root.script("setupntp", &[("PROVOST_ROOT", "/srv"), ("MASTER", "10.0.0.1")]).expect(0);
    out.says(&["chrony is not installed in /srv"]);
}

const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG0PYmBPTeTbEgmE8qkG4k3XTuVJY6MKPH9qd0eYdFQ1 admin";

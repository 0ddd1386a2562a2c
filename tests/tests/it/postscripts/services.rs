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

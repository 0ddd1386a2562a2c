//! What a chroot doesn't reach: the kernel, the network, the disks and the services of its host.

use crate::postscripts::root::{Kind, Root};

/// Programs that would change the host. These only take notes, and fail.
const FAKES: &str = "mkdir -p /run/fakes
for name in systemctl mount mkfs.ext4 mkfs.xfs swapon sysctl modprobe udevadm hwclock nmcli netplan ifup ifdown; do
    printf '#!/bin/sh\\necho \"$0 $*\" >>/run/notes\\nexit 1\\n' >/run/fakes/$name
done
chmod +x /run/fakes/*
mkdir -p /run/systemd/system
";

/// Runs a script in a chroot that sees the host's systemd, and returns which of these it has called.
#[track_caller]
fn calls(root: &Root, script: &str, env: &[(&str, &str)]) -> String {
    let commands = format!("PATH=/run/fakes:$PATH; rm -f /run/notes\n/run/postscripts/{script}");
    root.sh(&commands, env).expect(0);
    root.sh("cat /run/notes 2>/dev/null", &[]).stdout
}

#[test]
fn no_service_of_the_host_is_started_from_a_chroot() {
    let root = Root::new(Kind::Chroot);
    root.sh(FAKES, &[]).expect(0);
    root.write("/etc/default/grub", "GRUB_CMDLINE_LINUX=\"quiet\"\n");
    root.sh("[ -c /dev/ttyS7 ] || mknod /dev/ttyS7 c 1 3; rm -f /usr/sbin/update-grub", &[]);
    // Enabling is for the root itself; the rest would be the host's.
    let units = "ln -sf /lib/systemd/system/chrony.service \
        /lib/systemd/system/rsyslog.service /lib/systemd/system/ssh.service \
        /etc/systemd/system/multi-user.target.wants/";
    root.sh(units, &[]).expect(0);
    let key = "ssh-keygen -q -t ed25519 -N '' -f /tmp/key; mkdir -p _ssh; cp /tmp/key.pub _ssh/authorized_keys";
    root.sh(key, &[]).expect(0);
    let env = [("SERIALPORT", "7"), ("MASTER", "10.0.0.1"), ("NAMESERVERS", "10.0.0.1")];
    let new = [("FIREWALL_OPEN", "ssh"), ("LDAP_URI", "ldap://10.0.0.1"), ("LDAP_BASE", "dc=a")];
    let env = [env, new].concat();
    for script in [
        "serialconsole",
        "setupntp",
        "syslog",
        "mkresolvconf",
        "remoteshell",
        "configfirewall",
        "setupldap",
    ] {
        assert_eq!(calls(&root, script, &env), "", "{script}");
    }
    root.sh("rm /dev/ttyS7", &[]);
    assert!(root.text("/etc/default/grub").contains("console=ttyS7"));
}

#[test]
fn the_routes_of_the_host_stay_as_they_are() {
    let root = Root::new(Kind::Chroot);
    let link = "ip link add eth0 type veth peer name m0 && ip addr add 10.0.0.5/24 dev eth0 && ip link set eth0 up";
    root.sh(link, &[]).expect(0);
    let routes = || root.sh("ip route", &[]).expect(0).stdout;
    let before = routes();
    let env = [("NODEROUTENAMES", "r1"), ("ROUTE_r1", "10.50.0.0,16,10.0.0.1,eth0")];
    root.script("setroute", &env).expect(0);
    assert_eq!(routes(), before);
    assert!(root.text("/etc/network/if-up.d/50-setroute").contains("10.50.0.0/16 via 10.0.0.1"));
    // Nor are they removed there.
    root.sh("ip route add 10.50.0.0/16 via 10.0.0.1", &[]).expect(0);
    let before = routes();
    root.script("setroute", &[]).expect(0);
    assert_eq!(routes(), before);
    // An interface that an installer's kernel doesn't have isn't missing.
    let env = [("NODEROUTENAMES", "r1"), ("ROUTE_r1", "10.60.0.0,16,10.0.0.1,ib0")];
    root.script("setroute", &env).expect(0);
}

#[test]
fn a_network_that_is_refused_leaves_the_interfaces_of_the_host_alone() {
    let root = Root::new(Kind::Chroot);
    let link = "set -e; rm -f /etc/netplan/*; ip link add eth1 type veth peer name m1
        ip addr add 10.9.0.5/24 dev eth1; file=$(readlink -f $(command -v ifquery)); rm $file
        printf '#!/bin/sh\\nexit 1\\n' >$file; chmod +x $file; ! ifquery x";
    root.sh(link, &[]).expect(0);
    let state = || root.sh("ip -o link; ip -o -4 addr; ip route", &[]).expect(0).stdout;
    let before = state();
    root.refuses(
        "confignetwork",
        &[("NICIPS", "eth1!10.1.0.5/24")],
        &["ifupdown refuses the configuration", "restored the old configuration"],
    );
    assert_eq!(state(), before);
    assert!(!root.path("/etc/network/interfaces.d/provost").exists());
}

#[test]
fn a_chroot_that_is_no_installers_formats_and_mounts_nothing() {
    let root = Root::new(Kind::Chroot);
    root.sh(FAKES, &[]).expect(0);
    let env = [("SCRATCH_DEVICE", "/dev/null")];
    assert_eq!(calls(&root, "setupscratch", &env), "");
    let out = root.script("setupscratch", &env).expect(0);
    assert!(out.stdout.starts_with("skipped: in a chroot the disks are"), "{out:?}");
    assert!(!root.path("/scratch").exists());
    let fstab = std::fs::read_to_string(root.path("/etc/fstab")).unwrap_or_default();
    assert!(!fstab.contains("scratch"), "{fstab}");
    let root_of = [("SCRATCH_DEVICE", "/dev/null"), ("PROVOST_ROOT", "/srv")];
    let out = root.script("setupscratch", &root_of).expect(0);
    assert!(out.stdout.starts_with("skipped: the disks are those of this machine"), "{out:?}");
}

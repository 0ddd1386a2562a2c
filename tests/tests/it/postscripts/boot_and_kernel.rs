//! `setsysctl` and `mountinstall`: what they set doesn't outlive the kernel.

use crate::postscripts::root::{Kind, Root};

const NONE: [(&str, &str); 0] = [];

#[test]
fn parameters_of_the_kernel_are_set_now_and_at_the_next_boot() {
    const FILE: &str = "/etc/sysctl.d/90-setsysctl.conf";
    let root = Root::new(Kind::Machine);
    root.sh("ip link add eth0.7 type veth peer name m0", &[]).expect(0);
    let env = [
        ("SYSCTL_net_ipv4_ip_forward", "1"),
        ("SYSCTL_net_ipv4_tcp_rmem", "4096 131072 6000000"),
        ("SYSCTL_net_ipv4_conf_eth0_7_rp_filter", "2"),
    ];
    root.settles("setsysctl", &env);
    assert_eq!(root.sh("sysctl -n net.ipv4.ip_forward", &[]).stdout, "1\n");
    // The file means to sysctl(8) what was given.
    root.sh("sysctl -w net.ipv4.ip_forward=0; sysctl net/ipv4/conf/eth0.7/rp_filter=0", &[])
        .expect(0);
    root.sh("sysctl --system", &[]).expect(0);
    let is = root.sh("cat /proc/sys/net/ipv4/{ip_forward,conf/eth0.7/rp_filter,tcp_rmem}", &[]);
    assert_eq!(is.stdout, "1\n2\n4096\t131072\t6000000\n");
    root.settles("setsysctl", &env[..1]);
    assert!(!root.text(FILE).contains("tcp_rmem"));

    let before = root.text(FILE);
    for (name, value, says) in [
        ("SYSCTL_no_such_parameter", "1", "this kernel has no parameter for"),
        ("SYSCTL_net_ipv4_ip_forward", "yes", "the kernel refuses net/ipv4/ip_forward = yes"),
        ("SYSCTL_net_ipv4_ip_forward", "", "is not a value"),
        ("SYSCTL_net_ipv4_ip_forward", "1\nkernel.core_pattern = |/x", "is not a value"),
        ("SYSCTL_net_ipv4_tcp_fin_timeout", "007", "the kernel has made 7 of"),
        ("SYSCTL_vm_drop_caches", "1", "cannot be read"),
    ] {
        // Root reads vm.drop_caches on some kernels: then it is one like any other.
        if name == "SYSCTL_vm_drop_caches"
            && root.sh("cat /proc/sys/vm/drop_caches", &[]).code == Some(0)
        {
            continue;
        }
        root.refuses("setsysctl", &[(name, value)], &[says]);
        assert_eq!(root.text(FILE), before);
    }
    // Two interfaces, and one name.
    root.sh("ip link add eth0_7 type veth peer name m1", &[]).expect(0);
    root.refuses("setsysctl", &env[2..], &["can mean", "eth0.7", "eth0_7"]);

    let out = root.script("setsysctl", &NONE).expect(0);
    assert!(out.stdout.starts_with("changed: removed "), "{out:?}");
    let out = root.script("setsysctl", &NONE).expect(0);
    assert!(out.stdout.starts_with("skipped: no SYSCTL_ variable"), "{out:?}");
}

#[test]
fn the_kernel_of_a_chroots_host_stays_as_it_is() {
    let root = Root::new(Kind::Chroot);
    let env = [("SYSCTL_net_ipv4_ip_forward", "1"), ("SYSCTL_net_ipv4_tcp_fin_timeout", "007")];
    root.settles("setsysctl", &env);
    assert_eq!(root.sh("cat /proc/sys/net/ipv4/ip_forward", &[]).stdout, "0\n");
    let image = [env[0], ("PROVOST_ROOT", "/srv")];
    root.settles("setsysctl", &image);
    assert!(root.text("/srv/etc/sysctl.d/90-setsysctl.conf").contains("net.ipv4.ip_forward = 1\n"));
}

/// A server that is never far: what it exports is a file system in memory.
const MOUNT_NFS: &str = r#"#!/bin/sh
case $1 in 10.9.9.9:*) echo "mount.nfs: Connection timed out" >&2; exit 32 ;; esac
exec mount -i -t tmpfs "$1" "$2"
"#;

#[test]
fn the_folder_of_the_management_node_is_mounted_now_and_at_the_next_boot() {
    let root = Root::new(Kind::Machine);
    let env = [("INSTALLSERVER", "10.0.0.1"), ("INSTALLDIR", "/srv/install/")];
    root.refuses("mountinstall", &env, &["there is no mount.nfs"]);
    root.write("/sbin/mount.nfs", MOUNT_NFS);
    root.sh("chmod +x /sbin/mount.nfs", &[]).expect(0);
    let away = [("INSTALLSERVER", "10.9.9.9")];
    root.refuses(
        "mountinstall",
        &away,
        &["Connection timed out", "cannot mount 10.9.9.9:/install"],
    );
    assert!(!root.text("/etc/fstab").contains("10.9.9.9"));

    root.settles("mountinstall", &env);
    let mounts = root.sh("cat /proc/mounts", &[]).stdout;
    assert!(mounts.contains("\n10.0.0.1:/srv/install /srv/install "), "{mounts}");
    let line = "10.0.0.1:/srv/install /srv/install nfs ro,nofail,_netdev 0 0\n";
    assert!(root.text("/etc/fstab").contains(line));
    root.sh("findmnt --verify --fstab", &[]);

    // As after a boot without the server.
    root.sh("umount /srv/install", &[]).expect(0);
    let out = root.script("mountinstall", &env).expect(0);
    assert!(out.stdout.contains("changed: mounted "), "{out:?}");
    let other = [("MASTER", "mn"), env[1]];
    root.refuses("mountinstall", &other, &["something else is mounted at /srv/install: 10.0.0.1:"]);
    root.refuses("mountinstall", &[env[0], ("INSTALLDIR", "/etc")], &["/etc is not empty"]);
    for (name, value) in [
        ("INSTALLSERVER", "a;b"),
        ("INSTALLSERVER", "-o"),
        ("INSTALLDIR", "install"),
        ("INSTALLDIR", "/"),
        ("INSTALLDIR", "/srv/../etc"),
        ("INSTALLDIR", "/a b"),
    ] {
        root.refuses("mountinstall", &[env[0], (name, value)], &[&format!("{name} is not a ")]);
    }
    root.refuses("mountinstall", &NONE, &["neither INSTALLSERVER nor MASTER is set"]);
}

#[test]
fn an_image_gets_the_folder_at_its_boot() {
    let root = Root::new(Kind::Chroot);
    root.write("/sbin/mount.nfs", MOUNT_NFS);
    root.settles("mountinstall", &[("MASTER", "fd00::1")]);
    let line = "[fd00::1]:/install /install nfs ro,nofail,_netdev 0 0\n";
    assert!(root.text("/etc/fstab").contains(line));
    root.write("/srv/image/sbin/mount.nfs", "");
    let image = [("MASTER", "mn"), ("PROVOST_ROOT", "/srv/image")];
    root.settles("mountinstall", &image);
    assert!(root.text("/srv/image/etc/fstab").contains("\nmn:/install /install nfs "));
    assert!(root.path("/srv/image/install").is_dir());
    assert!(!root.sh("cat /proc/mounts", &[]).stdout.contains("install"));
}

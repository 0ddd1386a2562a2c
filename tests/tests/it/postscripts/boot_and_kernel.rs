//! `setsysctl`, `configboot` and `mountinstall`: what they set outlives neither kernel nor firmware.

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

/// A firmware whose order stands in /run/order; with /run/stubborn it doesn't keep another one.
const EFIBOOTMGR: &str = r#"#!/bin/sh
case $1 in
-v)
    printf 'BootCurrent: 0003\nTimeout: 1 seconds\nBootOrder: %s\n' "$(cat /run/order)"
    printf 'Boot0000* debian\tHD(1,GPT,aa-bb,0x800,0x100000)/File(\\EFI\\debian\\shimx64.efi)\n'
    printf 'Boot0001* UEFI: Built-in EFI Shell\tVenMedia(5023b95c)/FvFile(7c04a583)\n'
    printf 'Boot0002* NIC 1\tPciRoot(0x0)/Pci(0x1,0x0)/MAC(525400123456,1)/IPv4(0.0.0.0,0,0)\n'
    printf 'Boot0003  NIC 2\tPciRoot(0x0)/Pci(0x2,0x0)/MAC(525400123457,1)/IPv4(0.0.0.0,0,0)\n'
    printf 'Boot000A* UEFI PXE 2\tBBS(128,IBA GE Slot 0100,0x0)\n'
    printf 'Boot000B* SSD\tPciRoot(0x0)/Pci(0x1d,0x0)/Pci(0x0,0x0)/NVMe(0x1,00-25)\n'
    printf 'MirroredPercentageAbove4G: 0.00\n'
    ;;
-q) [ -e /run/stubborn ] || echo "$3" >/run/order ;;
esac
"#;

#[test]
fn the_firmware_tries_network_and_disk_in_the_order_of_the_site() {
    let root = Root::new(Kind::Machine);
    root.write("/usr/bin/efibootmgr", EFIBOOTMGR);
    root.write("/run/order", "0000,0001,0003,0002,000B\n");
    let order = |kinds: &str, order: &str| {
        root.settles("configboot", &[("BOOTORDER", kinds)]);
        assert_eq!(root.text("/run/order"), format!("{order}\n"), "{kinds}");
    };
    // With the entry that wasn't in the order, and the disabled one where it was.
    order("net disk", "0002,000A,0000,000B,0001,0003");
    order("disk,net", "0000,000B,0002,000A,0001,0003");
    order("net", "0002,000A,0000,000B,0001,0003");

    root.write("/run/stubborn", "");
    root.refuses("configboot", &[("BOOTORDER", "disk")], &["has not kept the order"]);
    root.refuses("configboot", &[("BOOTORDER", "net cd")], &["unknown kind: 'cd'"]);
    root.refuses("configboot", &[("BOOTORDER", "*")], &["unknown kind: '*'"]);
    root.refuses("configboot", &NONE, &["BOOTORDER is not set"]);
    root.sh("sed -i '/PXE/d; /MAC/d' /usr/bin/efibootmgr", &[]).expect(0);
    root.refuses("configboot", &[("BOOTORDER", "net")], &["no enabled boot entry of the kind net"]);
    root.sh("rm /usr/bin/efibootmgr", &[]).expect(0);
    root.refuses("configboot", &[("BOOTORDER", "net")], &["efibootmgr is not installed"]);
}

#[test]
fn no_other_machines_firmware_is_touched() {
    let root = Root::new(Kind::Chroot);
    let env = ("BOOTORDER", "net disk");
    for (env, says) in [
        ([env, ("PROVOST_ROOT", "/srv")], "the system in /srv"),
        ([env, ("PROVOST_SERVICE", "boot")], "another system"),
    ] {
        let out = root.script("configboot", &env).expect(0);
        assert!(out.stdout.starts_with("skipped: ") && out.stdout.contains(says), "{out:?}");
    }
    // Here the real program says that this machine has none; an installer's is the node's own.
    if !std::path::Path::new("/sys/firmware/efi").exists() {
        let kickstart = [env, ("PROVOST_SERVICE", "kickstart")];
        root.refuses("configboot", &kickstart, &["boot entries cannot be read", "BMC"]);
    }
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

//! `configboot`, with the real efibootmgr over a folder of firmware variables, and with what other
//! versions of it print.

use crate::postscripts::root::{Kind, Root};

const NONE: [(&str, &str); 0] = [];

/// Where libefivar finds the variables, instead of below /sys.
const VARIABLES: (&str, &str) = ("EFIVARFS_PATH", "/run/firmware/");

/// The vendor of the variables that the UEFI specification defines.
const GLOBAL: &str = "8be4df61-93ca-11d2-aa0d-00e098032b8c";

/// Writes a variable as efivarfs shows it: 4 bytes of attributes before the data.
fn variable(root: &Root, name: &str, data: &[u8]) {
    let path = root.path(&format!("{}{name}-{GLOBAL}", VARIABLES.1));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, [&7_u32.to_le_bytes(), data].concat()).unwrap();
}

fn boot_order(root: &Root, numbers: &[u16]) {
    let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    variable(root, "BootOrder", &data);
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
}

/// A node of a device path: UEFI specification 2.10, 10.3.1.
fn node(kind: u8, subtype: u8, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len() + 4).unwrap().to_le_bytes();
    [&[kind, subtype], &length[..], data].concat()
}

/// A boot entry, an `EFI_LOAD_OPTION`: 3.1.3 there.
fn entry(root: &Root, name: &str, active: bool, description: &str, path: &[Vec<u8>], data: &[u8]) {
    let path = [path.concat(), node(0x7f, 0xff, &[])].concat();
    let length = u16::try_from(path.len()).unwrap().to_le_bytes();
    let attributes = u32::from(active).to_le_bytes();
    let option = [&attributes[..], &length, &utf16(description), &path, data].concat();
    variable(root, name, &option);
}

fn pci(device: u8) -> Vec<u8> {
    [node(2, 1, &[0xd0, 0x41, 3, 10, 0, 0, 0, 0]), node(1, 1, &[0, device])].concat()
}

fn mac() -> Vec<u8> {
    node(3, 11, &[&[0x52, 0x54, 0, 0x12, 0x34, 0x56][..], &[0; 26], &[1]].concat())
}

fn partition() -> Vec<u8> {
    let place = [&1_u32.to_le_bytes()[..], &0x800_u64.to_le_bytes(), &0x10_0000_u64.to_le_bytes()];
    node(4, 1, &[&place.concat()[..], &[0x11; 16], &[2, 2]].concat())
}

fn file(name: &str) -> Vec<u8> {
    node(4, 4, &utf16(name))
}

/// A path that means something to the firmware alone.
fn vendor() -> Vec<u8> {
    node(1, 4, &[0x1f; 20])
}

/// Entries as those of servers, laptops and OVMF, with what their names suggest and aren't.
fn firmware(root: &Root) {
    let ipv4 = || node(3, 12, &[0; 23]);
    let sata = || node(3, 18, &[0, 0, 0xff, 0xff, 0, 0]);
    let shim = [partition(), file(r"\EFI\debian\shimx64.efi")];
    entry(root, "Boot0000", true, "debian", &shim, b"");
    let shell = [node(4, 7, &[0x22; 16]), node(4, 6, &[0x33; 16])];
    entry(root, "Boot0001", true, "EFI Internal Shell", &shell, b"");
    let created_by_firmware = [0x4e, 0xac, 8, 0x81, 0x11, 0x9f, 0x59, 0x4d];
    let pxe = [pci(2), mac(), ipv4()];
    entry(root, "Boot0002", true, "UEFI PXEv4 (MAC:525400123456)", &pxe, &created_by_firmware);
    let pxe6 = [pci(2), mac(), node(3, 13, &[0; 56])];
    entry(root, "Boot0003", false, "UEFI PXEv6 (MAC:525400123456)", &pxe6, b"");
    let nvme = [pci(0x1d), node(3, 23, &[1, 0, 0, 0, 0, 0x25, 0x38, 0xb1, 1, 2, 3, 4])];
    entry(root, "Boot0004", true, "UEFI Samsung SSD 980", &nvme, b"");
    let http = [pci(2), mac(), ipv4(), node(3, 24, b"")];
    entry(root, "Boot0005", true, "UEFI HTTPv4", &http, b"");
    entry(root, "Boot0006", true, "UEFI QEMU DVD-ROM QM00003", &[pci(0x1f), sata()], b"");
    entry(root, "Boot0007", true, "UEFI: Stick", &[pci(3), node(3, 5, &[1, 0]), partition()], b"");
    entry(root, "Boot0008", true, "eMMC", &[pci(0x1a), node(3, 29, &[0])], b"");
    entry(root, "Boot0009", true, "Hard Disk 0", &[vendor()], b"");
    // Not as the specification has it: in lower case.
    entry(root, "Boot000a", true, "UEFI QEMU HARDDISK QM00001", &[pci(0x1f), sata()], b"");
    entry(root, "Boot000B", true, "Network", &[vendor()], b"");
    let bbs = [node(5, 1, b"\x06\0\0\0IBA GE Slot 0100\0")];
    entry(root, "Boot000C", true, "Legacy LAN", &bbs, b"");
}

#[test]
fn the_real_efibootmgr_sets_the_order_of_the_firmware() {
    let root = Root::new(Kind::Machine);
    firmware(&root);
    boot_order(&root, &[6, 0, 1, 3, 2, 4, 10, 7, 8, 9, 11, 12, 5]);
    let is = || {
        let list = root.sh("efibootmgr", &[VARIABLES]).expect(0).stdout;
        let line = list.lines().find_map(|line| line.strip_prefix("BootOrder: "));
        line.unwrap_or_default().to_owned()
    };
    let order = |kinds: &str, order: &str| {
        root.settles("configboot", &[VARIABLES, ("BOOTORDER", kinds)]);
        assert_eq!(is(), order, "{kinds}");
    };
    let (net, disk) = ("0002,000B,000C,0005", "0000,0004,000A,0008,0009");
    order("net disk", &format!("{net},{disk},0006,0001,0003,0007"));
    order("disk", &format!("{disk},{net},0006,0001,0003,0007"));

    // A number without an entry, which some firmware leaves in the order; and one entry that isn't in it.
    boot_order(&root, &[0x99, 0, 1, 3, 2, 4, 10, 6, 7, 8, 9, 11, 12]);
    order("net", &format!("{net},0000,0001,0003,0004,000A,0006,0007,0008,0009"));
    let file = root.path(&format!("{}BootOrder-{GLOBAL}", VARIABLES.1));
    std::fs::remove_file(file).unwrap();
    order("disk net", "0000,0004,0008,0009,000A,0002,0005,000B,000C");
}

/// A firmware whose order stands in /run/order; with /run/stubborn it doesn't keep another one. With /run/18
/// it prints what efibootmgr does from version 18 on, else what it did before.
const EFIBOOTMGR: &str = r#"#!/bin/sh
more() {
    [ ! -e /run/18 ] || printf '      dp: 02 01 0c 00 / 7f ff 04 00\n    data: 4e ac 08 81\n'
}
case $1 in
-v)
    printf 'BootCurrent: 0003\nTimeout: 1 seconds\nBootOrder: %s\n' "$(cat /run/order)"
    printf 'Boot0000* debian\tHD(1,GPT,aa-bb,0x800,0x100000)/File(\\EFI\\debian\\shimx64.efi)\n'
    more
    printf 'Boot0001* UEFI: Built-in EFI Shell\tVenMedia(5023b95c)/FvFile(7c04a583)\n'
    more
    printf 'Boot0002* NIC 1\tPciRoot(0x0)/Pci(0x1,0x0)/MAC(525400123456,1)/IPv4(0.0.0.0,0,DHCP,0,0,0,0){auto_created_boot_option}\n'
    more
    printf 'Boot0003  NIC 2\tPciRoot(0x0)/Pci(0x2,0x0)/MAC(525400123457,1)/IPv4(0.0.0.0,0,0)\n'
    more
    printf 'Boot000A* UEFI PXE 2\tBBS(128,IBA GE Slot 0100,0x0)\n'
    more
    printf 'Boot000B* SSD\tPciRoot(0x0)/Pci(0x1d,0x0)/Pci(0x0,0x0)/NVMe(0x1,00-25)\n'
    more
    printf 'MirroredPercentageAbove4G: 0.00\n'
    ;;
-q) [ -e /run/stubborn ] || echo "$3" >/run/order ;;
esac
"#;

#[test]
fn the_firmware_tries_network_and_disk_in_the_order_of_the_site() {
    let root = Root::new(Kind::Machine);
    root.write("/usr/bin/efibootmgr", EFIBOOTMGR);
    let order = |kinds: &str, order: &str| {
        root.settles("configboot", &[("BOOTORDER", kinds)]);
        assert_eq!(root.text("/run/order"), format!("{order}\n"), "{kinds}");
    };
    for version in [17, 18] {
        root.write(&format!("/run/{version}"), "");
        root.write("/run/order", "0000,0001,0003,0002,000B\n");
        // With the entry that wasn't in the order, and the disabled one where it was.
        order("net disk", "0002,000A,0000,000B,0001,0003");
        order("disk,net", "0000,000B,0002,000A,0001,0003");
        order("net", "0002,000A,0000,000B,0001,0003");
    }

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

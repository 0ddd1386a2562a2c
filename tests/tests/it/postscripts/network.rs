//! `confignetwork`, with interfaces whose other ends are the management node's.

use crate::postscripts::cables::{cabled, start_network_manager, start_networkd};
use crate::postscripts::root::{Kind, Root};

const SITE: [(&str, &str); 8] = [
    ("MASTER", "10.0.0.1"),
    ("INSTALLNIC", "eth0"),
    ("IPADDR", "10.0.0.5"),
    ("CONFIGNETWORK_WAIT", "3"),
    ("NETWORKS_LINES", "2"),
    (
        "NETWORKS_LINE1",
        "netname=a||net=10.0.0.0||mask=255.255.255.0||gateway=<xcatmaster>||mtu=1400",
    ),
    ("NETWORKS_LINE2", "netname=b||net=10.1.0.0||mask=255.255.255.0||gateway=||mtu="),
    ("ARCH", "x86_64"),
];

fn site<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    SITE.iter().chain(more).copied().collect()
}

fn addresses(root: &Root) -> String {
    root.sh("ip -o -4 addr | awk '{print $2, $4}'", &[]).expect(0).stdout
}

#[test]
fn interfaces_are_configured_for_now_and_later() {
    let root = cabled();
    root.settles("confignetwork", &site(&[("NICIPS", "eth1!10.1.0.5")]));
    assert_eq!(addresses(&root), "lo 127.0.0.1/8\neth0 10.0.0.5/24\neth1 10.1.0.5/24\n");
    let file = root.text("/etc/network/interfaces.d/provost");
    assert!(file.contains("auto eth1\niface eth1 inet static\n    address 10.1.0.5/24"), "{file}");

    // Its address was lost, though the files are right.
    root.sh("ip addr flush dev eth1", &[]).expect(0);
    root.settles("confignetwork", &site(&[("NICIPS", "eth1!10.1.0.5")]));

    root.settles("confignetwork -s", &site(&[("NICIPS", "eth1!10.1.0.5")]));
    let route = root.sh("ip route show default", &[]).stdout;
    assert!(route.starts_with("default via 10.0.0.1 dev eth0"), "{route}");
    assert_eq!(root.text("/sys/class/net/eth0/mtu"), "1400\n");

    let bridge =
        [("NICIPS", "br0!10.1.0.9"), ("NICTYPES", "br0!bridge"), ("NICDEVICES", "br0!eth1")];
    root.settles("confignetwork", &site(&bridge));
    assert!(addresses(&root).contains("br0 10.1.0.9/24\n"));
    root.sh("ping -q -c 1 -W 5 10.1.0.1", &[]).expect(0);
}

#[test]
fn what_cuts_the_way_to_the_management_node_is_taken_back() {
    let root = cabled();
    let was = addresses(&root);
    let routes = root.sh("ip route", &[]).stdout;
    let files = ["/etc/network/interfaces"].map(|file| root.text(file));
    // The right cable with another network's address; and an interface that isn't there.
    for (nic, says) in [
        ("eth0!10.99.0.5/24", "the management node 10.0.0.1 no longer answers"),
        ("eth7!10.1.0.5", "cannot bring"),
    ] {
        root.refuses(
            "confignetwork",
            &site(&[("NICIPS", nic)]),
            &[says, "restored the old configuration"],
        );
        assert_eq!(addresses(&root), was, "{nic}");
        assert_eq!(root.sh("ip route", &[]).stdout, routes, "{nic}");
        assert_eq!(["/etc/network/interfaces"].map(|file| root.text(file)), files);
        assert!(!root.path("/etc/network/interfaces.d/provost").exists());
        root.sh("ping -q -c 1 -W 5 10.0.0.1", &[]).expect(0);
    }
}

#[test]
fn network_manager_does_it_and_takes_it_back() {
    let root = cabled();
    start_network_manager(&root);
    let env = site(&[("NICIPS", "eth1!10.1.0.5")]);
    root.settles("confignetwork", &env);
    let was = addresses(&root);
    assert_eq!(was, "lo 127.0.0.1/8\neth0 10.0.0.5/24\neth1 10.1.0.5/24\n");

    let env = site(&[("NICIPS", "eth1!10.1.0.5,eth0!10.99.0.5/24")]);
    root.refuses("confignetwork", &env, &["no longer answers", "restored the old configuration"]);
    assert_eq!(addresses(&root), was);
    root.sh("ping -q -c 1 -W 5 10.0.0.1 && ip route get 192.0.2.1", &[]).expect(0);
    assert!(
        !root.path("/etc/NetworkManager/system-connections/provost-eth0.nmconnection").exists()
    );

    let bridge =
        [("NICIPS", "br0!10.1.0.9"), ("NICTYPES", "br0!bridge"), ("NICDEVICES", "br0!eth1")];
    root.settles("confignetwork", &site(&bridge));
    assert!(addresses(&root).contains("br0 10.1.0.9/24\n"));
}

#[test]
fn systemd_networkd_does_it_and_takes_it_back() {
    let root = cabled();
    let enabled = "rm /usr/sbin/netplan
        ln -s /lib/systemd/system/systemd-networkd.service /etc/systemd/system/multi-user.target.wants/";
    root.sh(enabled, &[]).expect(0);
    start_networkd(&root);
    let env = site(&[("NICIPS", "eth1!10.1.0.5")]);
    root.settles("confignetwork", &env);
    let was = addresses(&root);
    assert_eq!(was, "lo 127.0.0.1/8\neth0 10.0.0.5/24\neth1 10.1.0.5/24\n");

    let env = site(&[("NICIPS", "eth1!10.1.0.5,eth0!10.99.0.5/24")]);
    root.refuses("confignetwork", &env, &["no longer answers", "restored the old configuration"]);
    assert_eq!(addresses(&root), was);
    root.sh("ping -q -c 1 -W 5 10.0.0.1 && ip route get 192.0.2.1", &[]).expect(0);
    assert!(!root.path("/etc/systemd/network/10-provost-eth0.network").exists());

    let bridge =
        [("NICIPS", "br0!10.1.0.9"), ("NICTYPES", "br0!bridge"), ("NICDEVICES", "br0!eth1")];
    root.settles("confignetwork", &site(&bridge));
    assert!(addresses(&root).contains("br0 10.1.0.9/24\n"));
    root.sh("ping -q -c 1 -W 5 10.1.0.1", &[]).expect(0);
}

#[test]
fn a_run_that_is_ended_in_between_puts_the_network_back() {
    let root = cabled();
    let was = addresses(&root);
    let env = site(&[("NICIPS", "eth0!10.99.0.5/24"), ("CONFIGNETWORK_WAIT", "600")]);
    // As the runner does at a time-out: SIGTERM to all of it, once the old address is gone.
    let commands = "setsid /run/postscripts/confignetwork & pid=$!
        until [ -z \"$(ip -o -4 addr show dev eth0 | grep 10.0.0.5)\" ] && [ -n \"$(ip -o -4 addr show dev eth0)\" ]; do sleep 0.05; done
        kill -TERM -$pid; wait $pid";
    let out = root.sh(commands, &env).expect(143);
    out.says(&["restoring the old one"]);
    assert_eq!(addresses(&root), was);
    assert!(!root.path("/etc/network/interfaces.d/provost").exists());
}

const BOND: [(&str, &str); 5] = [
    ("NICIPS", "bond0!10.1.0.5|fd00::5/64,bond0.7!10.7.0.5/24"),
    ("NICTYPES", "bond0!bond,bond0.7!vlan"),
    ("NICDEVICES", "bond0!eth1|eth2,bond0.7!bond0"),
    ("NICNETWORKS", "bond0!b"),
    ("NICEXTRAPARAMS", "bond0!mode=802.3ad miimon=100 xmit_hash_policy=layer3+4 MTU=9000"),
];

/// In a chroot, where nothing can be brought up: the files, and what their own readers make of them.
#[test]
fn bonds_and_vlans_are_written_for_each_network_manager() {
    let root = Root::new(Kind::Chroot);
    root.settles("confignetwork", &site(&BOND));
    let query = root.sh("ifquery bond0 && ifquery bond0.7", &[]).expect(0).stdout;
    for line in
        ["address: 10.1.0.5", "netmask: 255.255.255.0", "address: fd00::5", "address: 10.7.0.5"]
    {
        assert!(query.contains(line), "{line} isn't in\n{query}");
    }
    let file = root.text("/etc/network/interfaces.d/provost");
    assert!(file.contains("ip link add bond0 type bond mode 802.3ad miimon 100"), "{file}");

    root.write("/etc/netplan/00-installer.yaml", "network: {version: 2}\n");
    root.sh("chmod 600 /etc/netplan/*", &[]).expect(0);
    root.settles("confignetwork", &site(&BOND));
    root.sh("netplan generate", &[]).expect(0);
    let units = root.sh("cat /run/systemd/network/*", &[]).expect(0).stdout;
    for line in [
        "Mode=802.3ad",
        "MIIMonitorSec=100ms",
        "TransmitHashPolicy=layer3+4",
        "Bond=bond0",
        "Address=10.1.0.5/24",
        "Address=fd00::5/64",
        "VLAN=bond0.7",
        "Id=7",
        "MTUBytes=9000",
        "Address=10.7.0.5/24",
    ] {
        assert!(units.lines().any(|l| l == line), "{line} isn't in\n{units}");
    }

    root.sh("rm -r /etc/netplan/* /sbin/ifup", &[]).expect(0);
    root.settles("confignetwork", &site(&BOND));
    let folder = "/etc/NetworkManager/system-connections";
    let check = "for file in *; do nmcli --offline connection modify connection.id x <$file; done";
    root.sh(&format!("set -e; cd {folder}; {check}"), &[]).expect(0);
    let bond = root.text(&format!("{folder}/provost-bond0.nmconnection"));
    for part in [
        "[connection]\nid=provost-bond0\ntype=bond\ninterface-name=bond0\n",
        "[bond]\nmode=802.3ad\nmiimon=100\nxmit_hash_policy=layer3+4\n",
        "[ethernet]\nmtu=9000\n",
        "[ipv4]\nmethod=manual\naddress1=10.1.0.5/24\n",
        "[ipv6]\nmethod=manual\naddress1=fd00::5/64\n",
    ] {
        assert!(bond.contains(part), "{part} isn't in\n{bond}");
    }
    let member = root.text(&format!("{folder}/provost-eth1.nmconnection"));
    assert!(member.contains("master=bond0\nslave-type=bond\n"), "{member}");
    assert_eq!(root.mode(&format!("{folder}/provost-bond0.7.nmconnection")), 0o600);
    // What the site has no more goes.
    root.settles("confignetwork", &site(&[("NICIPS", "eth1!10.1.0.5")]));
    assert!(!root.path(&format!("{folder}/provost-bond0.nmconnection")).exists());
}

#[test]
fn hostile_tables_write_nothing() {
    let root = Root::new(Kind::Chroot);
    for (name, value) in [
        ("NICIPS", "eth1!10.1.0.5\nup touch /pwned"),
        ("NICIPS", "eth1!10.1.0.5;reboot"),
        ("NICIPS", "eth1!10.1.0.300"),
        ("NICIPS", "eth1!10.55.0.5"),
        ("NICIPS", "../x!10.1.0.5"),
        ("NICIPS", "10.1.0.5"),
        ("NICTYPES", "eth1!tunnel"),
        ("NICDEVICES", "br0!eth1;reboot"),
        ("NICEXTRAPARAMS", "eth1!mtu=$(reboot)"),
    ] {
        let mut env = site(&[("NICIPS", "eth1!10.1.0.5")]);
        env.push((name, value));
        root.refuses("confignetwork", &env, &[]);
        assert!(!root.path("/etc/network/interfaces.d/provost").exists(), "{name}={value}");
    }
}

//! A root with network interfaces whose other ends are the management node's, and what configures them.

use crate::postscripts::root::{Kind, Root};

/// Two interfaces: eth0, over which the node was installed, and eth1. Their other ends are in a
/// network namespace, with addresses of the management node.
const CABLES: &str = r"set -e
ip netns add mn
ip link add eth0 type veth peer name m0 netns mn
ip link add eth1 type veth peer name m1 netns mn
for end in 'lo' 'm0' 'm1'; do ip -n mn link set $end up; done
ip -n mn addr add 10.0.0.1/24 dev m0
ip -n mn addr add 10.1.0.1/24 dev m1
ip -n mn addr add fd00::1/64 dev m1 nodad
ip addr add 10.0.0.5/24 dev eth0
ip link set eth0 up
ip route add default via 10.0.0.1
rm -f /etc/netplan/*";

pub(super) fn cabled() -> Root {
    let root = Root::new(Kind::Machine);
    root.sh(CABLES, &[]).expect(0);
    root
}

/// Starts NetworkManager, without ifupdown.
pub(super) fn start_network_manager(root: &Root) {
    // Without a udev that would tell it of interfaces, it looks itself if /sys is read-only.
    let start = "mkdir -p /run/dbus; mount -o remount,ro,bind /sys; rm /sbin/ifup
        dbus-daemon --system --fork && NetworkManager
        until [ $(nmcli -g DEVICE device | wc -l) = 3 ]; do sleep 0.1; done";
    root.sh(&format!("exec >/dev/null 2>&1\n{start}"), &[]).expect(0);
}

/// Starts systemd-networkd, without ifupdown and NetworkManager.
pub(super) fn start_networkd(root: &Root) {
    // Without udev it takes interfaces as they are if /sys is read-only.
    let start = "set -e; mount -o remount,ro,bind /sys
        rm /sbin/ifup /usr/sbin/NetworkManager
        mkdir -p /run/dbus /run/systemd/netif/links /run/systemd/netif/leases
        chown -R systemd-network: /run/systemd/netif
        dbus-daemon --system --fork; /lib/systemd/systemd-networkd &
        for try in $(seq 100); do ! networkctl list || exit 0; sleep 0.1; done; exit 1";
    root.sh(&format!("exec >/dev/null 2>&1\n{start}"), &[]).expect(0);
}

//! `configfirewall`, with the real firewalld and nftables, and packets of a neighbour.

use crate::postscripts::root::{Kind, Root};

/// A service manager that starts both for real, and a neighbour: 10.1.0.2 and 10.1.0.3, which reaches
/// three servers here. `reach` prints what of them it reaches from which address.
const MACHINE: &str = r#"set -e
mkdir -p /run/systemd/system
mv /usr/bin/systemctl /usr/bin/systemctl.real
cat >/usr/bin/systemctl <<'X'
#!/bin/sh
case "$*" in
*enable*) SYSTEMD_OFFLINE=1 exec systemctl.real "$@" ;;
is-active*) [ -e "/run/active-$3" ] ;;
'start firewalld')
    mkdir -p /run/dbus
    dbus-daemon --system --fork
    firewalld --nofork --nopid >/run/firewalld.log 2>&1 &
    until [ "$(firewall-cmd --state 2>/dev/null)" = running ]; do kill -0 $! || exit; sleep 0.1; done
    >/run/active-firewalld
    ;;
'start nftables') nft -f /etc/nftables.conf && >/run/active-nftables ;;
*) echo "systemctl $*: nobody expected that" >&2; exit 1 ;;
esac
X
chmod +x /usr/bin/systemctl
ip link add v0 type veth peer name v1
ip netns add neighbour
ip link set v1 netns neighbour
ip addr add 10.1.0.1/16 dev v0
ip link set v0 up
for address in 2 3; do ip -n neighbour addr add 10.1.0.$address/16 dev v1; done
ip -n neighbour link set v1 up
cat >/run/servers <<'X'
import socket, time
servers = [socket.create_server(("0.0.0.0", port)) for port in (22, 2049, 81)]
open("/run/serving", "w")
time.sleep(600)
X
cat >/usr/bin/reach <<'X'
#!/usr/bin/python3
import socket
for port in (22, 2049, 81):
    for own in ("10.1.0.2", "10.1.0.3"):
        try:
            socket.create_connection(("10.1.0.1", port), 1, (own, 0))
            print(port, "from", own)
        except OSError:
            pass
X
chmod +x /usr/bin/reach
python3 /run/servers >/dev/null 2>&1 &
until [ -e /run/serving ]; do sleep 0.1; done"#;

const OPEN: (&str, &str) = ("FIREWALL_OPEN", "22/tcp nfs@10.1.0.2");
const WITHOUT_FIREWALLD: &str =
    "rm /lib/systemd/system/firewalld.service; rm -f /etc/systemd/system/*/firewalld.service";

fn reached(root: &Root) -> Vec<String> {
    let out = root.sh("ip netns exec neighbour reach", &[]).expect(0);
    out.stdout.lines().map(str::to_owned).collect()
}

/// What is listed is open, at once and after a change, and nothing else.
#[track_caller]
fn opens_what_is_listed(root: &Root) {
    assert_eq!(reached(root).len(), 6);
    root.settles("configfirewall", &[OPEN]);
    assert_eq!(reached(root), ["22 from 10.1.0.2", "22 from 10.1.0.3", "2049 from 10.1.0.2"]);
    root.sh("ip netns exec neighbour ping -c 1 -W 5 10.1.0.1", &[]).expect(0);

    let all = [("FIREWALL_OPEN", "all@10.1.0.3/32")];
    root.settles("configfirewall", &all);
    assert_eq!(reached(root), ["22 from 10.1.0.3", "2049 from 10.1.0.3", "81 from 10.1.0.3"]);
}

#[test]
fn firewalld_lets_in_what_is_listed_and_nothing_else() {
    let root = Root::new(Kind::Machine);
    root.sh(MACHINE, &[]).expect(0);
    opens_what_is_listed(&root);
    assert_eq!(root.sh("firewall-cmd --get-default-zone", &[]).stdout, "provost\n");
    root.sh("firewall-cmd --check-config", &[]).expect(0);
}

#[test]
fn nftables_lets_in_what_is_listed_and_leaves_other_tables_alone() {
    let root = Root::new(Kind::Machine);
    root.sh(MACHINE, &[]).expect(0);
    root.sh(WITHOUT_FIREWALLD, &[]).expect(0);
    root.sh("nft add table inet others", &[]).expect(0);
    opens_what_is_listed(&root);
    root.sh("nft list table inet others", &[]).expect(0);
    assert!(root.text("/etc/nftables.conf.provost-orig").contains("flush ruleset"));

    // Rules that somebody has flushed are loaded again.
    root.settles("configfirewall", &[OPEN]);
    root.sh("nft flush ruleset", &[]).expect(0);
    let out = root.script("configfirewall", &[OPEN]).expect(0);
    assert!(out.stdout.contains("changed: loaded the rules"), "{out:?}");
    assert_eq!(reached(&root).len(), 3);
}

#[test]
fn in_an_image_it_is_configured_for_the_next_boot() {
    for firewalld in [true, false] {
        let root = Root::new(Kind::Chroot);
        if !firewalld {
            root.sh(WITHOUT_FIREWALLD, &[]).expect(0);
        }
        let open = [("FIREWALL_OPEN", "ssh,6818-6820/tcp@fd00::/8, 123/udp")];
        root.settles("configfirewall", &open);
        if firewalld {
            root.sh("firewall-offline-cmd --check-config", &[]).expect(0);
            let zone = root.sh("firewall-offline-cmd --zone=provost --list-all", &[]).expect(0);
            let rule = "rule family=\"ipv6\" source address=\"fd00::/8\" port port=\"6818-6820\" protocol=\"tcp\" accept";
            for text in ["services: dhcpv6-client ssh\n", "ports: 123/udp\n", rule] {
                assert!(zone.stdout.contains(text), "{text} isn't in\n{zone:?}");
            }
        } else {
            root.sh("nft -c -f /etc/nftables.conf", &[]).expect(0);
            assert!(
                root.path("/etc/systemd/system/sysinit.target.wants/nftables.service").is_symlink()
            );
        }
        assert_eq!(root.sh("nft list ruleset", &[]).stdout, "", "the host's rules were changed");
    }
    // Enterprise Linux has it elsewhere.
    let root = Root::new(Kind::Chroot);
    let layout = "rm /etc/os-release; mkdir -p /etc/sysconfig; echo ID=rocky >/etc/os-release";
    root.sh(&format!("{WITHOUT_FIREWALLD}; {layout}"), &[]).expect(0);
    root.settles("configfirewall", &[OPEN]);
    root.sh("nft -c -f /etc/sysconfig/nftables.conf", &[]).expect(0);
}

#[test]
fn what_cannot_be_opened_is_refused_and_nothing_is_written() {
    for firewalld in [true, false] {
        let root = Root::new(Kind::Chroot);
        if !firewalld {
            root.sh(WITHOUT_FIREWALLD, &[]).expect(0);
        }
        for (open, says) in [
            ("nfs@10.0.0.0/33", "an invalid network"),
            ("nfs@10.0.0", "an invalid network"),
            ("22/tcp@", "an invalid network"),
            ("0/tcp", "an invalid port"),
            ("65536/udp", "an invalid port"),
            ("30-20/tcp", "an invalid range"),
            ("22/sctp", "neither port nor service"),
            ("22/tcp;reboot", "neither port nor service"),
            ("*", "neither port nor service"),
            ("nosuch", "a service that"),
            ("all", "everything for all"),
        ] {
            root.refuses("configfirewall", &[("FIREWALL_OPEN", open)], &[says]);
        }
        let out = root.script("configfirewall", &[]).expect(0);
        assert!(out.stdout.starts_with("skipped: "), "{out:?}");
        root.write("/etc/ufw/ufw.conf", "ENABLED=yes\n");
        root.refuses("configfirewall", &[OPEN], &["ufw is enabled"]);
        root.sh("rm -r /etc/ufw", &[]).expect(0);
        root.sh("! grep -rs provost /etc/firewalld /etc/nftables.conf", &[]).expect(0);

        let out = root.script("configfirewall", &[("FIREWALL_OPEN", "80/tcp")]).expect(0);
        assert!(out.stderr.contains("doesn't open ssh"), "{out:?}");
    }
    let root = Root::new(Kind::Chroot);
    root.sh(&format!("{WITHOUT_FIREWALLD}; rm /usr/sbin/nft"), &[]).expect(0);
    root.refuses("configfirewall", &[OPEN], &["neither firewalld nor nftables is installed"]);
}

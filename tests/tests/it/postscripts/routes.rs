//! `setroute`, with each program that brings interfaces up.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use provost_tests::Out;

use crate::postscripts::cables::{cabled, start_network_manager, start_networkd};
use crate::postscripts::root::{Kind, Root};

const ROUTES: [(&str, &str); 4] = [
    ("NODEROUTENAMES", "r1,r2"),
    ("ROUTE_r1", "10.60.0.0,16,<xcatmaster>,eth1"),
    ("ROUTE_r2", "fd01::,64,fd00::1,eth1"),
    ("MASTER", "10.1.0.1"),
];

/// Runs `setroute` in a folder that has these programs, with these routes.
fn in_folder(root: &std::path::Path, programs: &[&str], env: &[(&str, &str)]) -> Out {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for program in programs {
        let path = root.join(program);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("/usr/sbin:/usr/bin:/sbin:/bin:{}", source.join("lib-sh").display());
    let mut command = Command::new(source.join("postscripts/setroute"));
    command.env_clear().env("PATH", path).env("PROVOST_ROOT", root);
    command.envs(env.iter().copied()).output().unwrap().into()
}

/// Their files as the routes come, stay and go. These programs aren't run.
#[test]
fn wicked_and_network_scripts_get_the_routes_in_their_own_files() {
    for (program, files) in [
        (
            "usr/sbin/wicked",
            &[(
                "etc/sysconfig/network/routes",
                "10.60.0.0/16 10.1.0.1 - eth1\nfd01::/64 fd00::1 - eth1\n",
            )][..],
        ),
        (
            "etc/sysconfig/network-scripts/ifup-routes",
            &[
                (
                    "etc/sysconfig/network-scripts/route-eth1",
                    "10.60.0.0/16 via 10.1.0.1 dev eth1\n",
                ),
                ("etc/sysconfig/network-scripts/route6-eth1", "fd01::/64 via fd00::1 dev eth1\n"),
            ],
        ),
    ] {
        let root = tempfile::tempdir().unwrap();
        let first = in_folder(root.path(), &[program], &ROUTES).expect(0);
        assert!(first.stdout.contains("changed: "), "{first:?}");
        for (file, lines) in files {
            let text = fs::read_to_string(root.path().join(file)).unwrap();
            assert_eq!(text, format!("# begin setroute\n{lines}# end setroute\n"), "{file}");
        }
        let again = in_folder(root.path(), &[], &ROUTES).expect(0);
        assert!(again.stdout.starts_with("nothing to change"), "{again:?}");
        in_folder(root.path(), &[], &[]).expect(0);
        for (file, _) in files {
            assert_eq!(fs::read_to_string(root.path().join(file)).unwrap(), "", "{file}");
        }
    }
}

/// A hook's folder without the program that calls the hook, as chrony's package leaves it.
#[test]
fn where_nothing_would_set_them_at_the_next_boot_routes_are_refused() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("etc/NetworkManager/dispatcher.d")).unwrap();
    fs::create_dir_all(root.path().join("etc/network/if-up.d")).unwrap();
    let out = in_folder(root.path(), &[], &ROUTES).expect(1);
    out.says(&["found no program that brings interfaces up", "hint: "]);
}

/// By a real systemd-networkd.
#[test]
fn systemd_networkd_sets_them_without_netplan() {
    let root = Root::new(Kind::Machine);
    // Without udev it takes interfaces as they are if /sys is read-only.
    let begin = "set -e; ip link add eth1 type veth peer name m1; ip link set m1 up
        ip addr add 10.1.0.5/24 dev eth1; ip link set eth1 up
        mount -o remount,ro,bind /sys
        rm -rf /sbin/ifup /usr/sbin/NetworkManager /etc/netplan/*
        ln -s /lib/systemd/system/systemd-networkd.service /etc/systemd/system/multi-user.target.wants/
        printf '[Match]\\nName=e*\\n' >/etc/systemd/network/50-all.network";
    root.sh(begin, &[]).expect(0);
    let env = [ROUTES[0], ROUTES[1], ("ROUTE_r2", "10.70.0.0,16,10.1.0.1,eth1"), ROUTES[3]];
    root.refuses("setroute", &env, &["no file in /etc/systemd/network names eth1"]);
    root.write(
        "/etc/systemd/network/20-eth1.network",
        "[Match]\nName=eth1\n[Network]\nAddress=10.1.0.5/24\n",
    );
    root.settles("setroute", &env);
    // As after a boot.
    let boot = "ip addr flush dev eth1; ip route flush dev eth1; mkdir -p /run/systemd/netif/links
        /lib/systemd/systemd-networkd >/run/networkd.log 2>&1 &
        for try in $(seq 100); do
            case $(ip route) in *10.60.0.0/16*10.70.0.0/16*) exit ;; esac
            sleep 0.1
        done
        cat /run/networkd.log; exit 1";
    root.sh(boot, &[]).expect(0);
    assert!(root.path("/run/systemd/netif/links").exists());
    root.script("setroute", &[]).expect(0);
    assert!(!root.path("/etc/systemd/network/20-eth1.network.d/setroute.conf").exists());
}

#[test]
fn routes_come_and_go() {
    let root = cabled();
    root.sh("ip addr add 10.1.0.5/24 dev eth1 && ip link set eth1 up", &[]).expect(0);
    let env = [
        ("NODEROUTENAMES", "r1,r2"),
        ("ROUTE_r1", "10.50.0.0,255.255.0.0,10.0.0.1,eth0"),
        ("ROUTE_r2", "10.60.0.7/24,,10.1.0.1,eth1"),
    ];
    root.settles("setroute", &env);
    let routes = || root.sh("ip route", &[]).stdout;
    assert!(routes().contains("10.50.0.0/16 via 10.0.0.1 dev eth0"), "{}", routes());
    assert!(routes().contains("10.60.0.0/24 via 10.1.0.1 dev eth1"), "{}", routes());
    // As ifupdown does when the interface comes up again.
    root.sh("ip link set eth1 down && ip link set eth1 up", &[]).expect(0);
    assert!(!routes().contains("10.60.0.0/24"));
    root.sh("IFACE=eth1 run-parts /etc/network/if-up.d", &[]);
    assert!(routes().contains("10.60.0.0/24 via 10.1.0.1 dev eth1"), "{}", routes());

    root.settles("setroute", &[("NODEROUTENAMES", "r1"), env[1]]);
    assert!(routes().contains("10.50.0.0/16") && !routes().contains("10.60.0.0/24"));
    let gone = [("NODEROUTENAMES", "r1"), ("ROUTE_r1", "10.50.0.0,16,10.99.0.1,eth0")];
    root.refuses("setroute", &gone, &["1 of 1 routes could not be set"]);
}

/// What the kernel has for the two routes of [`ROUTES`], without what differs by who set them.
fn routes_of_site(root: &Root) -> String {
    let list = r"(ip route; ip -6 route) | sed -n 's/ dev eth1 .*/ dev eth1/; / via .*eth1/p'";
    root.sh(list, &[]).expect(0).stdout
}

const BOTH: &str = "10.60.0.0/16 via 10.1.0.1 dev eth1\nfd01::/64 via fd00::1 dev eth1\n";

/// Waits until both are there.
#[track_caller]
fn both_are_there(root: &Root, when: &str) {
    let wait = r"for try in $(seq 150); do
            case $(ip route; ip -6 route) in *10.60.0.0/16*fd01::/64*) exit ;; esac
            sleep 0.1
        done; ip addr; ip route; ip -6 route; exit 1";
    assert_eq!(root.sh(wait, &[]).code, Some(0), "{when}");
    assert_eq!(routes_of_site(root), BOTH, "{when}");
}

/// ifup calls the hook once for each address family, and gives up on an interface whose hook fails.
#[test]
fn ifupdown_sets_those_of_both_address_families() {
    let root = cabled();
    root.write(
        "/etc/network/interfaces",
        "auto eth1\niface eth1 inet static\n address 10.1.0.5/24\n\
         iface eth1 inet6 static\n address fd00::5/64\n dad-attempts 0\n",
    );
    root.sh("ifup eth1", &[]).expect(0);
    root.settles("setroute", &ROUTES);
    root.sh("ifdown eth1", &[]).expect(0);
    assert_eq!(routes_of_site(&root), "");
    root.sh("ifup eth1", &[]).expect(0);
    both_are_there(&root, "after ifup");
}

/// By its dispatcher, which takes only hooks of a certain owner and mode.
#[test]
fn network_manager_sets_them_whenever_it_configures_the_interface() {
    let root = cabled();
    start_network_manager(&root);
    let profile = "nmcli connection add type ethernet ifname eth1 con-name site \
        ipv4.method manual ipv4.addresses 10.1.0.5/24 ipv6.method manual ipv6.addresses fd00::5/64 &&
        nmcli connection up site";
    root.sh(profile, &[]).expect(0);
    root.settles("setroute", &ROUTES);
    assert_eq!(routes_of_site(&root), BOTH);
    // The dispatcher calls hooks one after the other.
    let last = "cd /etc/NetworkManager/dispatcher.d; echo '#!/bin/sh' >99-last
        echo 'echo \"$1 $2\" >>/run/events' >>99-last; chmod +x 99-last";
    root.sh(last, &[]).expect(0);
    let after = |commands: &str, event: &str| {
        let wait = format!(
            "rm -f /run/events; {commands} || exit
            for try in $(seq 300); do ! grep -qsx '{event}' /run/events || exit 0; sleep 0.1; done
            cat /run/events; exit 1"
        );
        root.sh(&wait, &[]).expect(0);
        routes_of_site(&root)
    };
    let up = "nmcli connection down site && nmcli connection up site";
    assert_eq!(after(up, "eth1 up"), BOTH);
    for commands in ["nmcli device modify eth1 ipv4.route-metric 50", "nmcli device reapply eth1"] {
        assert_eq!(after(commands, "eth1 reapply"), BOTH, "{commands}");
    }
    let cable = "ip -n mn link set m1 down
        until nmcli -g GENERAL.STATE device show eth1 | grep -q unavailable; do sleep 0.1; done
        ip -n mn link set m1 up";
    assert_eq!(after(cable, "eth1 up"), BOTH);

    let other = [ROUTES[0], ("ROUTE_r1", "10.60.0.0,16,10.1.0.2,eth1"), ROUTES[2], ROUTES[3]];
    root.settles("setroute", &other);
    assert_eq!(routes_of_site(&root), BOTH.replace("10.1.0.1", "10.1.0.2"));
    root.settles("setroute", &[("NODEROUTENAMES", "r2"), ROUTES[2]]);
    assert_eq!(after(up, "eth1 up"), BOTH.split_once('\n').unwrap().1);
}

/// `netplan apply` calls systemctl and udevadm, which can't do anything here.
const NETPLAN: &str = r#"set -e
cat >/etc/netplan/50-cloud-init.yaml <<'END'
network:
  version: 2
  ethernets:
    eth1: {addresses: [10.1.0.5/24, "fd00::5/64"], accept-ra: false}
END
chmod 600 /etc/netplan/50-cloud-init.yaml
netplan generate
for program in systemctl udevadm; do echo '#!/bin/sh' >/usr/bin/$program; done"#;

#[test]
fn netplan_and_systemd_networkd_keep_them() {
    let root = cabled();
    root.sh(NETPLAN, &[]).expect(0);
    start_networkd(&root);
    let configured = "for try in $(seq 100); do
            case $(networkctl status eth1) in *'routable (configured)'*) exit ;; esac
            sleep 0.1
        done; networkctl status eth1; exit 1";
    root.sh(configured, &[]).expect(0);
    root.settles("setroute", &ROUTES);
    both_are_there(&root, "at once");
    let file = "/etc/systemd/network/10-netplan-eth1.network.d/setroute.conf";
    assert!(root.path(file).exists());

    let cable = "ip -n mn link set m1 down
        until [ -z \"$(ip -4 -o addr show dev eth1)\" ]; do sleep 0.1; done
        ip -n mn link set m1 up";
    root.sh(cable, &[]).expect(0);
    both_are_there(&root, "after a cable was pulled");
    // It configures the interface anew only if something of it is missing.
    root.sh("ip route flush dev eth1 proto static && netplan apply", &[]).expect(0);
    both_are_there(&root, "after netplan apply");
    assert!(root.path(file).exists());

    let other = [ROUTES[0], ("ROUTE_r1", "10.60.0.0,16,10.1.0.2,eth1"), ROUTES[2], ROUTES[3]];
    root.settles("setroute", &other);
    assert_eq!(routes_of_site(&root), BOTH.replace("10.1.0.1", "10.1.0.2"));
    root.settles("setroute", &[("NODEROUTENAMES", "r2"), ROUTES[2]]);
    let six = BOTH.split_once('\n').unwrap().1;
    assert_eq!(routes_of_site(&root), six);
    root.sh(cable, &[]).expect(0);
    root.sh("until ip -6 route | grep fd01::/64; do sleep 0.1; done", &[]).expect(0);
    assert_eq!(routes_of_site(&root), six, "what isn't listed any more comes back with the cable");
}

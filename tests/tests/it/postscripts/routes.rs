//! `setroute` with what brings interfaces up other than ifupdown and NetworkManager.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use provost_tests::Out;

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

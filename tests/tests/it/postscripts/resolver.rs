//! `mkresolvconf` beside other programs that write /etc/resolv.conf.

use crate::postscripts::root::{Kind, Root};

const SITE: [(&str, &str); 2] =
    [("NAMESERVERS", "10.0.0.1, 10.0.0.2"), ("DOMAIN", "cluster.example")];

/// Where Ubuntu has a link to the stub of systemd-resolved.
#[test]
fn systemd_resolved_uses_the_name_servers_of_the_site() {
    let root = Root::new(Kind::Machine);
    root.install("systemd-resolved");
    let start = "set -e; ln -sf ../run/systemd/resolve/stub-resolv.conf /etc/resolv.conf
        mkdir -p /run/dbus /run/systemd/resolve; chown systemd-resolve: /run/systemd/resolve
        dbus-daemon --system --fork; /lib/systemd/systemd-resolved &
        for try in $(seq 100); do [ ! -s /etc/resolv.conf ] || exit 0; sleep 0.1; done; exit 1";
    root.sh(&format!("exec >/dev/null 2>&1\n{start}"), &[]).expect(0);
    assert!(root.text("/etc/resolv.conf").contains("nameserver 127.0.0.53"));
    root.settles("mkresolvconf", &SITE);
    let link = std::fs::symlink_metadata(root.path("/etc/resolv.conf")).unwrap();
    assert!(link.is_file(), "the link is still there");
    let ask = |what: &str| {
        let out = root.sh(&format!("resolvectl {what}"), &[]).expect(0).stdout;
        out.lines().next().unwrap_or_default().to_owned()
    };
    // It reads the file anew for each query, which no server answers here.
    root.sh("resolvectl query cn002.cluster.example", &[]);
    assert_eq!(ask("dns"), "Global: 10.0.0.1 10.0.0.2");
    assert_eq!(ask("domain"), "Global: cluster.example");
    // What systemd does at a boot.
    root.sh("systemd-tmpfiles --create /usr/lib/tmpfiles.d/*resolve*.conf", &[]).expect(0);
    assert!(root.text("/etc/resolv.conf").ends_with("nameserver 10.0.0.1\nnameserver 10.0.0.2\n"));
}

#[test]
fn openresolv_leaves_the_file_alone() {
    let root = Root::new(Kind::Machine);
    root.install("openresolv");
    root.settles("mkresolvconf", &SITE);
    let lease = "echo nameserver 10.9.9.9 | resolvconf -a eth1.dhcp; resolvconf -u";
    root.sh(lease, &[]).expect(0);
    assert!(!root.text("/etc/resolv.conf").contains("10.9.9.9"));
    let out = root.script("mkresolvconf", &SITE).expect(0);
    assert!(out.stdout.starts_with("nothing to change"), "{out:?}");
}

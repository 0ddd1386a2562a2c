//! Scripts that configure services and accounts.

use std::time::Instant;

use crate::postscripts::root::{Kind, Root};

const SITE: [(&str, &str); 13] = [
    ("NODE", "cn001"),
    ("GROUP", "compute,rack1"),
    ("OSVER", "debian12"),
    ("ARCH", "x86_64"),
    ("NAMESERVERS", "10.0.0.1, 10.0.0.2"),
    ("DOMAIN", "cluster.example"),
    ("NTPSERVERS", "10.0.0.1,<xcatmaster>"),
    ("MASTER", "10.0.0.9"),
    ("SUDOER", "admin"),
    ("SERIALPORT", "1"),
    ("SERIALSPEED", "57600"),
    ("NODEROUTENAMES", ""),
    ("NODESETSTATE", "netboot"),
];

const GRUB: &str = "GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX=\"quiet console=tty0 net.ifnames=0\"\n";

/// A node that has what scripts want of it and of its bundle.
fn node() -> Root {
    let root = Root::new(Kind::Chroot);
    root.sh(
        "ssh-keygen -q -t ed25519 -N '' -C 'an admin' -f /tmp/key && rm -f /etc/ssh/ssh_host_*",
        &[],
    )
    .expect(0);
    let key = root.text("/tmp/key.pub");
    root.write("_ssh/authorized_keys", &format!("# admins\n{key}"));
    root.write("_ssh/host_ca.pub", &key);
    root.write("_ssh/user_ca.pub", &key);
    root.write("_ssh/sudoer_keys", &key);
    root.write("_sync/list", "hosts.allow -> /etc/hosts.allow\n");
    root.write("hosts.allow", "ALL: 10.0.0.0/8\n");
    root.write("/etc/default/grub", GRUB);
    root
}

#[test]
fn a_machine_is_renamed_at_once_and_the_host_of_a_chroot_is_not() {
    for kind in [Kind::Machine, Kind::Chroot] {
        let root = Root::new(kind);
        let host = root.sh("uname -n", &[]).stdout;
        root.settles("hostname", &SITE);
        assert_eq!(root.text("/etc/hostname"), "cn001\n");
        let name = root.sh("uname -n", &[]).stdout;
        assert_eq!(name, if kind == Kind::Machine { "cn001\n" } else { &host });
    }
}

#[test]
fn each_does_its_work_and_then_finds_nothing_to_do() {
    let root = node();
    root.settles("hostname", &SITE);
    assert_eq!(root.text("/etc/hostname"), "cn001\n");

    root.settles("mkresolvconf", &SITE);
    assert!(root.text("/etc/resolv.conf").ends_with("nameserver 10.0.0.1\nnameserver 10.0.0.2\n"));

    root.settles("setupntp", &SITE);
    root.sh("chronyd -p -f /etc/chrony/chrony.conf", &[]).expect(0);
    assert!(root.text("/etc/chrony/chrony.conf").contains("\nserver 10.0.0.9 iburst\n"));
    assert!(root.text("/etc/chrony/chrony.conf.provost-orig").contains("\npool "));

    root.settles("syslog", &SITE);
    root.sh("rsyslogd -N1", &[]).expect(0);
    assert!(root.text("/etc/rsyslog.d/30-management-node.conf").contains("10.0.0.9"));

    root.settles("motd", &SITE);

    root.settles("remoteshell", &SITE);
    root.sh("mkdir -p /run/sshd && sshd -t", &[]).expect(0);
    assert!(root.text("/root/.ssh/authorized_keys").contains("an admin"));
    assert_eq!((root.mode("/root/.ssh"), root.mode("/root/.ssh/authorized_keys")), (0o700, 0o644));
    assert_eq!(root.mode("/etc/ssh/ssh_host_ed25519_key"), 0o600);
    assert!(root.text("/etc/ssh/ssh_known_hosts").contains("\n@cert-authority * ssh-ed25519 "));
    let config = root.sh("sshd -T", &[]).expect(0).stdout;
    assert!(config.contains("trustedusercakeys /etc/ssh/user_ca.pub"), "{config}");

    root.settles("sudoer", &SITE);
    let may = root.sh("sudo -l -U admin", &[]).expect(0).stdout;
    assert!(may.contains("(ALL) NOPASSWD: ALL"), "{may}");
    assert_eq!(root.mode("/etc/sudoers.d/50-admin"), 0o440);
    let keys = root.sh("runuser -u admin -- cat /home/admin/.ssh/authorized_keys", &[]).expect(0);
    assert!(keys.stdout.contains("an admin"));

    root.settles("serialconsole", &SITE);
    let grub = root.text("/etc/default/grub");
    for line in [
        "GRUB_CMDLINE_LINUX=\"quiet net.ifnames=0 console=tty0 console=ttyS1,57600n8\"",
        "GRUB_TERMINAL=\"console serial\"",
        "GRUB_SERIAL_COMMAND=\"serial --unit=1 --speed=57600 --word=8 --parity=no --stop=1\"",
    ] {
        assert!(grub.lines().any(|l| l == line), "{line} isn't in\n{grub}");
    }

    root.settles("syncfiles", &SITE);
}

#[test]
fn an_account_that_is_no_longer_named_loses_its_rights_and_keys() {
    let root = node();
    root.settles("sudoer", &[("SUDOER", "alice")]);
    root.settles("sudoer -u carol", &[]);
    let out = root.settles("sudoer", &[("SUDOER", "bob")]);
    assert!(out.stdout.contains("changed: removed /etc/sudoers.d/50-alice"), "{out:?}");
    let may = |name: &str| root.sh(&format!("sudo -l -U {name}"), &[]).stdout;
    assert!(may("alice").contains("not allowed to run sudo"), "{}", may("alice"));
    assert!(may("bob").contains("NOPASSWD: ALL") && may("carol").contains("NOPASSWD: ALL"));
    let keys = |name: &str| root.text(&format!("/home/{name}/.ssh/authorized_keys"));
    assert!(!keys("alice").contains("an admin") && keys("bob").contains("an admin"));
}

#[test]
fn an_account_that_the_list_names_no_longer_loses_its_rights() {
    let root = node();
    // The accounts that `sudoer -u` has named at the boots up to now, each a run.
    let boot = |run: &str, names: &[&str]| {
        for name in names {
            let site = [("PROVOST_SERVICE", "boot"), ("PROVOST_RUN", run)];
            root.script(&format!("sudoer -u {name}"), &site).expect(0);
        }
    };
    let may = || {
        let names = ["old", "new", "other", "hand"];
        let may = |name: &&str| root.path(&format!("/etc/sudoers.d/50-{name}")).exists();
        names.into_iter().filter(may).collect::<Vec<_>>()
    };
    root.script("sudoer -u hand", &[("PROVOST_SERVICE", "run"), ("PROVOST_RUN", "0")]);
    let first = [("PROVOST_SERVICE", "boot"), ("PROVOST_RUN", "1")];
    root.settles("sudoer -u old", &first);
    boot("2", &["old"]);
    assert_eq!(may(), ["old", "hand"]);
    boot("3", &["new"]);
    assert_eq!(may(), ["new", "hand"]);
    let out = root.sh("sudo -l -U old", &[]).stdout;
    assert!(out.contains("not allowed to run sudo"), "{out}");
    // Of several, each keeps its rights while a run is in progress.
    boot("4", &["new", "other"]);
    boot("5", &["other"]);
    assert_eq!(may(), ["new", "other", "hand"]);
    boot("6", &["other"]);
    assert_eq!(may(), ["other", "hand"]);
    // What runs by hand takes nothing from others, nor do steps of another service.
    root.settles("sudoer -u old", &[("PROVOST_SERVICE", "run"), ("PROVOST_RUN", "7")]);
    root.settles("sudoer -u new", &[("PROVOST_SERVICE", "kickstart"), ("PROVOST_RUN", "8")]);
    boot("9", &["other"]);
    assert_eq!(may(), ["old", "new", "other", "hand"]);
}

#[test]
fn sshd_has_the_host_keys_of_the_site_alone() {
    let root = node();
    let key = root.text("/tmp/key");
    let site = [("SSH_HOST_ED25519_KEY", &*key)];
    root.settles("hostkeys", &site);
    assert_eq!(root.text("/etc/ssh/ssh_host_ed25519_key"), key);
    let host_keys = || -> Vec<String> {
        let config = root.sh("mkdir -p /run/sshd && sshd -T", &[]).expect(0).stdout;
        config.lines().filter(|line| line.starts_with("hostkey ")).map(str::to_owned).collect()
    };
    let ours = ["hostkey /etc/ssh/ssh_host_ed25519_key"];
    assert_eq!(host_keys(), ours);
    // Those that a package or a unit makes are used no more.
    root.sh("ssh-keygen -A && echo HostKey /etc/ssh/ssh_host_rsa_key >>/etc/ssh/sshd_config", &[]);
    root.settles("hostkeys", &site);
    assert_eq!(host_keys(), ours);
    root.settles("remoteshell", &SITE);
    assert_eq!(root.text("/etc/ssh/ssh_host_ed25519_key"), key);
    root.refuses("hostkeys x", &site, &["unexpected argument: 'x'"]);
}

#[test]
fn nothing_to_do_is_done_quickly() {
    const ALL: &str = "hostname mkresolvconf setupntp syslog motd remoteshell sudoer serialconsole \
        syncfiles otherpkgs ospkgs setroute";
    let root = node();
    root.write("nothing", "#!/bin/bash\nexit 0\n");
    root.sh("chmod +x nothing", &[]).expect(0);
    let all = |scripts: &str| {
        let commands = format!("set -e; for script in {scripts}; do $script >/dev/null; done");
        let began = Instant::now();
        root.sh(&commands, &SITE).expect(0);
        began.elapsed()
    };
    let ours =
        ALL.replace(' ', " /run/postscripts/").replace("hostname", "/run/postscripts/hostname");
    all(&ours);
    let count = u32::try_from(ALL.split_whitespace().count()).unwrap();
    let nothing = all(&"./nothing ".repeat(count as usize));
    let again = all(&ours);
    eprintln!("{count} scripts with nothing to do: {again:?}; as many of exit 0: {nothing:?}");
    // The aim is 10 ms each; a machine that has others to serve as well gets more.
    let limit = nothing.mul_f64(1.5) + std::time::Duration::from_millis(200) * count;
    assert!(again < limit, "{again:?}");
}

#[test]
fn what_cannot_be_right_is_refused_with_a_hint() {
    let root = node();
    let none: [(&str, &str); 0] = [];
    root.refuses("enablekdump", &SITE, &["kdump is not installed"]);
    root.refuses("sudoer", &[("SUDOER", "root")], &["SUDOER is not an account's name"]);
    root.refuses("sudoer", &[("SUDOER", "x ALL=(ALL) ALL\nroot")], &["not an account's name"]);
    root.refuses("sudoer -u admin -p geheim", &none, &["it takes no password"]);
    root.refuses("serialconsole", &[("SERIALPORT", "0;reboot")], &["is not a port"]);
    root.refuses("setroute", &[("NODEROUTENAMES", "r1")], &["ROUTE_r1 is not set"]);
    let route = [("NODEROUTENAMES", "r1"), ("ROUTE_r1", "10.0.0.0,255.0.0,10.0.0.1,eth0")];
    root.refuses("setroute", &route, &["ROUTE_r1"]);

    // A private key in a bundle is known to all: what else there is doesn't count any more.
    root.write("_ssh/authorized_keys", &root.text("/tmp/key"));
    root.refuses("remoteshell", &SITE, &["has a private key"]);
    root.write("_ssh/authorized_keys", "ssh-ed25519 AAAAnokey somebody\n");
    root.refuses("remoteshell", &SITE, &["has an invalid public key"]);
    assert!(!root.path("/root/.ssh/authorized_keys").exists());
}

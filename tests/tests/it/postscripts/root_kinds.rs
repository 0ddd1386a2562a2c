//! Roots of which parts are read-only, in memory or mounted over; SELinux; a root of process 1 that
//! can't be seen.

use crate::postscripts::root::{Kind, Root};

const SITE: [(&str, &str); 14] = [
    ("NODE", "cn777"),
    ("NAMESERVERS", "10.0.0.1,<xcatmaster>"),
    ("NTPSERVERS", "<xcatmaster>"),
    ("MASTER", "10.0.0.9"),
    ("SUDOER", "admin"),
    ("SERIALPORT", "1"),
    ("OTHERPKGS1", "munge"),
    ("SITEREPO_site", "/srv/deb"),
    ("SITEREPO_site_KEY", "unsigned"),
    ("SYSCTL_net_ipv4_ip_forward", "1"),
    ("FIREWALL_OPEN", "22/tcp"),
    ("LDAP_URI", "ldaps://127.0.0.1"),
    ("LDAP_BASE", "dc=cluster"),
    ("NODESETSTATE", "statelite"),
];

/// Those that a node runs, but for the network's, and what is about no root: setupscratch and configboot.
const SCRIPTS: [&str; 18] = [
    "hostname",
    "mkresolvconf",
    "setupntp",
    "syslog",
    "motd",
    "remoteshell",
    "sudoer",
    "syncfiles",
    "serialconsole",
    "enablekdump",
    "otherpkgs",
    "ospkgs",
    "hostkeys",
    "setsysctl",
    "configfirewall",
    "addsiterepo",
    "mountinstall",
    "setupldap",
];

/// What the scripts want of an image and of a bundle; services that a stand-in for systemd starts.
const PREPARE: &str = r#"set -e
mkdir -p /run/systemd/system /run/bin _sync _ssh /etc/default /etc/sudoers.d
cat >/run/bin/systemctl <<'END'
#!/bin/sh
case $* in
*enable*) SYSTEMD_OFFLINE=1 exec /usr/bin/systemctl "$@" ;;
*is-active*) [ -e "/run/active.$3" ] ;;
*start*) : >"/run/active.$2" ;;
esac
END
chmod +x /run/bin/systemctl
printf 'USE_KDUMP=0\n' >/etc/default/kdump-tools
printf '[Unit]\n[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n' \
    >/lib/systemd/system/kdump-tools.service
printf 'GRUB_CMDLINE_LINUX="quiet"\n' >/etc/default/grub
useradd --create-home admin
echo 'hosts.allow -> /etc/ssh/allowed' >_sync/list
echo 'ALL: ALL' >hosts.allow
ssh-keygen -q -t ed25519 -N '' -f /tmp/key
cp /tmp/key.pub _ssh/authorized_keys
rm -f /lib/systemd/system/firewalld.service
mkdir -p /srv/deb /install
(cd /srv/deb && apt-ftparchive packages . >Packages)
printf '#!/bin/sh\nexec mount -i -t tmpfs "$1" "$2"\n' >/usr/sbin/mount.nfs
chmod +x /usr/sbin/mount.nfs
sed -i '/^[a-z]*:/s/ sss$//' /etc/nsswitch.conf
pam-auth-update --disable sss
python3 -c 'import socket, time; s = socket.create_server(("127.0.0.1", 636)); time.sleep(600)' >/dev/null 2>&1 &
until (: </dev/tcp/127.0.0.1/636) 2>/dev/null; do sleep 0.1; done
"#;

/// Makes parts of a tmpfs at /run/lite the files and folders $*, as xCAT's statelite does, with the rest
/// read-only.
const LITE: &str = r#"
for path in $lite; do
    mkdir -p "/run/lite${path%/*}"
    cp -a "$path" "/run/lite$path"
done
mount -o remount,ro /
for path in $lite; do mount --bind "/run/lite$path" "$path"; done
"#;

/// Runs all scripts twice, after `commands` have changed the root; the second time none of them may
/// change anything. Returns what those that failed have said.
fn run_all(commands: &str) -> (Root, Vec<(&'static str, String)>) {
    let root = Root::new(Kind::Machine);
    root.sh(&format!("{PREPARE}\n{commands}"), &[]).expect(0);
    let with = |script: &str| {
        let path = "PATH=/run/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/lib-sh";
        let key = "SSH_HOST_ED25519_KEY=$(cat /tmp/key)";
        root.sh(&format!("export {path} \"{key}\"; exec /run/postscripts/{script}"), &SITE)
    };
    let mut failed = Vec::new();
    let mut changed = String::new();
    for script in SCRIPTS {
        let out = with(script);
        changed.push_str(&out.stdout);
        if out.code != Some(0) {
            assert!(out.stderr.lines().last().unwrap().starts_with("hint: "), "{script}: {out:?}");
            failed.push((script, out.stderr));
        }
    }
    assert!(changed.contains("changed: "), "{changed}");
    for script in SCRIPTS {
        let out = with(script);
        assert!(!out.stdout.contains("changed: "), "{script} again: {out:?}");
        let failed = failed.iter().any(|(name, _)| *name == script);
        assert_eq!(out.code != Some(0), failed, "{script} again: {out:?}");
    }
    // Which memory a crashed kernel has isn't the root's.
    failed.retain(|(_, text)| !text.contains("booted without crashkernel="));
    (root, failed)
}

#[test]
fn all_scripts_work_twice_on_an_overlay_and_on_memory() {
    let memory = "for folder in /etc /root /home; do
            mkdir -p /run/m$folder && cp -a $folder/. /run/m$folder && mount --bind /run/m$folder $folder
        done";
    for commands in ["", memory] {
        let (root, failed) = run_all(commands);
        assert!(failed.is_empty(), "{failed:?}");
        assert_eq!(root.text("/etc/hostname"), "cn777\n");
        assert_eq!(root.sh("uname -n", &[]).stdout, "cn777\n");
    }
}

#[test]
fn all_scripts_work_twice_where_usr_is_read_only() {
    let (root, failed) = run_all("mount --bind /usr /usr && mount -o remount,ro,bind /usr");
    assert!(failed.is_empty(), "{failed:?}");
    root.refuses(
        "ospkgs",
        &[("OSPKGS", "munge")],
        &["cannot install munge: /usr is read-only", "the image"],
    );
}

/// With what docs/postscripts.md lists for xCAT's table litefile.
#[test]
fn all_scripts_work_twice_on_a_statelite_root() {
    let lite = "/etc/resolv.conf /etc/rsyslog.d /etc/ssh /root /var /etc/chrony/chrony.conf \
        /etc/default/kdump-tools /etc/sudoers.d /home /etc/sysctl.d /etc/nftables.conf \
        /etc/apt/sources.list.d /etc/sssd /etc/nsswitch.conf /etc/pam.d /etc/fstab";
    let (root, failed) = run_all(&format!("lite='{lite}'\n{LITE}"));
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(root.sh("uname -n", &[]).stdout, "cn777\n");
    let servers = root.text("/etc/resolv.conf");
    assert!(servers.ends_with("nameserver 10.0.0.1\nnameserver 10.0.0.9\n"), "{servers}");
    let text = root.text("/etc/chrony/chrony.conf");
    assert!(text.contains("\nserver 10.0.0.9 iburst\n"), "{text}");
    assert!(root.text("/run/motd.d/50-node").starts_with("cn777"));
    assert!(root.text("/run/NetworkManager/conf.d/90-mkresolvconf.conf").contains("dns=none"));
}

/// With the files of xCAT's own sample that are of interest here: what can't be written is named.
#[test]
fn what_a_statelite_root_has_read_only_is_refused_as_such() {
    let lite = "/etc/resolv.conf /etc/rsyslog.d /etc/ssh /root /var";
    let (_root, failed) = run_all(&format!("rmdir /install\nlite='{lite}'\n{LITE}"));
    let names: Vec<_> = failed.iter().map(|(name, _)| *name).collect();
    let others = ["setsysctl", "configfirewall", "addsiterepo", "mountinstall", "setupldap"];
    assert_eq!(names, [&["setupntp", "sudoer", "enablekdump"], &others[..]].concat());
    for (name, text) in failed {
        assert!(text.contains("the file system is read-only"), "{name}: {text}");
        assert!(text.contains("table litefile"), "{name}: {text}");
        assert!(!text.contains("disk full"), "{name}: {text}");
    }
}

#[test]
fn a_mounted_file_is_written_in_place_and_says_so() {
    let root = Root::new(Kind::Machine);
    let commands = "echo old >/run/f; echo -n >/etc/f; mount --bind /run/f /etc/f; . provost.sh
        echo new | file_write /etc/f 0600
        file_set /etc/f KEY value; file_line /etc/f KEY=value; file_remove /etc/f || :
        ls -A /etc/.f* /run/.f* || :";
    let out = root.sh(commands, &[]).expect(0);
    let lines = [
        "changed: wrote /etc/f in place, because it is a mount point",
        "changed: set KEY in /etc/f in place, because it is a mount point",
    ];
    assert_eq!(out.stdout.lines().collect::<Vec<_>>(), lines, "{out:?}");
    out.says(&["cannot remove /etc/f: it is a mount point", "umount /etc/f"]);
    assert_eq!(root.text("/run/f"), "new\nKEY=value\n");
    assert_eq!(root.mode("/run/f"), 0o600);
    let commands = "mount -o remount,ro,bind /etc/f; . provost.sh; echo x | file_write /etc/f";
    root.sh(commands, &[]).expect(1).says(&["the file system is read-only"]);
}

/// With the real chcon, which needs no SELinux in the kernel, and a stand-in for restorecon.
#[test]
fn a_replaced_file_keeps_its_selinux_label() {
    let root = Root::new(Kind::Machine);
    root.stand_in_for_selinux();
    let commands = r#"set -e; . provost.sh
        echo old >/etc/old
        label="import os; print(os.getxattr('/etc/old', 'security.selinux'))"
        python3 -c "import os; os.setxattr('/etc/old', 'security.selinux', b'u:r:net_conf_t:s0')"
        echo new | file_write /etc/old
        echo new | file_write /etc/new
        python3 -c "$label"
        echo new | file_write /etc/some/folder/new >/dev/null
        tail -n 2 /run/labelled"#;
    let out = root.sh(commands, &[]).expect(0);
    let is = ["changed: wrote /etc/old", "restorecon /etc/new", "changed: wrote /etc/new"];
    let lines: Vec<_> = out.stdout.lines().collect();
    assert_eq!(lines[..3], is, "{out:?}");
    assert!(lines[3].contains("u:r:net_conf_t:s0"), "{out:?}");
    // So do folders that are made for it.
    assert_eq!(lines[4..], ["restorecon -R /etc/some", "restorecon /etc/some/folder/new"]);
}

/// Host keys that ssh-keygen makes, and folders; in an image, its own first boot labels all.
#[test]
fn what_other_commands_make_gets_the_label_of_the_policy() {
    for (script, made) in [
        ("remoteshell", "/etc/ssh/ssh_host_ed25519_key /etc/ssh/ssh_host_ed25519_key.pub"),
        ("enablekdump", "/var/crash"),
    ] {
        let root = Root::new(Kind::Machine);
        root.sh(&format!("{PREPARE}\nrm -rf /etc/ssh/ssh_host_* /var/crash"), &[]).expect(0);
        root.stand_in_for_selinux();
        let run = format!("PATH=/run/bin:$PATH; /run/postscripts/{script}; cat /run/labelled");
        let out = root.sh(&run, &SITE);
        let labelled = |path: &str| {
            let mut lines = out.stdout.lines().filter(|line| line.starts_with("restorecon "));
            lines.any(|line| line.split(' ').any(|word| word == path))
        };
        assert!(made.split(' ').all(labelled), "{script}: {out:?}");
        let other = ". provost.sh; PROVOST_ROOT=/mnt; file_label /etc/passwd";
        assert_eq!(root.sh(other, &[]).expect(0).stdout, "", "that root's policy is another");
        let misuse = root.sh(". provost.sh; file_label -R", &[]).expect(2);
        misuse.says(&["file_label: needs a path", "usage: file_label [-R] PATH"]);
    }
}

/// Of a chroot whose root may not see process 1, such as in a container, the host stays as it is.
#[test]
fn a_root_that_may_not_be_seen_is_taken_for_another() {
    let root = Root::new(Kind::Chroot);
    let before = root.sh("uname -n", &[]).stdout;
    let commands = "exec setpriv --bounding-set=-sys_ptrace,-sys_resource /run/postscripts/";
    for script in ["hostname", "setupntp"] {
        let out = root.sh(&format!("{commands}{script}"), &SITE).expect(0);
        assert!(!out.stdout.contains("changed: restarted"), "{out:?}");
        out.says(&["may not read /proc/1/root: takes this for a chroot"]);
    }
    assert_eq!(root.sh("uname -n", &[]).stdout, before);
    assert_eq!(root.sh("pgrep chronyd", &[]).stdout, "");
}

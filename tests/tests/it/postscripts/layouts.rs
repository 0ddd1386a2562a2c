//! Scripts on the layouts of distributions that Debian's root isn't: what they write there, with stand-ins for
//! programs that Debian doesn't have.

use crate::postscripts::root::{Kind, Root};

/// Makes the folder /srv/os with the files in `layout`, each `PATH` or `PATH: TEXT`, as programs where
/// they aren't in /etc. Returns the environment of a script that works in it.
fn layout(root: &Root, files: &[&str]) {
    root.sh("rm -rf /srv/os && mkdir /srv/os", &[]).expect(0);
    for file in files {
        let (path, text) = file.split_once(": ").unwrap_or((file, ""));
        root.write(&format!("/srv/os/{path}"), &format!("{text}\n"));
        if !path.starts_with("etc") {
            root.sh(&format!("chmod +x /srv/os/{path}"), &[]).expect(0);
        }
    }
}

const UNIT: &str = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target";

#[track_caller]
fn writes(root: &Root, script: &str, env: &[(&str, &str)], file: &str, parts: &[&str]) {
    let env = [env, &[("PROVOST_ROOT", "/srv/os"), ("MASTER", "10.0.0.9")]].concat();
    root.settles(script, &env);
    let text = root.text(&format!("/srv/os/{file}"));
    for part in parts {
        assert!(text.contains(part), "{script}: {part} isn't in {file}:\n{text}");
    }
}

#[test]
fn the_time_service_that_a_system_has_is_configured() {
    let root = Root::new(Kind::Chroot);
    let unit = |name: &str| format!("usr/lib/systemd/system/{name}.service: {UNIT}");
    let enabled = |name: &str| {
        let link = format!("/srv/os/etc/systemd/system/multi-user.target.wants/{name}.service");
        root.sh(&format!("[ -L {link} ]"), &[]).expect(0);
    };
    let env = [("NTPSERVERS", "10.0.0.1,<xcatmaster>")];
    let servers = ["\nserver 10.0.0.1 iburst\nserver 10.0.0.9 iburst\n"];
    // Enterprise Linux, SLES 15 and 16.
    layout(
        &root,
        &["usr/sbin/chronyd", "usr/sbin/ntpd", "etc/chrony.conf: pool x", &unit("chronyd")],
    );
    writes(&root, "setupntp", &env, "etc/chrony.conf", &servers);
    enabled("chronyd");
    // SLES 12, Enterprise Linux 7.
    layout(&root, &["usr/sbin/ntpd", "etc/ntp.conf: driftfile /var/lib/ntp/drift", &unit("ntpd")]);
    writes(
        &root,
        "setupntp",
        &env,
        "etc/ntp.conf",
        &[servers[0], "\ndriftfile /var/lib/ntp/drift\n"],
    );
    enabled("ntpd");
    // Debian's ntpsec.
    layout(&root, &["usr/sbin/ntpd", "etc/ntpsec/ntp.conf: driftfile /x", &unit("ntpsec")]);
    writes(&root, "setupntp", &env, "etc/ntpsec/ntp.conf", &servers);
    enabled("ntpsec");
    // Ubuntu and Debian.
    layout(&root, &["lib/systemd/systemd-timesyncd", &unit("systemd-timesyncd")]);
    let file = "etc/systemd/timesyncd.conf.d/50-setupntp.conf";
    writes(&root, "setupntp", &env, file, &["[Time]\nNTP=10.0.0.1 10.0.0.9\nFallbackNTP=\n"]);
    enabled("systemd-timesyncd");

    let none = [("NTPSERVERS", "<xcatmaster>")];
    root.refuses("setupntp", &none, &["NTPSERVERS has <xcatmaster>, and MASTER is not set"]);
}

#[test]
fn kdump_is_configured_in_the_file_that_a_system_has() {
    let root = Root::new(Kind::Chroot);
    let unit = format!("usr/lib/systemd/system/kdump.service: {UNIT}");
    let env = [("DUMP", "nfs:///dumps")];
    // Enterprise Linux has both.
    layout(&root, &["etc/kdump.conf: path /x", "etc/sysconfig/kdump: KDUMP_KERNELVER=\"\"", &unit]);
    writes(&root, "enablekdump", &env, "etc/kdump.conf", &["\nnfs 10.0.0.9:/dumps\npath /\n"]);
    root.sh("[ -L /srv/os/etc/systemd/system/multi-user.target.wants/kdump.service ]", &[])
        .expect(0);
    // SLES.
    layout(&root, &["etc/sysconfig/kdump: KDUMP_SAVEDIR=\"file:///var/crash\"", &unit]);
    let savedir = "KDUMP_SAVEDIR=\"nfs://10.0.0.9/dumps\"";
    writes(&root, "enablekdump", &env, "etc/sysconfig/kdump", &[savedir]);
}

#[test]
fn what_else_writes_resolv_conf_is_kept_from_it() {
    let root = Root::new(Kind::Chroot);
    let env = [("NAMESERVERS", "<xcatmaster>")];
    let policy = "etc/sysconfig/network/config: NETCONFIG_DNS_POLICY=\"auto\"";
    layout(&root, &[policy, "etc/dhcp/dhclient-enter-hooks.d/other"]);
    writes(&root, "mkresolvconf", &env, "etc/resolv.conf", &["nameserver 10.0.0.9\n"]);
    assert_eq!(root.text("/srv/os/etc/sysconfig/network/config"), "NETCONFIG_DNS_POLICY=\"\"\n");
    let hook = "make_resolv_conf() { echo written; }
        . /srv/os/etc/dhcp/dhclient-enter-hooks.d/mkresolvconf; make_resolv_conf";
    assert_eq!(root.sh(hook, &[]).expect(0).stdout, "");
}

#[test]
fn the_network_is_configured_by_what_a_system_has() {
    let root = Root::new(Kind::Chroot);
    let bond = [
        ("NICIPS", "bond0!10.1.0.5/24|fd00::5/64,bond0.7!10.7.0.5/24"),
        ("NICDEVICES", "bond0!eth1|eth2"),
        ("NICEXTRAPARAMS", "bond0!mode=802.3ad miimon=100 MTU=9000"),
    ];
    // SLES, where wicked has an ifup as well.
    layout(&root, &["sbin/ifup", "usr/sbin/wicked"]);
    let parts = [
        "STARTMODE='auto'\nBOOTPROTO='static'\nIPADDR_0='10.1.0.5/24'\nIPADDR_1='fd00::5/64'\nMTU='9000'\n",
        "BONDING_MODULE_OPTS='mode=802.3ad miimon=100'\nBONDING_SLAVE_0='eth1'\nBONDING_SLAVE_1='eth2'\n",
    ];
    writes(&root, "confignetwork", &bond, "etc/sysconfig/network/ifcfg-bond0", &parts);
    let vlan = root.text("/srv/os/etc/sysconfig/network/ifcfg-bond0.7");
    assert!(vlan.ends_with("ETHERDEVICE='bond0'\nVLAN_ID='7'\n"), "{vlan}");
    let only = [("NICIPS", "eth1!10.1.0.5/24")];
    root.write("/srv/os/etc/sysconfig/network/ifcfg-eth9", "BOOTPROTO='dhcp'\n");
    writes(&root, "confignetwork", &only, "etc/sysconfig/network/ifcfg-eth1", &["10.1.0.5/24"]);
    let left = root.sh("ls /srv/os/etc/sysconfig/network", &[]).stdout;
    assert_eq!(left, "ifcfg-eth1\nifcfg-eth9\n");
    // Enterprise Linux 8 with network-scripts as well.
    layout(&root, &["sbin/ifup", "usr/sbin/NetworkManager"]);
    let file = "etc/NetworkManager/system-connections/provost-eth1.nmconnection";
    writes(&root, "confignetwork", &only, file, &["address1=10.1.0.5/24"]);
    // systemd-networkd, where it is enabled.
    layout(&root, &[]);
    let env = [only[0], ("PROVOST_ROOT", "/srv/os")];
    root.refuses("confignetwork", &env, &["found none of netplan, NetworkManager"]);
    let wants = "cd /srv/os && mkdir -p etc/systemd/system/x.wants && \
        ln -s x etc/systemd/system/x.wants/systemd-networkd.service";
    root.sh(wants, &[]).expect(0);
    let file = "etc/systemd/network/10-provost-bond0.netdev";
    let parts = ["Kind=bond\n[Bond]\nMode=802.3ad\nMIIMonitorSec=100ms"];
    writes(&root, "confignetwork", &bond, file, &parts);
    let network = root.text("/srv/os/etc/systemd/network/10-provost-bond0.network");
    assert!(
        network.contains("\nVLAN=bond0.7\nAddress=10.1.0.5/24\nAddress=fd00::5/64\n"),
        "{network}"
    );
}

#[test]
fn rsyslog_that_reads_no_folder_is_refused() {
    let root = Root::new(Kind::Chroot);
    layout(&root, &["etc/rsyslog.conf: *.* /var/log/messages"]);
    let env = [("MASTER", "10.0.0.9"), ("PROVOST_ROOT", "/srv/os")];
    root.refuses("syslog", &env, &["doesn't read the files in /etc/rsyslog.d"]);
    for line in ["$IncludeConfig /etc/rsyslog.d/*.conf", "include(file=\"/etc/rsyslog.d/*.conf\")"]
    {
        layout(&root, &[&format!("etc/rsyslog.conf: {line}")]);
        writes(&root, "syslog", &[], "etc/rsyslog.d/30-management-node.conf", &["10.0.0.9"]);
    }
}

/// Stand-ins: GRUB's own menu is made of /etc/default/grub, entries are edited by grubby.
const BOOT_LOADER: &str = r#"set -e
mkdir -p /boot/grub2 /boot/loader/entries
rm -f /usr/sbin/update-grub
cat >/usr/sbin/grub2-mkconfig <<'END'
#!/bin/sh
[ ! -e /run/broken ] || exit 1
. /etc/default/grub
if [ -e /run/entries ]; then
    echo '  blscfg' >"$2"
else
    printf 'menuentry x {\n\tlinux /vmlinuz ro %s\n}\n' "$GRUB_CMDLINE_LINUX" >"$2"
fi
END
echo 'GRUB_CMDLINE_LINUX="quiet console=ttyS0"' >/etc/default/grub
chmod +x /usr/sbin/grub2-mkconfig
printf 'menuentry x {\n\tlinux /vmlinuz ro quiet\n}\n' >/boot/grub2/grub.cfg"#;

const GRUBBY: &str = r#"cat >/usr/sbin/grubby <<'END'
#!/bin/sh
for arg; do case $arg in --args=*) args=${arg#--args=} ;; esac; done
sed -i "/^options/s/ console=[^ ]*//g; /^options/s/\$/ $args/" /boot/loader/entries/*.conf
END
chmod +x /usr/sbin/grubby"#;

#[test]
fn the_boot_loaders_menu_gets_the_console_or_the_script_fails() {
    let root = Root::new(Kind::Chroot);
    root.sh(BOOT_LOADER, &[]).expect(0);
    let env = [("SERIALPORT", "1")];
    let args = "quiet console=tty0 console=ttyS1,115200n8\n";
    // GRUB's own menu, as on SLES and Enterprise Linux 7. What failed once isn't done the second time.
    root.sh(": >/run/broken", &[]).expect(0);
    root.refuses("serialconsole", &env, &["cannot update the boot loader's menu"]);
    root.refuses("serialconsole", &env, &["cannot update the boot loader's menu"]);
    root.sh("rm /run/broken", &[]).expect(0);
    root.settles("serialconsole", &env);
    assert!(
        root.text("/boot/grub2/grub.cfg").contains(args),
        "{}",
        root.text("/boot/grub2/grub.cfg")
    );

    // Boot Loader Specification entries, as on Enterprise Linux 8 to 10.
    root.sh(": >/run/entries; echo '  blscfg' >/boot/grub2/grub.cfg", &[]).expect(0);
    root.write("/boot/loader/entries/a.conf", "title x\noptions ro quiet console=ttyS0\n");
    root.refuses("serialconsole", &env, &["entries/a.conf doesn't have console=ttyS1,115200n8"]);
    root.sh(GRUBBY, &[]).expect(0);
    root.settles("serialconsole", &env);
    assert!(root.text("/boot/loader/entries/a.conf").ends_with(args));
}

//! `enablekdump`, with the real kdump-config.

use crate::postscripts::root::{Kind, Root};

const FILE: &str = "/etc/default/kdump-tools";
const MASTER: (&str, &str) = ("MASTER", "10.0.0.1");
const NFS: [(&str, &str); 2] = [("DUMP", "nfs:///dumps"), MASTER];

/// A Debian with kdump-tools, which makes an image of the running kernel: there is none here.
fn system(kind: Kind) -> Root {
    let root = Root::new(kind);
    root.install("kdump-tools");
    root
}

/// What kdump-config reads in its configuration under this name.
fn shown(root: &Root, name: &str) -> String {
    let show = root.sh("kdump-config show", &[]);
    let value = show.stdout.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    value.trim_start_matches(':').trim().to_owned()
}

#[test]
fn kdump_config_reads_the_target_of_the_site_and_none_of_before() {
    let root = system(Kind::Chroot);
    root.sh("sed -i 's/^USE_KDUMP=.*/USE_KDUMP=0/' /etc/default/kdump-tools", &[]).expect(0);
    root.sh(
        "systemctl --quiet disable kdump-tools; echo SSH=root@old >>/etc/default/kdump-tools",
        &[],
    )
    .expect(0);
    root.refuses("enablekdump", &NFS, &["there is no mount.nfs", "nfs-common"]);
    root.sh(">/sbin/mount.nfs; chmod +x /sbin/mount.nfs", &[]).expect(0);
    root.settles("enablekdump", &NFS);
    let is = |name: &str| shown(&root, name);
    assert_eq!([is("USE_KDUMP"), is("NFS"), is("SSH")], ["1", "10.0.0.1:/dumps", ""]);
    // It mounts the server's folder there.
    assert_eq!(is("KDUMP_COREDIR"), "/var/crash");
    assert!(root.path("/var/crash").is_dir());
    let unit = "/etc/systemd/system/basic.target.wants/kdump-tools.service";
    assert!(root.path(unit).is_symlink());

    for dump in ["nfs://[fd00::1]/dumps", "nfs://fd00::1/dumps"] {
        root.script("enablekdump", &[("DUMP", dump)]).expect(0);
        assert_eq!(is("NFS"), "[fd00::1]:/dumps");
    }
    root.settles("enablekdump", &[("DUMP", "/srv/dumps")]);
    assert_eq!([is("KDUMP_COREDIR"), is("NFS")], ["/srv/dumps", ""]);
    assert!(root.path("/srv/dumps").is_dir());

    let before = root.text(FILE);
    for dump in ["ftp://x/y", "nfs://a:2049/dumps", "nfs://-o/dumps", "/a b", "dumps"] {
        root.refuses("enablekdump", &[("DUMP", dump)], &["DUMP "]);
    }
    root.refuses("enablekdump", &[NFS[0]], &["DUMP has no server"]);
    assert_eq!(root.text(FILE), before);
}

#[test]
fn a_kernel_without_memory_for_it_is_named_but_not_an_installers() {
    if std::fs::read_to_string("/proc/cmdline").unwrap().contains("crashkernel=") {
        provost_tests::skip("this kernel has memory for kdump");
    }
    let root = system(Kind::Machine);
    root.refuses("enablekdump", &[("DUMP", "/srv/dumps")], &["crashkernel="]);
    assert_eq!(shown(&root, "KDUMP_COREDIR"), "/srv/dumps");
}

//! What `provostctl snippet` prints, run as installers run it, in a root that they have filled.

use std::path::{Path, PathBuf};
use std::process::Command;

use provost_tests::{Chroot, Cluster, Out, missing, skip};

/// A cluster whose postscript is `text`, and a root to install.
pub(crate) fn site(text: &str) -> (Cluster, Chroot) {
    let root = Chroot::new();
    (management_node(text), root)
}

/// The same cluster.
pub(crate) fn management_node(text: &str) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("setup", text).script("greet", "#!/bin/sh\necho ran >/root/greeted\n");
    cluster.site("[nodes.cn001]\npostscripts = [\"setup\"]\npostbootscripts = [\"greet\"]\n");
    cluster.publish().expect(0);
    cluster.start();
    cluster
}

fn snippet(cluster: &Cluster, installer: &str) -> String {
    cluster.ctl(&["snippet", installer, "cn001", "--token"]).expect(0).stdout
}

fn body(cluster: &Cluster) -> String {
    cluster.post_script(&["--token"])
}

/// What docs/kickstart.md says of the new root: paths, and their modes without leading zeros.
fn documented() -> Vec<(String, String)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/kickstart.md");
    let page = std::fs::read_to_string(page).unwrap();
    let cells = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let mode = cells.get(2)?.strip_prefix('0')?.to_owned();
        Some((cells[1].trim_matches('`').to_owned(), mode))
    };
    let rows: Vec<_> = page.lines().filter_map(cells).collect();
    assert_eq!(rows.len(), 4, "{rows:?}");
    rows
}

/// The next boot of the root.
fn boot(root: &Chroot) -> Out {
    root.sh("/usr/bin/provost boot")
}

#[test]
fn a_root_is_installed_and_goes_on_at_its_first_boot() {
    let (cluster, root) = site("#!/bin/sh\necho ran >/root/set-up\n");
    let body = body(&cluster);
    root.sh(&body).expect(0);
    assert_eq!(root.text("/root/set-up"), "ran\n");
    assert_eq!(cluster.status("cn001")["status"], "booting");
    assert_eq!(root.text("/dev/console"), "");

    let main = root.text("/etc/provost/provost.toml");
    assert!(main.contains("node = \"cn001\"") && main.contains(&cluster.key()), "{main}");
    let token = root.text("/etc/provost/token");
    assert!(body.contains(token.trim()) && !main.contains(token.trim()));
    for (path, mode) in documented() {
        let files = root.sh(&format!("stat -c '%u %a' {path}")).expect(0).stdout;
        assert!(files.lines().all(|file| file == format!("0 {mode}")), "{path}: {files}");
    }
    assert_eq!(root.sh("ls /etc/systemd/system/provost-*").stdout.lines().count(), 5);
    let wants = "/etc/systemd/system/multi-user.target.wants/provost-boot.service";
    let unit = std::fs::read_link(root.path(wants)).unwrap();
    assert_eq!(unit, Path::new("/etc/systemd/system/provost-boot.service"));
    assert_eq!(root.sh("ls -A /usr/bin | grep '^.provost'").stdout, "", "it is left behind");

    // Without the installer's environment, as systemd starts it.
    boot(&root).expect(0);
    assert_eq!(root.text("/root/greeted"), "ran\n");
    assert_eq!(cluster.status("cn001")["status"], "booted");

    // A second kickstart by hand finds all in its place.
    let before = root.text("/etc/provost/provost.toml");
    root.sh("provost kickstart").expect(0);
    assert_eq!(root.text("/etc/provost/provost.toml"), before);
}

#[test]
fn a_root_gets_its_identity_by_the_script_s_join_token_and_reports_by_it_at_its_boots() {
    let (mut cluster, root) = site("#!/bin/sh\n");
    cluster.configure_daemon("[tokens]\nallowed = false\n");
    cluster.start();
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    let body = cluster.post_script(&["--join", "--for", "1h"]);
    root.sh(&body).expect(0);
    assert_eq!(
        root.sh("find /var/lib/provost/id -type f -printf '%u %m\\n' | sort -u").stdout,
        "root 600\n"
    );
    assert!(!root.path("/etc/provost/token").exists());
    boot(&root).expect(0);
    assert_eq!(cluster.status("cn001")["status"], "booted");
    // The token is spent: who reads it afterwards is nobody.
    root.sh("rm -r /var/lib/provost/id").expect(0);
    let again = root.sh(&format!("{body}\n")).expect(3);
    again.says(&["hint:"]);
    assert_eq!(cluster.status("cn001")["status"], "booted");
}

#[test]
fn a_failure_stops_the_install_and_is_told_on_the_console() {
    let (cluster, root) = site("#!/bin/sh\necho no keys here >&2\nexit 7\n");
    root.sh(&body(&cluster)).expect(1).says(&["the kickstart FAILED with exit status 1", "setup"]);
    let told = root.text("/dev/console");
    assert!(told.contains("FAILED") && told.contains("setup") && told.contains("7"), "{told}");
    let node = cluster.status("cn001");
    assert_eq!((&node["status"], &node["exitCode"]), (&"failed".into(), &7.into()), "{node}");
    let logs = root.sh("cat /var/log/provost/scripts/*/01-setup.log").expect(0).stdout;
    assert!(logs.contains("no keys here"), "{logs}");
    // Its boot has nothing to go on with; an admin finds provost there.
    let wants = "/etc/systemd/system/multi-user.target.wants/provost-boot.service";
    assert!(std::fs::symlink_metadata(root.path(wants)).is_err());
    root.sh("provost status").expect(0);
}

#[test]
fn a_configuration_of_the_admins_is_let_be() {
    let (cluster, root) = site("#!/bin/sh\n");
    let own = "[run]\nslow = \"5s\"\n";
    root.sh("mkdir -p /etc/provost").expect(0);
    std::fs::write(root.path("/etc/provost/provost.toml"), own).unwrap();
    root.sh(&body(&cluster)).expect(0);
    assert_eq!(root.text("/etc/provost/provost.toml"), own);
    assert!(root.text("/etc/provost/provost.d/00-kickstart.toml").contains("cn001"));
    boot(&root).expect(0);
    assert_eq!(cluster.status("cn001")["status"], "booted");
}

#[test]
fn a_script_for_many_nodes_takes_name_and_token_from_the_kernel_command_line() {
    let (cluster, root) = site("#!/bin/sh\n");
    let text = cluster.ctl(&["snippet", "kickstart", "cn[001-004]"]).expect(0).stdout;
    let script = text.split_once('\n').unwrap().1.replace("%end\n", "");
    let token = cluster.ctl(&["token", "cn001"]).expect(0).stdout;
    let token = token.trim().strip_prefix("cn001 ").unwrap();
    let line = format!("quiet provost.node=cn001 provost.token={token}\n");
    std::fs::write(root.path("/run/cmdline"), line).unwrap();
    root.sh("mount --bind /run/cmdline /proc/cmdline").expect(0);
    root.sh(&script).expect(0);
    assert_eq!(root.text("/etc/provost/token").trim(), token);
    // The disk's kernel has another one.
    root.sh("umount /proc/cmdline").expect(0);
    boot(&root).expect(0);
    assert_eq!(cluster.status("cn001")["status"], "booted");
}

#[test]
fn what_a_kickstart_cannot_fetch_the_boots_of_the_root_try_again() {
    let (cluster, root) = site("#!/bin/sh\necho ran >/root/set-up\n");
    let body = body(&cluster);
    let of_others = "[nodes.cn002]\npostscripts = [\"setup\"]\n";
    let of_all = "[nodes.\"cn[001-002]\"]\npostscripts = [\"setup\"]\n";
    cluster.site(of_others).publish_with(&["--allow-removal"]).expect(0);
    let deadline = "[fetch]\ndeadline = \"2s\"\n";
    root.sh("mkdir -p /etc/provost/provost.d").expect(0);
    std::fs::write(root.path("/etc/provost/provost.d/deadline.toml"), deadline).unwrap();
    root.sh(&body).expect(3).says(&["still trying, for up to 2s"]);
    assert_eq!(cluster.status("cn001")["status"], "defined");
    assert!(
        root.path("/etc/systemd/system/multi-user.target.wants/provost-boot.service").is_symlink()
    );
    cluster.site(of_all).publish().expect(0);
    boot(&root).expect(0);
    assert_eq!(root.text("/root/set-up"), "ran\n");
    assert_eq!(cluster.status("cn001")["status"], "booted");
}

#[test]
fn what_a_package_has_put_there_is_let_be_and_enabled() {
    let (cluster, root) = site("#!/bin/sh\n");
    let unit = "/usr/lib/systemd/system/provost-boot.service";
    let packaged = "mkdir -p /usr/lib/systemd/system; echo '#!/bin/sh' >/usr/bin/provost";
    root.sh(packaged).expect(0);
    std::fs::write(root.path(unit), "[Install]\nWantedBy=a.target b.target\n").unwrap();
    root.sh(&body(&cluster)).expect(0);
    assert_eq!(root.text("/usr/bin/provost"), "#!/bin/sh\n");
    assert!(!root.path("/etc/systemd/system/provost-boot.service").exists());
    for target in ["a", "b"] {
        let link = format!("/etc/systemd/system/{target}.target.wants/provost-boot.service");
        assert_eq!(std::fs::read_link(root.path(&link)).unwrap(), Path::new(unit));
    }
}

#[test]
fn subiquity_and_autoyast_carry_the_script_as_it_is() {
    let (cluster, root) = site("#!/bin/sh\n");
    let text = snippet(&cluster, "subiquity");
    let block = text.split_once("  - |\n").unwrap().1;
    let script: String =
        block.lines().map(|l| format!("{}\n", l.strip_prefix("      ").unwrap_or(l))).collect();
    // Subiquity runs it outside, with the new root as /target.
    let outside = "curtin() { shift 3; \"$@\"; }\nmkdir -p /target; ln -sfn /root /target/root\n";
    root.sh(&format!("{outside}{script}")).expect(0);
    assert_eq!(cluster.status("cn001")["status"], "booting");
    assert!(!root.path("/root/provost-install.sh").exists());

    let text = snippet(&cluster, "autoyast");
    let script = text.split_once("<![CDATA[").unwrap().1.split_once("]]>").unwrap().0;
    root.sh(script).expect(0);
}

#[test]
fn kickstart_files_are_valid() {
    let validator = ksvalidator();
    let (cluster, _root) = site("#!/bin/sh\n");
    let file = cluster.path("ks.cfg");
    let head = "lang en_US.UTF-8\ntimezone UTC\nrootpw --lock\n";
    std::fs::write(&file, format!("{head}{}", snippet(&cluster, "kickstart"))).unwrap();
    for version in ["RHEL8", "RHEL9", "RHEL10", "F40"] {
        let out = Command::new(&validator).args(["-v", version]).arg(&file).output();
        let out = Out::from(out.unwrap()).expect(0);
        assert_eq!(out.stderr, "", "{version}");
    }
}

/// The one that `cargo xtask test` installs, or another.
fn ksvalidator() -> PathBuf {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/python/bin/ksvalidator");
    if ours.exists() {
        return ours;
    }
    if missing::program("ksvalidator", "pykickstart").is_some() {
        skip("no ksvalidator (pip install pykickstart)")
    }
    "ksvalidator".into()
}

#[test]
fn a_node_that_installs_itself_again_and_again_is_held() {
    let (cluster, first) = site("#!/bin/sh\necho ran >/root/ran\nexit 1\n");
    let body = body(&cluster);
    let mut root = first;
    for _ in 0..3 {
        root.sh(&body).expect(1);
        assert!(root.path("/root/ran").exists());
        // Nothing on its disk outlives that.
        drop(root);
        root = Chroot::new();
    }
    root.sh(&body).expect(4);
    assert!(!root.path("/root/ran").exists());
    let told = root.text("/dev/console");
    assert!(told.contains("provostctl release cn001"), "{told}");
    assert_eq!(cluster.status("cn001")["cause"], "held");
    // One that is released may try again.
    cluster.ctl(&["release", "cn001"]).expect(0);
    root.sh(&body).expect(1);
}

#[test]
fn a_script_for_many_nodes_holds_no_token_and_one_node_s_only_when_asked_to() {
    let mut cluster = Cluster::new();
    cluster.script("setup", "#!/bin/sh\n").site("[nodes.cn001]\npostscripts = [\"setup\"]\n");
    cluster.start();
    let nothing = cluster.ctl(&["snippet", "kickstart", "cn001"]).expect(1);
    nothing.says(&["manifest.toml", "hint: publish first"]);
    cluster.publish().expect(0);
    let both = ["snippet", "kickstart", "cn001", "--token", "--join"];
    cluster.ctl(&both).expect(2).says(&["cannot be used with"]);
    let many = cluster.ctl(&["snippet", "kickstart", "cn[001-002]"]).expect(0);
    let many = many.says(&["provost.node=NAME provost.token=TOKEN", "--server"]);
    assert!(!many.stdout.contains("PROVOST_NODE=") && !many.stdout.contains("PROVOST_TOKEN="));
    cluster.ctl(&["snippet", "kickstart", "cn[001-002]", "--token"]).expect(2).says(&["hint"]);
    let one = cluster.ctl(&["snippet", "kickstart", "cn001"]).expect(0).says(&["--token"]);
    assert!(one.stdout.contains("PROVOST_NODE=cn001") && !one.stdout.contains("PROVOST_TOKEN="));

    let servers = ["--server", "http://10.0.0.1", "--server", "http://[fd00::1]:8480/www/"];
    let other = cluster.ctl(&[&["snippet", "kickstart", "cn001"], &servers[..]].concat()).expect(0);
    let wanted = "PROVOST_SERVER='http://10.0.0.1:80,http://[fd00::1]:8480/www'";
    assert!(other.stdout.contains(wanted), "{}", other.stdout);
    let https = ["snippet", "kickstart", "cn001", "--server", "https://mn"];
    cluster.ctl(&https).expect(2).says(&["can't fetch from https"]);
}

//! docs/install.md: its commands, in their order, in the roots of a management node and of a node.
//! Of systemd only what works without it running is tried: its units, and what enables them.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Child;

use provost_tests::processes::until;
use provost_tests::{Chroot, SOON, program};
use serde_json::Value;

const PAGE: &str = include_str!("../../docs/install.md");
/// Where systemd looks for what a boot is to start.
const WANTS: &str = "/etc/systemd/system/multi-user.target.wants";

/// The blocks below `heading`, up to the next one.
fn blocks(heading: &str) -> Vec<&'static str> {
    let section = PAGE.split_once(heading).unwrap().1.split("\n## ").next().unwrap();
    // Each begins with its language's line.
    section.split("\n```").skip(1).step_by(2).map(|b| b.split_once('\n').unwrap().1).collect()
}

/// The commands of a block.
fn commands(block: &str) -> impl Iterator<Item = &str> {
    block.lines().map(|line| line.split(" #").next().unwrap().trim())
}

/// Puts the files of the package that `command` installs where `cargo xtask dist` has them.
fn install(root: &Chroot, command: &str) {
    let package = command.strip_prefix("dpkg -i ").unwrap().split_once('_').unwrap();
    assert_eq!(package.1, concat!(env!("CARGO_PKG_VERSION"), "-1_amd64.deb"), "{command}");
    let (programs, units, config): (&[_], &[_], _) = match package.0 {
        "provost" => {
            (&["provost"], &["boot.service", "report.service", "report.timer"], "provost.toml")
        }
        "provost-server" => (&["provostd", "provostctl"], &[], "provostd.toml"),
        other => panic!("there is no package {other}"),
    };
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let put = |from: &Path, to: String, mode| {
        let to = root.path(&to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        // What this machine may have there isn't written to.
        let _ = fs::remove_file(&to);
        fs::copy(from, &to).unwrap();
        fs::set_permissions(to, PermissionsExt::from_mode(mode)).unwrap();
    };
    for name in programs {
        put(&program(name), format!("/usr/bin/{name}"), 0o755);
    }
    let units = units.iter().map(|unit| format!("provost-{unit}"));
    let daemon = (package.0 == "provost-server").then(|| "provostd.service".to_owned());
    for unit in units.chain(daemon) {
        put(&top.join("units").join(&unit), format!("/usr/lib/systemd/system/{unit}"), 0o644);
    }
    put(&top.join("xtask/packages").join(config), format!("/etc/provost/{config}"), 0o644);
}

/// systemd would start `unit` at a boot of `root` and has nothing to say against it. Returns what
/// it would start.
#[track_caller]
fn started_at_boot(root: &Chroot, unit: &str) -> String {
    let unit = root.sh(&format!("readlink {WANTS}/{unit}.service")).expect(0).stdout;
    let unit = unit.trim();
    let out = root.sh(&format!("systemd-analyze verify --man=no --recursive-errors=no {unit}"));
    let said = out.expect(0).stderr;
    assert!(!said.contains("provost"), "{said}");
    let text = root.text(unit);
    text.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap().to_owned()
}

/// A management node as the page makes one.
struct Server {
    root: Chroot,
    key: String,
    daemon: Child,
}

impl Server {
    fn new(folder: &Path) -> Option<Self> {
        let root = Chroot::new(&folder.join("server"))?;
        let (mut key, mut daemon) = (None, None);
        for line in blocks("## The management node").into_iter().flat_map(commands) {
            if line.starts_with("dpkg ") {
                install(&root, line);
                Self::prepare(&root);
                continue;
            }
            // No systemd runs that could start it: the test does, as the unit says.
            let out = root.sh(&format!("cd /root && {}", line.replace(" --now ", " "))).expect(0);
            if line.contains(" key new ") {
                key = Some(out.stdout.trim().to_owned());
            }
            if let Some(unit) = line.strip_prefix("systemctl enable --now ") {
                daemon = Some(root.spawn(&started_at_boot(&root, unit)));
            }
        }
        let server = Self { root, key: key.unwrap(), daemon: daemon.unwrap() };
        assert!(until(SOON, || server.root.path("/var/lib/provostd/listen.json").exists()));
        Some(server)
    }

    /// A site for it to publish; and tests run side by side, so that its ports are any.
    fn prepare(root: &Chroot) {
        root.sh("mkdir -p /root/postscripts && cd /root && rm -rf /var/lib/provostd /srv/provost")
            .expect(0);
        fs::write(root.path("/root/site.toml"), "[nodes.cn001]\npostscripts = [\"hello\"]\n")
            .unwrap();
        let hello = "#!/bin/sh\necho \"hello from $NODE\"\n";
        fs::write(root.path("/root/postscripts/hello"), hello).unwrap();
        let config = root.text("/etc/provost/provostd.toml");
        let own = config.replace("\"0.0.0.0:8480\"", "\"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"");
        assert_ne!(own, config);
        fs::write(root.path("/etc/provost/provostd.toml"), own).unwrap();
    }

    /// Where nodes reach it.
    fn address(&self) -> String {
        let listen = self.root.text("/var/lib/provostd/listen.json");
        let listen: Value = serde_json::from_str(&listen).unwrap();
        listen["nodes"].as_str().unwrap().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

#[test]
fn the_commands_take_a_node_from_packages_to_booted() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = Server::new(folder.path()) else { return };
    let Some(node) = Chroot::new(&folder.path().join("node")) else { return };

    let blocks = blocks("## A node's image");
    let [install_it, settings, order] = blocks[..] else { panic!("{blocks:?}") };
    for line in commands(install_it) {
        if line.starts_with("dpkg ") {
            install(&node, line);
            continue;
        }
        node.sh(line).expect(0);
    }
    let settings =
        settings.replace("10.0.0.1:8480", &server.address()).replace("RWQ…", &server.key);
    // The host's name is this machine's.
    fs::write(node.path("/etc/provost/provost.toml"), format!("node = \"cn001\"\n{settings}"))
        .unwrap();
    let print = PAGE.split('`').find(|text| text.starts_with("provostctl token ")).unwrap();
    fs::write(node.path("/etc/provost/token"), server.root.sh(print).expect(0).stdout).unwrap();
    node.sh("chmod 600 /etc/provost/token; provost check").expect(0);

    // As `systemctl edit` keeps it.
    let drop_in = node.path("/etc/systemd/system/provost-boot.service.d");
    fs::create_dir(&drop_in).unwrap();
    fs::write(drop_in.join("override.conf"), order).unwrap();
    node.sh(&started_at_boot(&node, "provost-boot")).expect(0);
    let said = node.sh("provost log hello").expect(0);
    assert!(said.stdout.contains("hello from cn001"), "{}", said.stdout);
    let status = server.root.sh("provostctl nodes cn001 --format json").expect(0).json();
    assert_eq!(status[0]["status"], "booted", "{status:#}");
}

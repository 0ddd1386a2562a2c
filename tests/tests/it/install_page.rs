//! docs/install.md: its commands, in their order, in the roots of a management node and of a node, from
//! the packages.
//! Of systemd only what works without it running is tried: its units, and what enables them.

use std::fs;
use std::process::Child;

use provost_tests::processes::until;
use provost_tests::{Chroot, Packages, SOON, enter_own_network};

const PAGE: &str = include_str!("../../../docs/install.md");
/// Where systemd looks for what a boot is to start.
const WANTS: &str = "/etc/systemd/system/multi-user.target.wants";

/// The blocks below `heading`, up to the next one.
fn blocks(heading: &str) -> Vec<&'static str> {
    let section = PAGE.split_once(heading).unwrap().1.split("\n## ").next().unwrap();
    // Each begins with its language's line.
    section.split("\n```").skip(1).step_by(2).map(|b| b.split_once('\n').unwrap().1).collect()
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
    daemon: Child,
}

impl Server {
    fn new(root: Chroot, packages: &Packages) -> Self {
        packages.copy_to(&root, "/root");
        let block = blocks("## The management node")[0];
        // No systemd runs that could start it: the test does, as the unit says.
        root.sh(&format!("set -e; cd /root\n{}", block.replace(" --now ", " "))).expect(0);
        let daemon = root.spawn(&started_at_boot(&root, "provostd"));
        let server = Self { root, daemon };
        assert!(until(SOON, || server.root.path("/var/lib/provostd/listen.json").exists()));
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// What the node of the test can run; the example's scripts want more of a node than it has.
const OWN: &str = "cd /srv/provost && printf '#!/bin/sh\\necho \"hello from $NODE\"\\n' >postscripts/hello && \
    printf '[nodes.cn001]\\npostscripts = [\"hello\"]\\n' >site.toml && ";

#[test]
fn the_commands_take_a_node_from_packages_to_booted() {
    enter_own_network("10.0.0.1/8");
    let (root, node) = (Chroot::new(), Chroot::new());
    let packages = Packages::make();
    let server = Server::new(root, &packages);
    packages.copy_to(&node, "/root");

    // The example site is published as it is.
    let plan = server.root.text("/srv/provost/www/plans/cn512.toml");
    assert!(plan.contains("memlock") && plan.contains("setupntp"), "{plan}");
    let publish = PAGE.lines().find(|line| line.starts_with("provostctl publish ")).unwrap();
    server.root.sh(&format!("{OWN}{publish} --allow-removal")).expect(0);

    let blocks = blocks("## A node's image");
    let [install_it, settings, order] = blocks[..] else { panic!("{blocks:?}") };
    node.sh(&format!("set -e; cd /root\n{install_it}")).expect(0);
    let key = server.root.text("/etc/provost/provost.pub");
    let settings = settings.replace("RWQ…", key.lines().last().unwrap());
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

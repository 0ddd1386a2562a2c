//! Packages that are installed, upgraded and removed in a root, with their scripts; and the commands of
//! docs/upgrade.md. Of systemd, which doesn't run there, it is noted what the scripts ask it for.

use provost_tests::{Chroot, Packages, enter_own_network, missing, skip_if};

const PAGE: &str = include_str!("../../../docs/upgrade.md");
/// The versions of before and after an upgrade.
const OLD: &str = Packages::OLD;
const NEW: &str = env!("CARGO_PKG_VERSION");
/// Notes what systemctl is asked for, and does as much of it as it does where no systemd runs.
const ASKED: &str = "mkdir -p /run/systemd/system && mv /usr/bin/systemctl /usr/bin/systemctl.real && \
    printf '#!/bin/sh\\necho \"$*\" >>/root/asked\\ncase $* in *able*) export SYSTEMD_OFFLINE=1\\n\
    systemctl.real $(echo \"$*\" | sed s/--now//) ;; esac\\n' >/usr/bin/systemctl && \
    chmod 755 /usr/bin/systemctl";
const UNITS_OF_NODES: &str = "provost-boot.service provost-boot-retry.timer provost-report.service provost-report.timer \
     provost-renew.timer";

struct Machine {
    root: Chroot,
    /// How a package is called in this format: of its name and version.
    file: fn(&str, &str) -> String,
    upgrade: &'static str,
    downgrade: &'static str,
    remove: &'static str,
}

impl Machine {
    fn new(format: &str) -> Self {
        let root = Chroot::new();
        for packages in [Packages::make_old(), Packages::make()] {
            packages.copy_format_to(&root, "/root", format);
        }
        root.sh(ASKED).expect(0);
        match format {
            "deb" => Self {
                root,
                file: |name, version| format!("{name}_{version}-1_*.deb"),
                upgrade: "dpkg -i",
                downgrade: "dpkg -i",
                remove: "dpkg -r",
            },
            _ => {
                // Debian's has its database in the home of its caller, and knows nothing of dpkg's packages.
                root.sh("mkdir -p /etc/rpm && echo '%_dbpath /var/lib/rpm' >/etc/rpm/macros")
                    .expect(0);
                Self {
                    root,
                    file: |name, version| format!("{name}-{version}-1.*.rpm"),
                    upgrade: "rpm -U --nodeps --replacepkgs",
                    downgrade: "rpm -U --nodeps --oldpackage",
                    remove: "rpm -e",
                }
            }
        }
    }

    /// Installs both packages by `command`. Returns what their scripts asked systemd for.
    #[track_caller]
    fn install(&self, command: &str, version: &str) -> String {
        let files = ["provost-server", "provost"].map(|name| (self.file)(name, version)).join(" ");
        self.asked(&format!("{command} {files}"))
    }

    /// Runs a command. Returns what systemd was asked for, a line each.
    #[track_caller]
    fn asked(&self, command: &str) -> String {
        let done = self.root.sh(&format!("cd /root && : >asked && {{ {command}\n}}"));
        assert_eq!(done.code, Some(0), "{command}\n{}{}", done.stdout, done.stderr);
        self.root.text("/root/asked")
    }

    fn is_enabled(&self, unit: &str) -> bool {
        let wants = "/etc/systemd/system/multi-user.target.wants";
        self.root.path(&format!("{wants}/{unit}")).symlink_metadata().is_ok()
    }
}

fn restarts(asked: &str) -> bool {
    asked.lines().any(|line| line == "try-restart provostd.service")
}

/// What ends a unit, or begins it again.
fn disturbs(asked: &str, unit: &str) -> bool {
    let asks = |line: &str| !line.starts_with("daemon-reload") && line.contains(unit);
    asked.lines().any(asks)
}

#[track_caller]
fn live_through_an_upgrade(format: &str) {
    let machine = Machine::new(format);
    let asked = machine.install(machine.upgrade, OLD);
    assert!(asked.contains("daemon-reload\n"), "{asked}");
    machine.root.sh("systemctl enable provostd provost-boot").expect(0);
    let changed = "www = \"/srv/provost/www\"\nlisten = \"127.0.0.1:0\"\n";
    std::fs::write(machine.root.path("/etc/provost/provostd.toml"), changed).unwrap();

    for (command, version) in
        [(machine.upgrade, NEW), (machine.upgrade, NEW), (machine.downgrade, OLD)]
    {
        let asked = machine.install(command, version);
        assert!(restarts(&asked), "{command} {version}: {asked}");
        assert!(!disturbs(&asked, "provost-boot"), "a run may be in progress: {asked}");
        assert!(!asked.contains("disable"), "{asked}");
        for unit in ["provostd.service", "provost-boot.service"] {
            assert!(machine.is_enabled(unit), "{unit}: {asked}");
        }
        assert_eq!(machine.root.text("/etc/provost/provostd.toml"), changed);
    }

    for (package, units) in [("provost-server", "provostd.service"), ("provost", UNITS_OF_NODES)] {
        let asked = machine.asked(&format!("{} {package}", machine.remove));
        let lines: Vec<&str> = asked.lines().collect();
        assert_eq!(lines, [&format!("--no-reload disable --now {units}"), "daemon-reload"]);
        let unit = units.split(' ').next().unwrap();
        assert!(
            !machine.is_enabled(unit)
                && !machine.root.path("/usr/lib/systemd/system").join(unit).exists()
        );
    }
}

#[test]
fn debian_packages_restart_the_daemon_when_they_are_upgraded_and_stop_it_when_they_are_removed() {
    skip_if(missing::program("dpkg-deb", "dpkg"));
    live_through_an_upgrade("deb");
}

#[test]
fn rpm_packages_restart_the_daemon_when_they_are_upgraded_and_stop_it_when_they_are_removed() {
    skip_if(missing::program("rpmbuild", "rpm"));
    live_through_an_upgrade("rpm");
}

/// The commands of the page, with the versions that there are.
fn commands(heading: &str) -> Vec<String> {
    let section = PAGE.split_once(heading).unwrap().1.split("\n## ").next().unwrap();
    let blocks = section.split("\n```").skip(1).step_by(2).map(|block| block.trim_start());
    blocks.map(|block| block.replace("0.2.0", NEW).replace("0.1.90", OLD)).collect()
}

#[test]
fn the_commands_of_the_page_upgrade_a_machine() {
    skip_if(missing::program("dpkg-deb", "dpkg"));
    // Its ports are free there.
    enter_own_network("10.0.0.1/8");
    let machine = Machine::new("deb");
    machine.install(machine.upgrade, OLD);
    std::fs::create_dir_all(machine.root.path("/srv/provost/www")).unwrap();
    let blocks = commands("## The management node");
    let [upgrade, before] = &blocks[..] else { panic!("{blocks:?}") };
    let upgrade = upgrade.lines().find(|line| line.starts_with("dpkg -i ")).unwrap();
    assert!(machine.asked(before).is_empty());
    assert!(restarts(&machine.asked(upgrade)));
    let version = |package: &str| {
        let query = format!("dpkg-query -W -f='${{Version}}' {package}");
        machine.root.sh(&query).expect(0).stdout
    };
    assert_eq!(
        ["provost-server", "provost"].map(version),
        [format!("{NEW}-1"), format!("{OLD}-1")],
        "the management node needs no package of nodes"
    );

    let nodes = commands("## Nodes");
    let script = nodes.iter().find(|block| block.starts_with("#!/bin/sh")).unwrap();
    machine.root.sh("mkdir /root/scripts").expect(0);
    std::fs::write(machine.root.path("/root/scripts/upgrade"), script).unwrap();
    let site = "[nodes.cn001]\npostscripts = [\"upgrade\"]\n";
    std::fs::write(machine.root.path("/root/site.toml"), site).unwrap();
    let lint = "provostctl publish --lint-only --site /root/site.toml --scripts /root/scripts";
    machine.root.sh(&format!("chmod 755 /root/scripts/upgrade && {lint}")).expect(0);

    // A node that install.sh made: dpkg asks nothing about its configuration.
    machine.root.sh("dpkg --purge provost").expect(0);
    let own = "node = \"cn001\"\n";
    machine.root.sh("mkdir -p /etc/provost /shared && ln /root/*.deb /shared").expect(0);
    std::fs::write(machine.root.path("/etc/provost/provost.toml"), own).unwrap();
    let by_ssh = nodes.iter().find(|block| block.starts_with("clush ")).unwrap();
    let (_, command) = by_ssh.split_once(")\" ").unwrap();
    machine.asked(command);
    assert_eq!(version("provost"), format!("{NEW}-1"));
    assert_eq!(machine.root.text("/etc/provost/provost.toml"), own);

    let back = commands("## Back again");
    let install = back[0].lines().find(|line| line.starts_with("dpkg -i ")).unwrap();
    assert!(restarts(&machine.asked(install)));
    assert_eq!(version("provost-server"), format!("{OLD}-1"));
}

//! docs/tutorial.md: its commands, in their order, in the roots of a management node and of a node, from
//! the packages. They print what the page shows.

use std::process::Child;

use provost_tests::processes::until;
use provost_tests::{Chroot, OldKernel, Packages, SOON, enter_own_network, skip_if};

const PAGE: &str = include_str!("../../../docs/tutorial.md");
/// What systemd would start, if it ran.
const START: &str = "systemctl enable --now provostd\n";

/// The page's blocks: the language of each and its text.
fn blocks() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGE.split("```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap())
}

struct Tutorial {
    management_node: Chroot,
    node: Chroot,
    daemon: Option<Child>,
    /// What was printed for the admin to type elsewhere.
    key: String,
    token: String,
}

impl Tutorial {
    /// Runs a block of commands. Returns what a terminal shows of it.
    #[track_caller]
    fn run(&mut self, block: &str) -> String {
        let (place, commands) = block.split_once('\n').unwrap();
        let (root, status) = match place {
            "# on the management node" => (&self.management_node, 0),
            "# on the node" => (&self.node, 0),
            "# on the node, fails" => (&self.node, 1),
            other => panic!("{other:?} isn't a place"),
        };
        let commands = commands.replace("RWQ…", &self.key).replace("cn001 TOKEN", &self.token);
        let sh = |commands: &str| {
            // An admin sees both as they come.
            let out = root.sh(&format!("exec 2>&1; set -e; cd /root\n{commands}"));
            assert_eq!(out.code, Some(status), "{block}\n{}", out.stdout);
            out.stdout
        };
        let Some((before, after)) = commands.split_once(START) else { return sh(&commands) };
        let before = sh(&format!("{before}systemctl enable provostd"));
        let unit = root.text("/usr/lib/systemd/system/provostd.service");
        let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
        self.daemon = Some(root.spawn(start));
        assert!(until(SOON, || root.path("/var/lib/provostd/listen.json").exists()));
        before + &sh(after)
    }

    /// Remembers what a block that the page shows has printed.
    fn note(&mut self, shown: &str, printed: &str) {
        match shown {
            "RWQ…\n" => self.key = printed.lines().last().unwrap().to_owned(),
            "cn001 TOKEN\n" => self.token = printed.lines().last().unwrap().to_owned(),
            _ => shows(shown, printed),
        }
    }
}

impl Drop for Tutorial {
    fn drop(&mut self) {
        if let Some(daemon) = &mut self.daemon {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// The lines of `shown` are among those of `printed`, in their order.
#[track_caller]
fn shows(shown: &str, printed: &str) {
    let mut lines = printed.lines().map(constant);
    for line in shown.lines().map(constant).filter(|line| line != "…") {
        assert!(
            lines.any(|printed| printed == line),
            "{line:?} isn't, or not there, in\n{printed}"
        );
    }
}

/// Without what differs from run to run: numbers, ids, times, and the width of columns.
fn constant(line: &str) -> String {
    let word = |word: &str| {
        if word.len() == 36 && word.matches('-').count() == 4 {
            return "ID".to_owned();
        }
        if word.len() == 16 && word.chars().all(|c| c.is_ascii_hexdigit()) {
            return "KEY".to_owned();
        }
        let word: String = word.split(|c: char| c.is_ascii_digit() || c == '.').collect();
        // On a machine that is busy it takes seconds.
        word.replace("ms", "s").replace("seconds", "second")
    };
    let words = line.split_whitespace().map(word).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn its_commands_take_a_node_from_two_packages_to_booted_and_back() {
    let kernel = OldKernel::of_all_nodes();
    let untraced = kernel == Some(OldKernel::Linux3_10);
    skip_if(untraced.then(|| "the page shows commands, which Linux 3.10 can't trace".to_owned()));
    enter_own_network("10.0.0.1/8");
    let (management_node, mut node) = (Chroot::new(), Chroot::new());
    node.set_kernel(kernel);
    let packages = Packages::make();
    packages.copy_to(&management_node, "/root");
    packages.copy_to(&node, "/root");
    let (key, token) = Default::default();
    let mut tutorial = Tutorial { management_node, node, daemon: None, key, token };

    let mut printed = String::new();
    for (language, text) in blocks() {
        match language {
            "sh" => printed = tutorial.run(text),
            "text" => tutorial.note(text, &printed),
            other => panic!("a block of {other}"),
        }
    }
    assert_eq!(tutorial.node.text("/etc/greeting"), "This is a compute node.\n");
}

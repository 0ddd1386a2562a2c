//! docs/tutorial.md: its commands, in their order, in the roots of a management node and of a node, from
//! the package. They print what the page shows.

use std::process::Child;

use provost_tests::processes::until;
use provost_tests::{Chroot, OldKernel, Packages, SOON, enter_own_network};

const PAGE: &str = include_str!("../../../docs/tutorial.md");
const README: &str = include_str!("../../../README.md");
/// What systemd would start, if it ran.
const INIT: &str = "provostctl init\n";
const BOOTED: &str = "provostctl wait-for cn001 --status booted";

/// The page's blocks: the language of each and its text.
fn blocks(page: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    page.split("```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap())
}

/// What is typed on each machine until the first node has booted.
fn first_node(page: &'static str) -> (Vec<&'static str>, Vec<&'static str>) {
    let (mut management_node, mut node) = (Vec::new(), Vec::new());
    for (_, text) in blocks(page).filter(|(language, _)| *language == "sh") {
        let (place, commands) = text.split_once('\n').unwrap();
        let lines = if place == "# on the node" { &mut node } else { &mut management_node };
        lines.extend(commands.lines());
        if text.contains(BOOTED) {
            break;
        }
    }
    (management_node, node)
}

struct Tutorial {
    management_node: Chroot,
    node: Chroot,
    daemon: Option<Child>,
    /// What init and `enroll open` have printed.
    said: String,
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
        let digest = self.said.split("sh install.sh ").nth(1).unwrap_or_default();
        let commands = commands.replace("SHA256", digest.split_whitespace().next().unwrap_or(""));
        let sh = |commands: &str| {
            // The node has its name; an admin sees both outputs as they come.
            let line = format!("exec 2>&1; set -e; cd /root\n{commands}").replace('\'', r"'\''");
            let named = "echo cn001 >/proc/sys/kernel/hostname";
            let out = root.sh(&format!("exec unshare --uts sh -c '{named}; {line}'"));
            assert_eq!(out.code, Some(status), "{block}\n{}", out.stdout);
            out.stdout
        };
        let Some((before, after)) = commands.split_once(INIT) else { return sh(&commands) };
        let mut said = sh(&format!("{before}{INIT}"));
        let start = said.split_once("\nstart provostd:\n").unwrap().1.lines().next().unwrap();
        self.daemon = Some(root.spawn(start.trim()));
        assert!(until(SOON, || root.path("/var/lib/provostd/listen.json").exists()));
        said += &sh(after);
        self.said = said.clone();
        said
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
        if word.len() == 64 || word.starts_with("SHA256") {
            return "SHA256".to_owned();
        }
        let word: String = word.split(|c: char| c.is_ascii_digit() || c == '.').collect();
        // On a machine that is busy it takes seconds.
        word.replace("ms", "s").replace("seconds", "second")
    };
    let words = line.split_whitespace().map(word).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn its_commands_take_a_node_from_a_package_to_booted_and_back() {
    let kernel = OldKernel::of_all_nodes();
    enter_own_network("10.0.0.1/8");
    let (management_node, mut node) = (Chroot::new(), Chroot::new());
    node.set_kernel(kernel);
    // The node has nothing of Provost but what it fetches.
    Packages::make().copy_to(&management_node, "/root");
    let said = String::new();
    let mut tutorial = Tutorial { management_node, node, daemon: None, said };

    let mut printed = String::new();
    for (language, text) in blocks(PAGE) {
        match language {
            "sh" => {
                printed = tutorial.run(text);
                println!("{text}\n{printed}");
            }
            "text" => shows(text, &printed),
            other => panic!("a block of {other}"),
        }
    }
    assert_eq!(tutorial.node.text("/etc/greeting"), "This is a compute node.\n");
    // The command that failed is known by bash, where the kernel can't trace any.
    let is_untraced = kernel == Some(OldKernel::Linux3_10);
    let log = tutorial.node.sh("cat /var/log/provost/provost.log");
    assert_eq!(log.stdout.contains("commands aren't traced: waitid(2)"), is_untraced, "{log:?}");
    let show = tutorial.management_node.sh("provostctl show cn001 --format json").expect(0).json();
    assert_eq!(show["node"]["status"], "booted", "{show}");
    assert!(show["identity"]["key"].is_string(), "{show}");

    // What init said are the page's commands.
    let (management_node, node) = first_node(PAGE);
    for line in management_node[2..].iter().chain(&node) {
        let line = line.replace("SHA256", "");
        assert!(
            tutorial.said.contains(&format!("\n  {line}")),
            "{line} isn't in {}",
            tutorial.said
        );
    }
}

#[test]
fn four_commands_and_two_make_the_first_node() {
    for page in [PAGE, README] {
        let (management_node, node) = first_node(page);
        assert_eq!(management_node.last(), Some(&BOOTED));
        assert!(management_node.len() <= 4 && node.len() <= 2, "{management_node:?} {node:?}");
    }
    assert_eq!(first_node(PAGE), first_node(README));
}

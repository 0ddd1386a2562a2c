//! README.md: its commands, in their order, with its site.

use std::fs;
use std::path::Path;
use std::process::Command;

use provost_tests::{Cluster, Node, Out, missing, program, skip_if};

const README: &str = include_str!("../../../README.md");

/// The first block after `heading` that is in `language`.
fn block(heading: &str, language: &str) -> &'static str {
    let after = README.split_once(heading).unwrap().1;
    after.split_once(&format!("```{language}\n")).unwrap().1.split_once("```").unwrap().0
}

#[test]
fn the_commands_take_a_node_from_a_key_to_booted() {
    let mut cluster = site();
    // The page makes the key.
    fs::remove_dir_all(cluster.path("key")).unwrap();

    let mut node = None;
    for line in block("## How it works", "").lines() {
        let line = line.split(" #").next().unwrap().trim();
        if line == "provostd --config provostd.toml" {
            cluster.start();
            node = Some(cluster.node("cn001"));
            continue;
        }
        let line = line.replace("wait-for cn[001-512]", "wait-for cn001");
        match &node {
            None => in_folder(&cluster, &line),
            Some(node) => {
                node.shell(&line, &cluster).expect(0);
                has_token(&cluster, node);
            }
        }
    }
    assert_eq!(cluster.status("cn001")["status"], "booted");
    assert!(cluster.path("node/etc/motd.d/50-node").is_file());
}

/// Runs a line where the page's files are.
fn in_folder(cluster: &Cluster, line: &str) {
    let path = std::env::var_os("PATH").unwrap();
    let folders = [program("provostctl").parent().unwrap().to_owned()];
    let path = std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&path)));
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(cluster.path("")).env("PATH", path.unwrap());
    Out::from(command.output().unwrap()).expect(0);
}

/// A management node with the page's site and the product's scripts, which work in a folder.
fn site() -> Cluster {
    let cluster = Cluster::new();
    let site = block("## How it works", "toml");
    let root = cluster.path("node").display().to_string();
    fs::create_dir(&root).unwrap();
    let own = site.replacen("env = { ", &format!("env = {{ PROVOST_ROOT = {root:?}, "), 1);
    assert_ne!(own, site, "the scripts would work on this machine");
    cluster.site(&own);
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../postscripts");
    for name in ["postscripts", "scripts"] {
        let to = cluster.path(name);
        let copied = Command::new("cp").arg("-rT").args([&from, &to]).status();
        assert!(copied.unwrap().success());
    }
    cluster
}

/// A new token takes the place of the one that the node has.
fn has_token(cluster: &Cluster, node: &Node) {
    let token = cluster.ctl(&["token", node.name()]).expect(0).stdout;
    fs::write(node.path("token"), token).unwrap();
}

/// What the demo appends to `setupntp`.
const CHANGE: &str = include_str!("../../../xtask/src/demo/setupntp.change");

#[test]
fn a_node_that_fails_looks_as_the_page_shows() {
    skip_if(missing::tracing());
    let mut cluster = site();
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    node.provost(&["boot"]).expect(0);
    let script = cluster.scripts().join("setupntp");
    let text = fs::read_to_string(&script).unwrap();
    fs::write(script, text + CHANGE).unwrap();
    cluster.publish().expect(0);
    node.provost(&["boot"]).expect(1);

    let shown = block("## A node that fails", "");
    for part in shown.split("$ ").skip(1) {
        let (command, shown) = part.split_once('\n').unwrap();
        let out = node.shell(command, &cluster).expect(0);
        let mut printed = constant(&(out.stdout + &out.stderr));
        // What it tells of its machine is each machine's own.
        printed.retain(|line| !line.starts_with("machine "));
        assert_eq!(printed, constant(shown), "{command}");
    }
}

/// Without what differs from run to run: numbers, ids and folders, and the width of columns.
fn constant(text: &str) -> Vec<String> {
    let word = |word: &str| {
        if word.len() == 36 && word.matches('-').count() == 4 {
            return "ID".to_owned();
        }
        if let Some((before, path)) = word.split_once('/') {
            // A cell that is too long for its column ends anywhere in it.
            let name = path.rsplit('/').next().filter(|_| !path.ends_with('…'));
            return format!("{before}{}", name.unwrap_or("…"));
        }
        let word: String = word.split(|c: char| c.is_ascii_digit()).collect();
        // On a machine that is busy it takes seconds.
        word.replace("ms", "s").replace(".s", "s")
    };
    let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).filter(|line| !line.is_empty()).collect()
}

//! README.md: its commands, in their order, with its site.

use std::fs;
use std::path::Path;
use std::process::Command;

use provost_tests::{Cluster, Node, missing, skip_if};

use crate::enrolment::nodes::without_token;

const README: &str = include_str!("../../../README.md");

/// The first block after `heading` that is in `language`.
fn block(heading: &str, language: &str) -> &'static str {
    let after = README.split_once(heading).unwrap().1;
    after.split_once(&format!("```{language}\n")).unwrap().1.split_once("```").unwrap().0
}

#[test]
fn the_commands_take_a_node_from_published_to_booted() {
    let cluster = served();
    let node = node(&cluster);
    for line in block("## How it works", "").lines() {
        let line = line.split(" #").next().unwrap().trim();
        let line = line.replace("wait-for cn[001-512]", "wait-for cn001");
        match &*line {
            // `provostctl.toml` names all that.
            "provostctl publish" => cluster.publish().expect(0),
            _ => node.shell(&line, &cluster).expect(0),
        };
    }
    assert_eq!(cluster.status("cn001")["status"], "booted");
    assert!(cluster.ctl_json(&["show", "cn001"])["identity"]["key"].is_string());
    assert!(cluster.path("node/etc/motd.d/50-node").is_file());
}

/// The page's site, served over TLS as `provostctl init` does.
fn served() -> Cluster {
    let mut cluster = site();
    cluster.publish().expect(0);
    cluster.start();
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    cluster
}

/// A node without a token.
fn node(cluster: &Cluster) -> Node {
    let node = cluster.node("cn001");
    without_token(&node);
    node
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

/// What the demo appends to `setupntp`.
const CHANGE: &str = include_str!("../../../xtask/src/demo/setupntp.change");

#[test]
fn a_node_that_fails_looks_as_the_page_shows() {
    skip_if(missing::tracing());
    let cluster = served();
    let node = node(&cluster);
    cluster.ctl(&["enroll", "open", "cn001"]).expect(0);
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
        if word.starts_with("SHA256:") {
            return "KEY".to_owned();
        }
        if let Some((before, path)) = word.split_once('/') {
            // A cell that is too long for its column ends anywhere in it.
            let name = path.rsplit('/').next().filter(|_| !path.ends_with('…'));
            return format!("{before}{}", name.unwrap_or("…"));
        }
        let word: String = word.split(|c: char| c.is_ascii_digit()).collect();
        // On a machine that is busy it takes seconds.
        if word == "." { String::new() } else { word.replace("ms", "s").replace(".s", "s") }
    };
    let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).filter(|line| !line.is_empty()).collect()
}

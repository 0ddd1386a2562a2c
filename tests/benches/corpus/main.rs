//! What each script of the corpus `tests/scripts` takes traced, beside what it takes without Provost.
//!
//! `cargo xtask bench corpus` runs it with the node's binary as nodes get it. Each script runs both ways
//! in turn, so that whatever else the machine does is done to both; what is printed are medians.
#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]
#![expect(clippy::print_stdout, reason = "printing is what it does")]

#[path = "../common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use provost_tests::{Cluster, Node};

use common::table::{Table, Target};
use common::{median, shell};

/// How often each script runs in each way; odd.
const ROUNDS: usize = 3;
/// How much longer a script may take at the median, in milliseconds.
const MORE: f64 = 20.0;

fn main() {
    let mut cluster = Cluster::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let languages = entries(&corpus).map(|folder| (name(&folder), publish(&cluster, &folder)));
    let languages: Vec<_> = languages.filter(|(_, scripts)| !scripts.is_empty()).collect();
    // Some have the mistakes that the check finds.
    cluster.site("[nodes.cn001]\n").publish_with(&["--no-lint"]).expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let mut table = Table::new();
    let mut more = Vec::new();
    for (language, scripts) in languages {
        let pairs = scripts.iter().map(|script| pair(&cluster, &node, script));
        let pairs: Vec<[f64; 2]> = pairs.collect();
        let [ours, theirs] = [0, 1].map(|way| median(pairs.iter().map(|pair| pair[way]).collect()));
        let what = format!("{} scripts in {language}", pairs.len());
        table.compare(&what, "ms", ours, theirs, Target::None);
        more.extend(pairs.iter().map(|[ours, theirs]| ours - theirs));
    }
    table.hold("a script takes longer by", "ms", median(more), Target::AtMost(MORE));
    println!("{table}");
}

/// Puts a language's scripts among those of the site, and the files that they read; returns their names.
/// Of one that leaves processes behind, the wait for these would be measured.
fn publish(cluster: &Cluster, folder: &Path) -> Vec<String> {
    let mut scripts = Vec::new();
    for path in entries(folder) {
        let text = fs::read_to_string(&path).unwrap();
        if path.extension().is_some() {
            fs::write(cluster.scripts().join(name(&path)), text).unwrap();
            continue;
        }
        let first = text.lines().next().and_then(|line| line.strip_prefix("#!"));
        let interpreter = first.and_then(|line| line.split(' ').next());
        let is_there = interpreter.is_some_and(|path| Path::new(path).exists());
        if is_there && !text.contains("\n# leaves: ") {
            let script = format!("{}-{}", name(folder), name(&path));
            cluster.script(&script, &text);
            scripts.push(script);
        }
    }
    scripts
}

/// How many milliseconds a script takes traced, and plain.
fn pair(cluster: &Cluster, node: &Node, script: &str) -> [f64; 2] {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        node.provost(&["run", script]);
        let journal = node.journal("run");
        let is_end =
            |entry: &&serde_json::Value| entry["stage"] == *script && entry["phase"] == "stage end";
        let end = journal.iter().rfind(is_end).unwrap();
        ours.push(end["durationMs"].as_f64().unwrap_or_default());
        let mut plain = shell(&cluster.scripts(), &format!("exec ./{script}"));
        plain.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let began = Instant::now();
        plain.status().unwrap();
        theirs.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    [median(ours), median(theirs)]
}

/// What is in a folder, in order.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.into_iter()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

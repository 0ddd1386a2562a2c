//! Short scripts with background jobs, several at once on a busy machine: none is told to leave something
//! behind that doesn't, none waits for what has ended already, and each command's end is in the log.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use provost_tests::{Cluster, Node, missing, repeats, skip_if};

const NODES: usize = 4;
/// How long a script takes at most that doesn't wait for the `leak` below, in milliseconds.
const LONG: u64 = 15_000;

const SCRIPTS: [&str; 5] = [
    "(sleep 0.05; echo late) &\nexit 0\n",
    "sleep 30 & sleep 0.02; kill $!\n",
    "while read -r x; do echo \"$x\"; done < <(ls /nonexistent)\n",
    "for i in 1 2 3; do (/bin/true; exec sh -c \"exit $i\") & done\n",
    "(sleep 0.05; /bin/true) >/dev/null 2>&1 &\nyes | head -n 1\n",
];

/// What is wrong of a run, as far as its log tells.
fn commands_without_end(node: &Node, run: &str) -> Vec<String> {
    let logs = std::fs::read_dir(node.path("log/scripts").join(run)).unwrap();
    let mut without_end = Vec::new();
    for log in logs {
        let text = std::fs::read_to_string(log.unwrap().path()).unwrap();
        let pid = |line: &str, kind: &str| -> Option<String> {
            let rest = line.split_once(kind)?.1;
            Some(rest.split(' ').next()?.to_owned())
        };
        let ended: HashSet<_> = text.lines().filter_map(|line| pid(line, "Z exit F ")).collect();
        let begun = text
            .lines()
            .filter(|line| pid(line, "Z exec F ").is_some_and(|pid| !ended.contains(&pid)));
        without_end.extend(begun.map(str::to_owned));
    }
    without_end
}

fn boot(node: &Node) -> usize {
    node.provost(&["boot"]).expect(0);
    let journal = node.journal("boot");
    let run = journal.last().unwrap()["run"].as_str().unwrap().to_owned();
    let ends = journal.iter().filter(|entry| entry["run"] == *run && entry["phase"] == "stage end");
    let ends: Vec<_> = ends.filter(|end| end["stage"] != "fetch").collect();
    for end in &ends {
        assert!(end["leaked"].is_null() && end["result"] == "success", "{end}");
        assert!(end["durationMs"].as_u64().unwrap() < LONG, "{end}");
    }
    let without_end = commands_without_end(node, &run);
    assert!(without_end.is_empty(), "{without_end:#?}");
    ends.len()
}

#[test]
fn jobs_that_end_with_their_scripts() {
    skip_if(missing::tracing());
    let mut cluster = Cluster::new();
    let names: Vec<String> = (0..4 * SCRIPTS.len()).map(|n| format!("script{n}")).collect();
    for (name, text) in names.iter().zip(SCRIPTS.iter().cycle()) {
        let header = "# /// provost\n# leak = \"fail\"\n# ///\n";
        cluster.script(name, &format!("#!/bin/bash\n{header}{text}"));
    }
    cluster.site(&format!("[groups.all]\nnodes = \"cn[1-{NODES}]\"\npostscripts = {names:?}\n"));
    cluster.publish().expect(0);
    cluster.start();
    let all = repeats(160, 10_000);
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for number in 1..=NODES {
            let node = cluster.node(&format!("cn{number}"));
            let settings = cluster.settings_for(&[&cluster.daemon().nodes()]);
            node.configure(&format!("{settings}[run]\nleak = \"20s\"\n"));
            let done = &done;
            scope.spawn(move || {
                while done.load(Ordering::Relaxed) < all {
                    done.fetch_add(boot(&node), Ordering::Relaxed);
                }
            });
        }
    });
    eprintln!("{} scripts, none with a false leak, a lost end or a wait", done.into_inner());
}

//! What it costs a bash script that one can tell where it failed. The script measures itself.

use provost_tests::Cluster;

use crate::table::{Table, Target};
use crate::{median, shell};

/// How often each alternative is measured; odd.
const ROUNDS: usize = 11;

/// A bash script that does `work` and prints how many microseconds it took.
fn timed(work: &str) -> String {
    format!(
        "#!/bin/bash\nbegan=${{EPOCHREALTIME/[.,]/}}\n{work}\n\
         echo \"took $((${{EPOCHREALTIME/[.,]/}} - began))\"\n"
    )
}

pub(crate) fn measure(table: &mut Table) {
    let builtins = timed("for ((i = 0; i < 100000; i++)); do : \"$i\"; [[ $i ]]; done");
    let forks = timed("for ((i = 0; i < 1000; i++)); do /bin/true; done");
    let mut cluster = Cluster::new();
    cluster.script("builtins", &builtins).script("forks", &forks);
    cluster.site("[nodes.cn001]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let works =
        [("builtins", "a bash loop of 100,000 builtins"), ("forks", "a bash loop of 1,000 forks")];
    for (name, what) in works {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            node.provost(&["run", name]).expect(0);
            ours.push(took(&node.provost(&["log", name, "--output"]).expect(0).stdout));
            let plain = shell(&cluster.scripts(), &format!("./{name}")).output().unwrap();
            theirs.push(took(&String::from_utf8_lossy(&plain.stdout)));
        }
        let (ours, theirs) = (median(ours), median(theirs));
        table.compare(what, "ms", ours, theirs, Target::AtMost(1.2));
    }
}

/// What the script has measured, in milliseconds.
fn took(printed: &str) -> f64 {
    let (_, number) = printed.trim().rsplit_once("took ").expect("the script's own measure");
    number.parse::<f64>().unwrap() / 1000.0
}

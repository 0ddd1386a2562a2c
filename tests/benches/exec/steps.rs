//! 200 trivial scripts, everything on.

use std::fs::File;
use std::io::{Read, Write};
use std::process::Stdio;

use provost_tests::{Cluster, Node, pipe};

use crate::table::{Table, Target};
use crate::{median, shell, time};

const SCRIPTS: usize = 200;
/// How often each alternative is measured; odd.
const ROUNDS: usize = 11;
/// Runs before the scripts: waits for its go, then says what time it is.
const FIRST: &str = "#!/bin/bash\necho >\"$BEGUN\"\nread -r _ <\"$GO\"\necho \"$EPOCHREALTIME\"\n";
/// Runs after them.
const LAST: &str = "#!/bin/bash\necho \"$EPOCHREALTIME\"\n";

pub(crate) fn measure(table: &mut Table) {
    let mut cluster = Cluster::new();
    let names: Vec<String> = (1..=SCRIPTS).map(|n| format!("s{n:03}")).collect();
    for name in &names {
        cluster.script(name, "#!/bin/sh\necho well\n");
    }
    cluster.script("first", FIRST).script("last", LAST);
    let [begun, go] = ["begun", "go"].map(|name| {
        pipe(&cluster.path(name));
        cluster.path(name)
    });
    let all: Vec<&str> =
        ["first"].into_iter().chain(names.iter().map(String::as_str)).chain(["last"]).collect();
    let env = format!("BEGUN = {begun:?}\nGO = {go:?}\n");
    cluster.site(&format!("[nodes.cn001]\npostscripts = {all:?}\n[nodes.cn001.env]\n{env}"));
    cluster.publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    let config = std::fs::read_to_string(node.path("provost.toml")).unwrap();
    std::fs::write(node.path("provost.toml"), config + "[report]\ndeadline = \"100ms\"\n").unwrap();
    let hold = |path| File::options().read(true).write(true).open(path).unwrap();
    let (mut begun, mut go) = (hold(&begun), hold(&go));

    let scripts = cluster.scripts();
    let plain = "for script in s*; do ./$script; done";
    let teed = "for script in s*; do ./$script 2>&1 | tee -a ../tee.log; done";
    let [mut alone, mut reporting, mut bare, mut tee] = [const { Vec::<f64>::new() }; 4];
    for _ in 0..ROUNDS {
        for (daemon, times) in [(true, &mut reporting), (false, &mut alone)] {
            let mut boot = node
                .command(&["boot"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            begun.read_exact(&mut [0]).unwrap();
            let address = (!daemon).then(|| cluster.kill_daemon());
            go.write_all(b"\n").unwrap();
            assert!(boot.wait().unwrap().success());
            times.push(between(&node));
            if let Some(address) = address {
                cluster.start_at(&address);
            }
        }
        bare.push(time(&mut shell(&scripts, plain)).as_secs_f64() * 1000.0);
        tee.push(time(&mut shell(&scripts, teed)).as_secs_f64() * 1000.0);
    }
    let [alone, reporting, bare, tee] = [alone, reporting, bare, tee].map(median);
    let mut row = |what: &str, ours, theirs, target| {
        table.compare(&format!("{SCRIPTS} scripts, to {what}"), "ms", ours, theirs, target);
    };
    row("a bare loop", alone, bare, Target::AtMost(1.4));
    row("a loop with tee", alone, tee, Target::AtMost(1.0));
    row("a loop with tee, provostd on the same machine", reporting, tee, Target::None);
}

/// The milliseconds from the end of `first` to the beginning of `last`.
fn between(node: &Node) -> f64 {
    let [first, last] = ["first", "last"].map(|name| {
        let log = node.provost(&["log", name, "--output"]).expect(0).stdout;
        log.trim().rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()
    });
    (last - first) * 1000.0
}

//! A run is killed at hundreds of points of its life. Whatever the point, starting it again continues as
//! if nothing had been lost, reported twice, or done twice.

use std::collections::BTreeMap;
use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fastrand::Rng;
use provost_tests::{Cluster, Node, accounts, processes, repeats, seed, six_parts, skip_part};
use serde_json::Value;

/// How often one node is killed: few times, because the first lives have the most to lose.
const KILLS_EACH: usize = 4;
/// More nodes than are killed.
const MOST_NODES: usize = 1000;
/// What the names of those system calls have in common that change what there is.
const CALLS: [&str; 9] =
    ["write", "rename", "unlink", "sync", "truncate", "lock", "mkdir", "send", "clone"];
/// More than any run needs, on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// They may fail as often as they like.
const UNGUARDED: &str = "[guard]\nmax_attempts = 1000000\n";

/// Notes in a file of the node that this run began it, and that it came to its end.
const NOTES: &str = "name=${0##*/}\necho \"$PROVOST_RUN begins\" >>\"$GROUND/$NODE.$name\"\n\
     echo \"$PROVOST_RUN ends\" >>\"$GROUND/$NODE.$name\"\n";

/// By which means a run is killed.
#[derive(Clone, Debug)]
enum Death {
    /// The runner alone, after so long.
    Runner(Duration),
    /// Everything of the node's at one instant, after so long: a power cut.
    All(Duration),
    /// The runner alone, when it begins the nth system call of this name.
    Call(String, usize),
}

/// What a life is like that nobody ends, as a measure for the others.
struct Span {
    time: Duration,
    /// How often each system call is made; nothing where that can't be found out.
    calls: Vec<(String, usize)>,
}

impl Death {
    fn draw(rng: &mut Rng, span: &Span) -> Self {
        let after = span.time.mul_f64(rng.f64() * 1.2);
        match (rng.u8(0..6), rng.choice(&span.calls)) {
            (0, _) => Self::Runner(after),
            (1, _) | (_, None) => Self::All(after),
            // So that the rare ones, which change the most, have their share.
            (_, Some((name, n))) => Self::Call(name.clone(), rng.usize(1..=*n)),
        }
    }
}

fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    let once = "# /// provost\n# when = \"once\"\n# ///\n";
    cluster.script("first", &format!("#!/bin/sh\n{NOTES}"));
    // It begins right after the first, without a word of the runner.
    cluster.script("second", &format!("#!/bin/sh\n{NOTES}"));
    cluster.script("format", &format!("#!/bin/sh\n{once}{NOTES}"));
    cluster.script("last", &format!("#!/bin/sh\n{NOTES}"));
    let ground = cluster.path("nodes");
    cluster.site(&format!(
        "[defaults]\npostscripts = [\"first\", \"second\", \"format\", \"last\"]\nenv.GROUND = {ground:?}\n\
         [groups.all]\nnodes = \"cn[0001-{MOST_NODES}]\"\n"
    ));
    cluster.publish().expect(0);
    cluster.configure_daemon(UNGUARDED);
    cluster.start();
    cluster
}

fn node(cluster: &Cluster, number: usize) -> Node {
    let node = cluster.node(&format!("cn{number:04}"));
    node.configure(&(cluster.settings_for(&[&cluster.daemon().nodes()]) + UNGUARDED));
    node
}

/// `provost boot`, traced where it is to be killed at a system call.
fn boot(node: &Node, trace: &[&str]) -> Child {
    let said = File::options().create(true).append(true).open(node.path("said")).unwrap();
    node.command_by(trace, &["boot"]).stdout(Stdio::null()).stderr(said).spawn().unwrap()
}

/// Lets a node boot undisturbed, to see how long that takes.
fn measure(cluster: &Cluster) -> Span {
    let node = node(cluster, MOST_NODES);
    let begun = Instant::now();
    assert!(boot(&node, &[]).wait().unwrap().success());
    let time = begun.elapsed();
    let calls = node.path("calls");
    if !Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_ok_and(|s| s.success()) {
        skip_part("no strace, by which a run is killed at its system calls");
        return Span { time, calls: Vec::new() };
    }
    assert!(
        boot(&node, &["strace", "-qq", "-o", calls.to_str().unwrap()]).wait().unwrap().success()
    );
    let mut count = BTreeMap::new();
    for line in std::fs::read_to_string(calls).unwrap().lines() {
        let name = line.split('(').next().unwrap();
        if CALLS.iter().any(|part| name.contains(part)) && !name.contains(' ') {
            *count.entry(name.to_owned()).or_default() += 1;
        }
    }
    Span { time, calls: count.into_iter().collect() }
}

/// One life of a node. Says whether it was killed; it has to succeed otherwise.
fn live(node: &Node, death: &Death) -> bool {
    let inject;
    let trace: &[&str] = match death {
        Death::Call(name, n) => {
            inject = format!("inject={name}:signal=KILL:when={n}");
            &["strace", "-qq", "-o", "/dev/null", "-e", &inject]
        }
        _ => &[],
    };
    let mut child = boot(node, trace);
    let pidfd = processes::open(child.id().cast_signed()).unwrap();
    if let Death::Runner(after) | Death::All(after) = death
        && !processes::ready(&pidfd, *after)
    {
        match death {
            Death::All(_) => processes::kill(node.path("").to_str().unwrap()),
            _ => child.kill().unwrap(),
        }
    }
    assert!(processes::ready(&pidfd, LONG), "{death:?}: it doesn't end");
    let status = child.wait().unwrap();
    let said = || std::fs::read_to_string(node.path("said")).unwrap();
    assert!(
        status.success() || std::os::unix::process::ExitStatusExt::signal(&status) == Some(9),
        "{}, {death:?}: {status}\n{}",
        node.name(),
        said()
    );
    !status.success()
}

/// Boots `node` again and again until it was killed so often; then it may live. Returns how often
/// it was killed.
fn live_and_die(node: &Node, rng: &mut Rng, span: &Span) -> usize {
    let mut kills = 0;
    while kills < KILLS_EACH {
        kills += usize::from(live(node, &Death::draw(rng, span)));
        if node.path("log/services/boot.json").exists() {
            // Whole at every instant, for any reader.
            node.journal("boot");
        }
    }
    assert!(!live(node, &Death::All(LONG)));
    kills
}

/// The runs in which `script` ran to a recorded success, in order.
fn successes<'r>(runs: &'r [Vec<Value>], script: &str) -> Vec<&'r str> {
    let done = |entry: &&Value| {
        entry["stage"] == script
            && entry["phase"] == "stage end"
            && entry["result"] == "success"
            && entry["skipped"].is_null()
    };
    runs.iter().flatten().filter(done).map(|entry| entry["run"].as_str().unwrap()).collect()
}

/// The runs that have left the note `what` of `script`, in order.
fn noted(node: &Node, script: &str, what: &str) -> Vec<String> {
    let notes = node.path("..").join(format!("{}.{script}", node.name()));
    let notes = std::fs::read_to_string(notes).unwrap_or_default();
    notes.lines().filter_map(|l| l.strip_suffix(what)).map(|l| l.trim().to_owned()).collect()
}

fn check(cluster: &Cluster, node: &Node) {
    let runs = accounts::runs(node, "boot");
    let name = node.name();
    let (last, cut) = runs.split_last().unwrap();
    assert_eq!(last.last().unwrap()["result"], "success", "{name}: {last:#?}");
    for run in cut {
        let end = run.last().unwrap();
        // One that was killed after its end has succeeded.
        assert!(end["result"] == "success" || end["cause"] == "interrupted", "{name}: {run:#?}");
    }
    for script in ["first", "second", "last"] {
        let ended = noted(node, script, "ends");
        let done = successes(&runs, script);
        let lied = done.iter().find(|run| !ended.iter().any(|e| e == *run));
        assert_eq!(lied, None, "{name}: {script} is said to have run");
        assert_eq!(
            done.last().copied(),
            last[0]["run"].as_str(),
            "{name}: {script} runs in every run"
        );
    }
    // After the run in which it came to its end, and was noted to, nothing begins it again.
    let begun = noted(node, "format", "begins");
    let done_in = begun.last().unwrap();
    assert!(noted(node, "format", "ends").contains(done_in), "{name}: it never came to its end");
    let done = successes(&runs, "format");
    assert!(done.iter().all(|run| run == done_in), "{name}: once, no more: {done:?}, {begun:?}");
    let at = runs.iter().position(|run| run[0]["run"] == *done_in).unwrap();
    let after = &runs[at + 1..];
    for run in after.iter().filter(|run| run.last().unwrap()["result"] == "success") {
        let skipped = run.iter().any(|e| e["stage"] == "format" && !e["skipped"].is_null());
        assert!(skipped, "{name}: it says why it doesn't run: {run:#?}");
    }
    accounts::all_is_told(cluster, node, "boot");
}

/// Kills runs of one node after the other.
fn a_run_that_is_killed_loses_nothing_and_does_nothing_twice() {
    // Six parts: 300 in all, or 3,000.
    let least = repeats(50, 500);
    let mut rng = Rng::with_seed(seed());
    let cluster = cluster();
    let span = measure(&cluster);
    let (mut kills, mut nodes) = (0, 0);
    while kills < least {
        nodes += 1;
        let node = node(&cluster, nodes);
        kills += live_and_die(&node, &mut rng, &span);
        check(&cluster, &node);
    }
    eprintln!("{kills} kills of {nodes} nodes, a run takes {:?}", span.time);
}

six_parts! { a_run_that_is_killed_loses_nothing_and_does_nothing_twice }

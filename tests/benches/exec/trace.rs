//! What it costs that a script's commands are traced, and that one can tell where it failed. Each
//! script measures itself.

use std::process::Command;

use provost_tests::Cluster;

use crate::table::{Table, Target};
use crate::{median, shell};

/// How often each alternative is measured; odd.
const ROUNDS: usize = 11;

/// What is done, by its script's name, how much longer it may take, and how.
const WORKS: &[(&str, &str, f64, &str)] = &[
    (
        "builtins",
        "a bash loop of 100,000 builtins",
        1.05,
        "for ((i = 0; i < 100000; i++)); do : \"$i\"; [[ $i ]]; done",
    ),
    (
        "forks",
        "a bash loop of 1,000 forks",
        1.15,
        "for ((i = 0; i < 1000; i++)); do /bin/true; done",
    ),
    (
        "dash",
        "a dash loop of 1,000 forks",
        1.15,
        "dash -c 'i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i + 1)); done'",
    ),
    (
        "pipes",
        "500 pipelines in $( )",
        1.15,
        "for ((i = 0; i < 500; i++)); do x=$(/bin/echo a | cat); done",
    ),
    ("threads", "2,000 threads", 1.5, "./threads.bin"),
    ("alarms", "10,000 timer signals", 1.5, "./alarms.bin"),
    (
        "dpkg",
        "dpkg: 20 packages unpacked and configured",
        1.05,
        "dpkg --root=\"$root\" --force-all -i \"$root\"/../*.deb >/dev/null 2>&1",
    ),
];

/// Makes packages for `dpkg`, before the time is taken.
const PACKAGES: &str = r#"
t=$(mktemp -d) && trap 'rm -rf "$t"' EXIT
root=$t/root; mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$t/p/DEBIAN" "$t/p/opt"
: >"$root/var/lib/dpkg/status"
for n in {1..20}; do
    printf 'Package: p%s\nVersion: 1\nArchitecture: all\nMaintainer: a\nDescription: a\n' "$n" >"$t/p/DEBIAN/control"
    for f in {1..20}; do echo "$n $f" >"$t/p/opt/p$n-$f"; done
    dpkg-deb -Znone --build "$t/p" "$t/p$n.deb" >/dev/null
    rm -f "$t"/p/opt/*
done
"#;

const THREADS: &str = r#"
#include <pthread.h>
static void *run(void *arg) { return 0; }
int main() {
    for (int i = 0; i < 2000; i++) {
        pthread_t thread;
        if (pthread_create(&thread, 0, run, 0)) return 1;
        pthread_join(thread, 0);
    }
}"#;

const ALARMS: &str = r#"
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
static volatile int alarms;
static void on_alarm(int signal) { alarms++; }
int main() {
    signal(SIGALRM, on_alarm);
    struct itimerval every = {{0, 50}, {0, 50}};
    setitimer(ITIMER_REAL, &every, 0);
    while (alarms < 10000) pause();
}"#;

/// A bash script that does `work` and prints how many microseconds it took.
fn timed(before: &str, work: &str) -> String {
    format!(
        "#!/bin/bash\n{before}\nbegan=${{EPOCHREALTIME/[.,]/}}\n{work}\n\
         echo \"took $((${{EPOCHREALTIME/[.,]/}} - began))\"\n"
    )
}

/// Compiles a program next to the scripts.
fn compile(cluster: &Cluster, name: &str, source: &str) {
    let file = cluster.path(&format!("{name}.c"));
    std::fs::write(&file, source).unwrap();
    let program = cluster.scripts().join(format!("{name}.bin"));
    let status = Command::new("cc").args(["-O2", "-pthread", "-o"]).arg(program).arg(file).status();
    assert!(status.unwrap().success());
}

pub(crate) fn measure(table: &mut Table) {
    let mut cluster = Cluster::new();
    for (name, _, _, work) in WORKS {
        cluster.script(name, &timed(if *name == "dpkg" { PACKAGES } else { "" }, work));
    }
    compile(&cluster, "threads", THREADS);
    compile(&cluster, "alarms", ALARMS);
    cluster.site("[nodes.cn001]\n").publish().expect(0);
    cluster.start();
    let node = cluster.node("cn001");
    for (name, what, most, _) in WORKS {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            node.provost(&["run", name]).expect(0);
            ours.push(took(&node.provost(&["log", name, "--output"]).expect(0).stdout));
            let plain = shell(&cluster.scripts(), &format!("./{name}")).output().unwrap();
            theirs.push(took(&String::from_utf8_lossy(&plain.stdout)));
        }
        let (ours, theirs) = (median(ours), median(theirs));
        table.compare(what, "ms", ours, theirs, Target::AtMost(*most));
    }
}

/// What the script has measured, in milliseconds.
fn took(printed: &str) -> f64 {
    let (_, number) = printed.trim().rsplit_once("took ").expect("the script's own measure");
    number.parse::<f64>().unwrap() / 1000.0
}

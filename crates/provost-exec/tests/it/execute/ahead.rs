//! Steps that are made ready while another one runs.

use provost_exec::{EndCause, Orders, Outcome, Step, Supervisor};
use tokio::sync::watch;

use super::{Bench, write_program};

/// Runs `first`, and meanwhile makes each of `others` ready; then runs the last of them.
fn run_after(bench: &Bench, first: &str, others: &[Step]) -> [Outcome; 2] {
    bench.write(first);
    let first = bench.step();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (_order, mut orders) = watch::channel(Orders::default());
    let mut supervisor = Supervisor::start().unwrap();
    runtime.block_on(async {
        supervisor.prepare(&first);
        supervisor.begin(first.limits.timeout);
        others.iter().for_each(|other| supervisor.prepare(other));
        let one = supervisor.follow(&first.limits, &mut orders, |_| {}).await;
        let next = others.last().unwrap();
        supervisor.begin(next.limits.timeout);
        [one, supervisor.follow(&next.limits, &mut orders, |_| {}).await]
    })
}

fn other(bench: &Bench, name: &str) -> Step {
    Step { name: name.into(), log: bench.path().join("02-other.log"), ..bench.step() }
}

fn log(bench: &Bench) -> String {
    std::fs::read_to_string(bench.path().join("02-other.log")).unwrap()
}

#[test]
fn a_step_is_what_the_one_before_it_has_made_of_it() {
    let bench = Bench::new();
    write_program(&bench.path().join("other"), "#!/no/such/interpreter\n");
    let first = "#!/bin/sh\nprintf '#!/bin/bash\\nfalse() { exit 4; }\\nfalse\\n' >other\n";
    let [one, next] = run_after(&bench, first, &[other(&bench, "other")]);
    assert!(matches!(one.end, EndCause::Exit(0)), "{one:?}");
    assert!(matches!(next.end, EndCause::Exit(4)), "{next:?}");
    let place = next.place.unwrap();
    assert!(place.line.unwrap().starts_with("2 false "), "watched as the bash script that it is");
}

#[test]
fn a_step_begins_with_an_environment_that_fills_more_than_a_pipe() {
    let bench = Bench::new();
    write_program(
        &bench.path().join("other"),
        "#!/bin/sh\necho ${#V999}; env | grep -c '^V.*x$'\n",
    );
    let mut big = other(&bench, "other");
    big.env.extend((0..1000).map(|n| (format!("V{n}"), "x".repeat(1000))));
    let [one, next] = run_after(&bench, "#!/bin/sh\nsleep 0.2\n", &[big]);
    assert!(matches!((one.end, next.end), (EndCause::Exit(0), EndCause::Exit(0))));
    let log = log(&bench);
    assert!(log.contains("F 1000\n") && log.lines().count() == 2, "{log}");
}

#[test]
fn the_step_that_was_made_ready_last_begins() {
    let bench = Bench::new();
    write_program(&bench.path().join("wrong"), "#!/bin/sh\nexit 9\n");
    write_program(&bench.path().join("right"), "#!/bin/sh\necho right\n");
    let others = [other(&bench, "wrong"), other(&bench, "right")];
    let [_, next] = run_after(&bench, "#!/bin/sh\n", &others);
    assert!(matches!(next.end, EndCause::Exit(0)), "{next:?}");
    assert!(log(&bench).ends_with("F right\n"));
}

#[test]
fn what_a_step_leaves_behind_is_not_the_next_ones() {
    let bench = Bench::new();
    write_program(&bench.path().join("other"), "#!/bin/sh\necho out\necho err >&2\n");
    let first = "#!/bin/sh\n(while :; do echo still here; sleep 0.01; done) &\necho $! >daemon\n";
    let [one, next] = run_after(&bench, first, &[other(&bench, "other")]);
    let daemon = std::fs::read_to_string(bench.path().join("daemon")).unwrap();
    std::process::Command::new("kill").arg(daemon.trim()).status().unwrap();
    assert!(one.leaked.iter().any(|leaked| leaked.ends_with(" script")), "{one:?}");
    assert!(next.leaked.is_empty() && matches!(next.end, EndCause::Exit(0)), "{next:?}");
    assert_eq!(next.last_lines, ["out", "err"]);
}

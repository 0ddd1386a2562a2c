//! Steps one after the other, which write to the same pipes.

use std::time::Duration;

use provost_exec::{EndCause, Orders, Outcome, Step, Supervisor};
use tokio::sync::watch;

use super::{Bench, write_program};

/// How each went, and its log without the times.
fn in_turn(scripts: &[String]) -> Vec<(Outcome, String)> {
    let mut bench = Bench::new();
    bench.limits.leak = Duration::from_secs(15);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (_order, mut orders) = watch::channel(Orders::default());
    let mut supervisor = Supervisor::start().unwrap();
    let run = |(at, script): (usize, &String)| {
        let name = format!("script{at}");
        write_program(&bench.path().join(&name), script);
        let log = bench.path().join(&name).with_extension("log");
        let step = Step { name, log, ..bench.step() };
        let outcome = runtime.block_on(supervisor.execute(&step, &mut orders, |_| {}));
        let log = std::fs::read_to_string(&step.log).unwrap();
        let lines = log.lines().map(|line| line.split_once("Z ").unwrap().1.to_owned() + "\n");
        (outcome, lines.collect())
    };
    scripts.iter().enumerate().map(run).collect()
}

#[test]
fn each_log_has_what_its_step_has_printed_in_order() {
    let script = |n: usize| {
        let turn = "echo out; echo err >&2; sleep 0.001; ".repeat(n % 3);
        // It ends with no end of line, before its last words can have been read.
        format!("#!/bin/sh\n{turn}printf '{n}' >&2\n")
    };
    let scripts: Vec<String> = (0..30).map(script).collect();
    for (n, (outcome, log)) in in_turn(&scripts).iter().enumerate() {
        assert!(matches!(outcome.end, EndCause::Exit(0)), "{outcome:?}");
        // The lines of two pipes have no order where they are read late.
        let (out, err) = log.lines().partition::<Vec<_>, _>(|line| line.starts_with("stdout "));
        assert_eq!(out, vec!["stdout F out"; n % 3], "step {n}: {log}");
        let last = format!("stderr P {n}");
        assert_eq!(err, [vec!["stderr F err"; n % 3], vec![&last]].concat(), "step {n}: {log}");
    }
}

#[test]
fn a_step_is_over_when_its_program_is_however_much_that_has_printed() {
    let sizes = [0, 65_535, 65_536, 65_537, 131_072, 200_000, 65_536];
    let scripts = sizes.map(|size| format!("#!/bin/sh\nyes | tr -d '\\n' | head -c {size}\n"));
    for (size, (outcome, log)) in sizes.iter().zip(in_turn(&scripts)) {
        assert!(outcome.duration < Duration::from_secs(10), "{size} bytes: {outcome:?}");
        assert!(outcome.leaked.is_empty(), "{outcome:?}");
        assert_eq!(log.matches('y').count(), *size);
    }
}

#[test]
fn what_a_program_makes_of_its_pipes_is_not_the_next_one_s() {
    let flags = "fcntl(STDOUT, F_GETFL, 0) & (O_NONBLOCK | O_APPEND)";
    let see = format!(
        "perl -MFcntl -e 'printf \"%o %d\\n\", {flags}, fcntl(STDOUT, 1032, 0)'\n\
         stat -L -c %a /dev/stdout"
    );
    let see = &*see;
    let block = "perl -MFcntl -e 'fcntl(STDOUT, F_SETFL, O_WRONLY | O_NONBLOCK | O_APPEND)'";
    let size = "perl -e 'fcntl(STDOUT, 1031, 4096)'";
    let scripts = [see, block, see, size, see, "chmod 666 /dev/stdout", see];
    let scripts = scripts.map(|script| format!("#!/bin/sh\n{script}\n"));
    let logs: Vec<String> = in_turn(&scripts).into_iter().map(|(_, log)| log).collect();
    assert_eq!(logs[0].lines().count(), 2, "{logs:?}");
    assert!([&logs[2], &logs[4], &logs[6]].iter().all(|log| **log == logs[0]), "{logs:?}");
}

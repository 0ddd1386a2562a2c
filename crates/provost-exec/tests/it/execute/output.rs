//! What they print.

use provost_exec::EndCause;

use crate::execute::Bench;

#[test]
fn the_last_eight_lines_are_kept() {
    let bench = Bench::new();
    let outcome = bench.run("#!/bin/sh\nseq 7; echo c >&2; echo; echo d; echo e; exit 7\n");
    assert!(matches!(outcome.end, EndCause::Exit(7)));
    let mut lines = outcome.last_lines.clone();
    lines.sort_unstable();
    assert_eq!(lines.len(), 8);
    assert!(lines.contains(&"e".into()), "{lines:?}");
}

/// Whether a log has the numbers 1, 2, 3 … in this order, whichever stream they came by.
#[track_caller]
fn in_order(log: &str, last: usize) {
    let numbers: Vec<usize> =
        log.lines().map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    let wrong = numbers.iter().zip(1..).filter(|(number, at)| *number != at).count();
    assert_eq!((numbers.len(), wrong), (last, 0), "{wrong} lines have changed places");
}

#[test]
fn lines_of_both_outputs_stand_in_the_order_in_which_they_were_written() {
    let bench = Bench::new();
    let once = "n=$((n + 1)); echo $n; n=$((n + 1)); echo $n >&2";
    // As quick as a shell can, so that the keeper finds many a line of each at once.
    bench.run(&format!("#!/bin/sh\nwhile [ ${{n:=0}} -lt 4000 ]; do {once}; done\n"));
    in_order(&bench.log(), 4000);
    // Slowly, so that the keeper has to go on in the midst of it.
    let paced = once.replacen(';', "; i=99; while [ $i -gt 0 ]; do i=$((i - 1)); done;", 1);
    bench.run(&format!("#!/bin/sh\nwhile [ ${{n:=0}} -lt 4000 ]; do {paced}; done\n"));
    in_order(&bench.log(), 4000);
    // By other processes.
    let forks = once.replace("echo $n", "(echo $n)");
    bench.run(&format!("#!/bin/sh\nwhile [ ${{n:=0}} -lt 400 ]; do {forks}; done\n"));
    in_order(&bench.log(), 400);
}

/// Which output the lines came by, in the log's order.
fn outputs(log: &str) -> String {
    let stream = |line: &str| if line.starts_with("stdout") { 'o' } else { 'e' };
    log.lines().filter(|line| line.starts_with("std")).map(stream).collect()
}

/// The keeper mustn't wait for a note that nobody owes it, and take in meanwhile what is printed
/// later: it could only guess then which lines belong together.
#[test]
fn a_program_s_lines_stand_between_those_that_were_printed_before_and_after() {
    for (script, expected) in [
        ("echo a; echo b >&2; sleep .004; seq 9; echo c >&2; echo d; exit 1", "oeoooooooooeo"),
        ("echo a; echo b >&2; seq 9 | sort | head -n 3", "oeooo"),
        ("printf '%s\\n' 1 2 3 4 5 6; echo b >&2; echo c", "ooooooeo"),
    ] {
        let run = |_| {
            let bench = Bench::new();
            bench.run(&format!("#!/bin/bash\nsleep .05\n{script}\n"));
            outputs(&bench.log())
        };
        let wrong: Vec<_> = (0..20).map(run).filter(|order| order != expected).collect();
        // A machine that does other work may leave the keeper without its turn.
        assert!(wrong.len() < 10, "{script}: {} of 20 are like {:?}", wrong.len(), wrong[0]);
    }
}

//! What else looks wrong, apart from the failure itself.

use std::collections::BTreeSet;

use provost_record::{Cause, Outcome, Phase, Run};
use provost_steplog::wording;

use super::source::Source;
use crate::inspect::unfinished::Unfinished;

/// How many earlier runs are looked at.
const EARLIER: usize = 10;
/// Longer than this is slow for getting a few small files, in milliseconds.
const SLOW_FETCH: u64 = 10_000;
/// How many lines of the kernel's are told at most.
const MOST_LINES: usize = 5;

/// What the kernel says when a machine is ill, rather than a script.
const ILL: [&str; 6] = [
    "Out of memory",
    "I/O error",
    "Remounting filesystem read-only",
    "No space left",
    "Hardware Error",
    "blocked for more than",
];

pub(super) fn of(source: &Source) -> Vec<String> {
    let mut findings = of_the_bundle(source);
    let (earlier, last) = match source.runs.split_last() {
        Some((last, earlier)) => (&earlier[earlier.len().saturating_sub(EARLIER)..], last),
        None => return findings,
    };
    let mut find = |finding: String| findings.push(finding);
    let is_left = |left: &Unfinished| left.run != last.run || !left.not_run.is_empty();
    if let Some(unfinished) = Unfinished::of(&source.runs).filter(is_left) {
        find(left(&unfinished, last));
    }
    of_run(last, &mut find);
    if let Some(failed) = last.failed_stage() {
        let same = |run: &&Run| run.failed_stage().is_some_and(|s| s.stage == failed.stage);
        match earlier.iter().filter(same).count() {
            0 => {}
            n => {
                find(format!("{} failed in {n} of the {} runs before", failed.stage, earlier.len()))
            }
        }
    }
    let cut_off = |run: &&Run| {
        let interrupted = run.failed_stage().is_some_and(|s| s.cause == Some(Cause::Interrupted));
        run.ended.is_none() || interrupted
    };
    for run in earlier.iter().filter(cut_off) {
        let began = run.started.map_or(String::new(), |at| format!(" of {at}"));
        find(format!("the {}{began} was cut off: a power cut, a reset, or a kill", run.service));
    }
    clock(source, last, &mut find);
    if source.unreported > 0 {
        find(format!(
            "{} not sent to the management node yet: provost report",
            wording::count(source.unreported, "record")
        ));
    }
    for line in
        source.kernel.lines().filter(|l| ILL.iter().any(|ill| l.contains(ill))).take(MOST_LINES)
    {
        find(format!("the kernel says: {}", line.trim()));
    }
    for line in source.disks.lines().filter(|line| line.contains(" 100% ")).take(MOST_LINES) {
        find(format!("a file system is full: {}", line.split_whitespace().last().unwrap_or(line)));
    }
    findings
}

/// What is still to run; of the last run itself its failure is shown already.
fn left(unfinished: &Unfinished, last: &Run) -> String {
    let Unfinished { service, command, not_run, .. } = unfinished;
    let began = unfinished.started.map_or(String::new(), |at| format!(" of {at}"));
    let what = match unfinished.run == last.run {
        true => format!("never ran: {}", not_run.join(", ")),
        false => unfinished.summary(),
    };
    format!("the {service}{began} is unfinished: {what}; to go on: {command}")
}

/// Services that OpenShift's bootstrap machine has, one after the other.
const BOOTSTRAP: [&str; 2] = ["release-image", "bootkube"];

/// What isn't in it.
fn of_the_bundle(source: &Source) -> Vec<String> {
    let has = |name: &&str| source.services.iter().any(|service| service.name == **name);
    let (there, missing): (Vec<&str>, Vec<&str>) = BOOTSTRAP.iter().partition(|name| has(name));
    let damage =
        source.damage.iter().map(|why| format!("the rest of the bundle is damaged: {why}"));
    let missing = missing.into_iter().filter(|_| !there.is_empty());
    damage.chain(missing.map(|name| format!("{name} was not executed: it has no record"))).collect()
}

fn of_run(run: &Run, find: &mut impl FnMut(String)) {
    if let Some(attempt @ 2..) = run.attempt {
        find(format!("this was attempt {attempt} since the last success"));
    }
    for stage in &run.stages {
        let name = &stage.stage;
        if !stage.leaked.is_empty() {
            find(format!("{name} left processes behind: {}", stage.leaked.join(", ")));
        }
        if let Some(attempt @ 2..) = stage.attempt {
            find(format!("{name} took {}", wording::count(attempt, "attempt")));
        }
        if name == "fetch" && stage.duration_ms.is_some_and(|ms| ms > SLOW_FETCH) {
            find(
                "fetching was slow: check the servers, the network and name resolution".to_owned(),
            );
        }
    }
    // What the policy let pass.
    let failed = run.stages.iter().filter(|s| s.result == Some(Outcome::Failure));
    for stage in failed.skip(usize::from(run.result != Some(Outcome::Success))) {
        find(format!("{} failed, too", stage.stage));
    }
    if run.ended.is_none() {
        find("this run has no end: it is in progress, or it was cut off".to_owned());
    }
}

/// A run whose times go back says that the clock was set, so that times mean little.
fn clock(source: &Source, run: &Run, find: &mut impl FnMut(String)) {
    let records: Vec<_> = source.records.iter().filter(|r| r.run == run.run).collect();
    let mut told = BTreeSet::new();
    for pair in records.windows(2) {
        let back = pair[0].timestamp.as_second() - pair[1].timestamp.as_second();
        if back > 1 && pair[1].phase != Phase::ServiceStart && told.insert(pair[1].seq) {
            find(format!("the clock went back by {back} s before record {}", pair[1].seq));
        }
    }
}

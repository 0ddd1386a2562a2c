//! The ends that a crash or a kill left out.

use crate::{Cause, Outcome, Phase, Record};

/// The records of each run that has no end, in the order in which they began.
pub(super) fn open_runs(records: impl Iterator<Item = Record>) -> Vec<Vec<Record>> {
    let mut runs: Vec<Vec<Record>> = Vec::new();
    for record in records.filter(|record| !record.run.is_empty()) {
        match runs.iter_mut().find(|run| run[0].run == record.run) {
            Some(run) => run.push(record),
            None => runs.push(vec![record]),
        }
    }
    runs.retain(|run| run.last().is_some_and(|last| !last.phase.is_last()));
    runs
}

/// The ends that `run` lacks, as failures with the cause `interrupted`: of its open stage, and its
/// own. Empty if the run has an end.
pub(super) fn missing_ends(run: &[Record]) -> Vec<Record> {
    let Some(last) = run.last().filter(|last| !last.phase.is_last()) else { return Vec::new() };
    let stage = match last.phase {
        Phase::StageStart => last.stage.clone(),
        _ => None,
    };
    let during = stage.as_deref().map_or(String::new(), |s| format!(" during {s}"));
    let seq = |n| if last.seq > 0 { last.seq + n } else { 0 };
    let phase = match (&last.pre_command, &last.post_command) {
        (Some(_), _) => Phase::PreCommandEnd,
        (None, Some(_)) => Phase::PostCommandEnd,
        (None, None) => Phase::ServiceEnd,
    };
    let mut end = Record {
        pre_command: last.pre_command.clone(),
        post_command: last.post_command.clone(),
        result: Some(Outcome::Failure),
        error_message: Some(format!("the run was cut off{during}; its end was never written")),
        service: last.service.clone(),
        node: last.node.clone(),
        run: last.run.clone(),
        seq: seq(1),
        cause: Some(Cause::Interrupted),
        hint: Some("look for a power cut, a reboot or a kill at that time".to_owned()),
        ..Record::new(phase)
    };
    let mut ends = Vec::new();
    if stage.is_some() {
        ends.push(Record { stage, phase: Phase::StageEnd, ..end.clone() });
        end.seq = seq(2);
    }
    end.not_run = never_begun(run);
    ends.push(end);
    ends
}

/// The stages that the end of `fetch` announced and that never began. A retry
/// doesn't count.
fn never_begun(run: &[Record]) -> Vec<String> {
    let Some(announced) = run.iter().rposition(|r| !r.stages.is_empty()) else { return Vec::new() };
    let (announced, after) = (&run[announced], &run[announced + 1..]);
    let begins = |r: &&Record| r.phase == Phase::StageStart && r.attempt.is_none_or(|n| n < 2);
    announced.stages.iter().skip(after.iter().filter(begins).count()).cloned().collect()
}

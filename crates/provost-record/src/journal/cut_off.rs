//! What a crash or a kill cut off gets its end.

use std::os::unix::fs::FileExt;

use super::{Journal, Locked, Result, TAIL_READ, failed, lines, parse};
use crate::{Cause, Outcome, Phase, Record};

impl Journal {
    /// Closes what a crash or a kill cut off: where the last run has no end, adds the end of its
    /// open stage and of the run, both failures with the cause `interrupted`. Returns what it
    /// added. Only whoever keeps other runs out may call this.
    pub fn close_interrupted(&mut self) -> Result<Vec<Record>> {
        let ends = ends_of_interrupted(&self.last_run()?);
        if ends.is_empty() {
            return Ok(ends);
        }
        for record in &ends {
            self.append(record)?;
        }
        self.sync()?;
        Ok(ends)
    }

    /// Closes what was cut off in a journal that several writers share, each run of which is a
    /// process: where a run has no end and `is_alive` says of its id that nobody is left to write
    /// one, adds the ends of its open stage and its own. Returns what it added.
    ///
    /// A run of which the end of the file, 64 KiB, has no entry is left as it is.
    pub fn close_abandoned(&mut self, is_alive: impl Fn(&str) -> bool) -> Result<Vec<Record>> {
        let (path, file) = (&self.path, &mut self.file);
        // Throughout, so that two that begin at once don't both close the same run.
        let locked = Locked::take(path, file).map_err(|e| failed("locking", path, e))?;
        let mut ends = Vec::new();
        let mut close = || {
            let mut len = locked.len(self.len)?;
            let from = len.saturating_sub(TAIL_READ);
            let mut tail = vec![0; (len - from) as usize];
            locked.file().read_exact_at(&mut tail, from)?;
            for run in open_runs(lines(&tail).filter_map(|(line, _)| parse(line))) {
                if is_alive(&run[0].run) {
                    continue;
                }
                for end in ends_of_interrupted(&run) {
                    len = locked.append(&end, len)?.0;
                    ends.push(end);
                }
            }
            Ok(len)
        };
        let len = close().map_err(|e| failed("writing to", path, e))?;
        drop(locked);
        self.len = len;
        Ok(ends)
    }
}

/// The records of each run that has no end, in the order in which they began.
fn open_runs(records: impl Iterator<Item = Record>) -> Vec<Vec<Record>> {
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

/// The ends that `run` lacks: of its open stage, and its own. None if it has one.
fn ends_of_interrupted(run: &[Record]) -> Vec<Record> {
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

/// The stages that the end of `fetch` announced and that never began. One that is tried again
/// has begun once.
fn never_begun(run: &[Record]) -> Vec<String> {
    let Some(announced) = run.iter().rposition(|r| !r.stages.is_empty()) else { return Vec::new() };
    let (announced, after) = (&run[announced], &run[announced + 1..]);
    let begins = |r: &&Record| r.phase == Phase::StageStart && r.attempt.is_none_or(|n| n < 2);
    announced.stages.iter().skip(after.iter().filter(begins).count()).cloned().collect()
}

use std::os::unix::fs::FileExt;

use super::{Journal, Locked, Result, TAIL_READ, ends_of_interrupted, failed, lines, parse};
use crate::Record;

impl Journal {
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

//! Which of a step's commands stand in its log: the first ones and the last ones.

use std::collections::VecDeque;

use provost_steplog::KEPT_AT_EACH_END;

/// How much memory the last ones may take, in bytes. Where their arguments are long, fewer are kept.
const ROOM: usize = 2 * 1024 * 1024;

/// Lines that wait for the step's end, when it is known which commands were the last.
#[derive(Default)]
pub(super) struct LogBudget {
    /// How many commands there were.
    pub(super) commands: u64,
    /// The last ones, but for the first ones, which stand in the log already.
    last: VecDeque<Lines>,
    /// Their lines' length in all, in bytes.
    length: usize,
    /// How many lines there were of those.
    lines: u64,
}

/// The lines of one command, each with its place among all.
struct Lines {
    exec: (u64, Box<[u8]>),
    exit: Option<(u64, Box<[u8]>)>,
}

/// A command's place among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number(u64);

impl LogBudget {
    /// Counts one more. The second is whether its lines go to the log at once.
    pub(super) fn count(&mut self) -> (Number, bool) {
        self.commands += 1;
        let number = Number(self.commands);
        (number, Self::is_early(number))
    }

    /// Whether the lines of a command go to the log at once.
    pub(super) fn is_early(number: Number) -> bool {
        number.0 <= KEPT_AT_EACH_END as u64
    }

    /// Keeps the line with which the command that was counted last began.
    pub(super) fn keep_exec(&mut self, line: Box<[u8]>) {
        self.lines += 1;
        self.length += line.len();
        self.last.push_back(Lines { exec: (self.lines, line), exit: None });
        while self.last.len() > KEPT_AT_EACH_END || self.length > ROOM {
            let Some(first) = self.last.pop_front() else { return };
            self.length -= first.exec.1.len() + first.exit.map_or(0, |(_, line)| line.len());
        }
    }

    /// Keeps the line with which one ended, if it is still among the last.
    pub(super) fn keep_exit(&mut self, Number(number): Number, line: Box<[u8]>) {
        let first = self.commands + 1 - self.last.len() as u64;
        let at = number.checked_sub(first).and_then(|at| usize::try_from(at).ok());
        if let Some(lines) = at.and_then(|at| self.last.get_mut(at)) {
            self.lines += 1;
            self.length += line.len();
            lines.exit = Some((self.lines, line));
        }
    }

    /// How many are left out, and the lines of the last ones.
    pub(super) fn finish(&mut self) -> (u64, Vec<Box<[u8]>>) {
        let late = self.commands.saturating_sub(KEPT_AT_EACH_END as u64);
        let left_out = late - self.last.len() as u64;
        let last = std::mem::take(&mut self.last);
        let mut lines: Vec<_> =
            last.into_iter().flat_map(|lines| [Some(lines.exec), lines.exit]).flatten().collect();
        lines.sort_by_key(|(at, _)| *at);
        (left_out, lines.into_iter().map(|(_, line)| line).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept of so many commands, each of which ends when the one after the next begins.
    fn kept(commands: usize, length: usize) -> (u64, Vec<String>) {
        let mut kept = LogBudget::default();
        let mut running = VecDeque::new();
        for _ in 0..commands {
            let (number, early) = kept.count();
            if !early {
                let line = format!("exec {} {}", number.0, "x".repeat(length));
                kept.keep_exec(line.into_bytes().into());
            }
            running.push_back(number);
            if running.len() > 2 {
                let number = running.pop_front().unwrap();
                kept.keep_exit(number, format!("exit {}", number.0).into_bytes().into());
            }
        }
        let (left_out, lines) = kept.finish();
        let word = |line: Box<[u8]>| {
            let line = String::from_utf8(line.into()).unwrap();
            line.split(' ').take(2).collect::<Vec<_>>().join(" ")
        };
        (left_out, lines.into_iter().map(word).collect())
    }

    #[test]
    fn the_first_and_the_last_are_kept() {
        assert_eq!(kept(5000, 1), (0, vec![]));
        let (left_out, lines) = kept(5003, 1);
        assert_eq!(left_out, 0);
        assert_eq!(lines, ["exec 5001", "exec 5002", "exec 5003", "exit 5001"]);
        let (left_out, lines) = kept(12_000, 1);
        assert_eq!(left_out, 2000);
        assert_eq!(lines.len(), 9998, "two have not ended");
        assert_eq!((&*lines[0], &*lines[2]), ("exec 7001", "exec 7003"));
    }

    #[test]
    fn long_arguments_need_no_more_memory() {
        let (left_out, lines) = kept(12_000, 4096);
        assert!(left_out > 6000, "{left_out}");
        assert!(lines.iter().any(|line| line == "exec 12000"));
    }
}

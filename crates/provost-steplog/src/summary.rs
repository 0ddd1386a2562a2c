use std::io::{self, BufReader, Read};
use std::time::Duration;

use crate::{Command, CommandEnd, Commands, Event, Lines, Status};

/// How many of the slowest commands are named.
const MOST_SLOW: usize = 10;
/// How many different failed commands are named.
const MOST_FAILED: usize = 100;

/// What stands out among the commands of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Those that took longest by themselves, with that time; the slowest first.
    pub slowest: Vec<(String, Duration)>,
    /// Those that failed, in the order of their ends. One that only passed on the exit status of a
    /// command that it ran itself isn't named.
    failed: Vec<FailedCommand>,
    /// The place in `failed` of the last one that the script itself started.
    last: Option<usize>,
}

/// A command that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCommand {
    /// Its arguments, quoted.
    pub command: String,
    /// How it ended.
    pub status: Status,
    /// How often it ended so.
    pub times: usize,
}

impl Summary {
    /// Of a log.
    pub fn read(log: impl Read) -> io::Result<Self> {
        let (mut lines, mut commands) = (Lines::new(BufReader::new(log)), Commands::new(0));
        let mut summary = Self::default();
        // The failure that ended last: its parent, its status, and where it is counted.
        let mut inner: Option<(u32, Status, usize)> = None;
        while let Some(line) = lines.read()? {
            match commands.take(&line) {
                Some(Event::Began { before: Some(before), .. }) => summary.time(&before),
                Some(Event::Ended(command)) => {
                    summary.time(&command);
                    inner = summary.fail(&command, inner.take());
                }
                _ => {}
            }
        }
        Ok(summary)
    }

    /// The failures that didn't end the step; `step_failed`: the last one did.
    pub fn ignored(&self, step_failed: bool) -> Vec<FailedCommand> {
        let mut ignored = self.failed.clone();
        if let Some(last) = self.last.filter(|_| step_failed) {
            ignored[last].times -= 1;
        }
        ignored.retain(|failed| failed.times > 0);
        ignored
    }

    fn time(&mut self, command: &Command) {
        let Some(took) = command.duration else { return };
        let own = took.saturating_sub(command.below);
        let at = self.slowest.partition_point(|(_, other)| *other >= own);
        if at < MOST_SLOW {
            self.slowest.insert(at, (command.text.clone(), own));
            self.slowest.truncate(MOST_SLOW);
        }
    }

    /// Counts a failure, unless it is that of `inner`.
    fn fail(
        &mut self,
        command: &Command,
        inner: Option<(u32, Status, usize)>,
    ) -> Option<(u32, Status, usize)> {
        let Some(CommandEnd::Status(status)) = &command.end else { return inner };
        if !status.is_failure() {
            // What comes after it has another reason.
            return inner.filter(|(parent, ..)| *parent != command.parent);
        }
        let at = match inner {
            Some((parent, same, at)) if parent == command.pid && same == *status => at,
            _ => self.count(command, status)?,
        };
        if command.depth == 0 {
            self.last = Some(at);
        }
        Some((command.parent, status.clone(), at))
    }

    fn count(&mut self, command: &Command, status: &Status) -> Option<usize> {
        let same =
            |failed: &FailedCommand| failed.command == command.text && failed.status == *status;
        let at = self.failed.iter().position(same).unwrap_or(self.failed.len());
        if at == MOST_FAILED {
            return None;
        }
        if at == self.failed.len() {
            let (command, status) = (command.text.clone(), status.clone());
            self.failed.push(FailedCommand { command, status, times: 0 });
        }
        self.failed[at].times += 1;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(log: &str) -> Summary {
        let log: String = log.lines().map(|rest| format!("T {rest}\n")).collect();
        Summary::read(log.as_bytes()).unwrap()
    }

    fn ignored(summary: &Summary, step_failed: bool) -> Vec<String> {
        let text = |f: &FailedCommand| format!("{}: {}, {}", f.command, f.status, f.times);
        summary.ignored(step_failed).iter().map(text).collect()
    }

    #[test]
    fn a_command_takes_what_its_own_commands_leave_of_its_time() {
        let log = "exec F 10 9 make\nexec F 11 10 cc\nexit F 11 0 700ms\nexit F 10 0 900ms\n\
                   exec F 12 9 sleep 1\nexit F 12 0 1000ms\nexec F 13 9 left";
        let slowest = summary(log).slowest;
        let slowest: Vec<_> = slowest.iter().map(|(c, d)| (&**c, d.as_millis())).collect();
        assert_eq!(slowest, [("sleep 1", 1000), ("cc", 700), ("make", 200)]);
    }

    #[test]
    fn a_failure_that_did_not_end_the_step_was_ignored() {
        let log = "exec F 11 9 grep -q a b\nexit F 11 1 1ms\nexec F 11 9 grep -q a b\n\
                   exit F 11 1 1ms\nexec F 10 9 sh -c 'apt-get update'\n\
                   exec F 12 10 apt-get update\nexit F 12 100 5ms\nexit F 10 100 6ms\n\
                   exec F 13 9 true\nexit F 13 0 1ms";
        let summary = summary(log);
        let (grep, apt) = ("grep -q a b: 1, 2", "apt-get update: 100, 1");
        assert_eq!(ignored(&summary, true), [grep]);
        assert_eq!(ignored(&summary, false), [grep, apt]);
    }

    #[test]
    fn much_that_fails_needs_little_memory() {
        let log: String =
            (0..1000).map(|n| format!("exec F 1 9 false {n}\nexit F 1 1 {n}ms\n")).collect();
        let summary = summary(&log);
        assert_eq!((summary.slowest.len(), summary.failed.len()), (MOST_SLOW, MOST_FAILED));
        assert_eq!(summary.slowest[0].0, "false 999");
    }
}

use std::time::Duration;

use crate::{Entry, KEPT_AT_EACH_END, Line, Status, Stream};

/// The most commands that may run at once; of more, the oldest is given up. As many as a log has.
const MOST_RUNNING: usize = 2 * KEPT_AT_EACH_END;

/// One command of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Which one of the log's it is, in the order of their starts, from 1.
    pub number: usize,
    /// Its process; another command may have the same one, before or later.
    pub pid: u32,
    /// The process's parent.
    pub parent: u32,
    /// How many of the commands that ran when it began stand above it.
    pub depth: usize,
    /// Its arguments, quoted.
    pub text: String,
    /// When it began, as it stands in the log.
    pub start: String,
    /// How it ended; none where the log doesn't say so: it was left running, or its end is not in
    /// this part of the log.
    pub end: Option<CommandEnd>,
    /// How long it took, where it ended.
    pub duration: Option<Duration>,
    /// How much of that the commands took that it started itself.
    pub below: Duration,
    /// The end of what was printed while it was the newest command that ran, if that is kept.
    pub output: Vec<u8>,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// Its process ended.
    Status(Status),
    /// Its process called exec and became another command.
    Exec,
}

impl Command {
    /// Whether it has failed.
    pub fn is_failure(&self) -> bool {
        matches!(&self.end, Some(CommandEnd::Status(status)) if status.is_failure())
    }
}

/// What a line of the log means for the commands.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'e> {
    /// A command has begun.
    Began {
        /// The command.
        command: &'e Command,
        /// The one before it in the same process; or one that is given up, without an end.
        before: Option<Command>,
    },
    /// A command has ended.
    Ended(Command),
    /// Something was printed.
    Printed {
        /// The newest command that runs, if one does. Of several that run at once, it may be
        /// another one that printed.
        by: Option<&'e Command>,
        /// To which output.
        stream: Stream,
        /// Whether a newline follows.
        whole: bool,
        /// The text.
        text: &'e [u8],
    },
    /// A line of bash's xtrace.
    Xtrace {
        /// The newest command that runs, if one does.
        by: Option<&'e Command>,
        /// The line.
        text: &'e [u8],
    },
    /// The runner says something about the log itself.
    Note(&'e [u8]),
}

/// Turns the lines of a log into commands. Its memory is bounded by how many run at once.
#[derive(Debug, Default)]
pub struct Commands {
    /// In the order of their starts.
    running: Vec<Command>,
    /// How many have begun.
    begun: usize,
    /// How much of each command's output is kept, in bytes.
    most_output: usize,
}

impl Commands {
    /// Keeps at most `most_output` bytes of each command's output: its end.
    pub fn new(most_output: usize) -> Self {
        Self { most_output, ..Self::default() }
    }

    /// Takes the next line. Says nothing of the end of a command whose start the log lacks.
    pub fn take<'e>(&'e mut self, line: &Line<'e>) -> Option<Event<'e>> {
        Some(match line.entry {
            Entry::Exec { pid, parent, command } => {
                let before = self.before(pid, line);
                let depth = match &before {
                    Some(before) if before.pid == pid => before.depth,
                    _ => self.find(parent).map_or(0, |at| self.running[at].depth + 1),
                };
                let (text, start) = (command.to_owned(), line.time.to_owned());
                self.begun += 1;
                let number = self.begun;
                let command =
                    Command { number, pid, parent, depth, text, start, ..Command::default() };
                self.running.push(command);
                Event::Began { command: self.running.last()?, before }
            }
            Entry::Exit { pid, ref status, duration } => {
                let mut command = self.running.remove(self.find(pid)?);
                command.end = Some(CommandEnd::Status(status.clone()));
                command.duration = Some(duration);
                self.charge(&command);
                Event::Ended(command)
            }
            Entry::Output { stream, whole, text } => {
                self.keep(text, whole);
                Event::Printed { by: self.running.last(), stream, whole, text }
            }
            Entry::Xtrace { pid: _, text } => Event::Xtrace { by: self.running.last(), text },
            Entry::Trace(text) | Entry::Other(text) => Event::Note(text),
        })
    }

    /// Those that run by now, in the order of their starts.
    pub fn running(&self) -> &[Command] {
        &self.running
    }

    /// Those that have no end in the log, in the order of their starts.
    pub fn finish(self) -> Vec<Command> {
        self.running
    }

    /// The command that gives way to one that begins in `pid`.
    fn before(&mut self, pid: u32, line: &Line<'_>) -> Option<Command> {
        let Some(at) = self.find(pid) else {
            return (self.running.len() >= MOST_RUNNING).then(|| self.running.remove(0));
        };
        let mut command = self.running.remove(at);
        command.end = Some(CommandEnd::Exec);
        let start = command.start.parse().ok();
        let took = start.zip(line.at()).map(|(start, now)| now.duration_since(start));
        // The clock may have been set back.
        command.duration = took.map(|took| took.try_into().unwrap_or_default());
        self.charge(&command);
        Some(command)
    }

    /// Counts the time of a command that has ended as its parent's, too.
    fn charge(&mut self, command: &Command) {
        if let Some(parent) = self.find(command.parent) {
            self.running[parent].below += command.duration.unwrap_or_default();
        }
    }

    fn find(&self, pid: u32) -> Option<usize> {
        self.running.iter().rposition(|command| command.pid == pid)
    }

    fn keep(&mut self, text: &[u8], whole: bool) {
        let most = self.most_output;
        let Some(command) = self.running.last_mut().filter(|_| most > 0) else { return };
        let output = &mut command.output;
        output.extend_from_slice(text);
        if whole {
            output.push(b'\n');
        }
        output.drain(..output.len().saturating_sub(most));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What each line means, in a few words; each line of `log` gets a time.
    fn events(log: &str) -> Vec<String> {
        let mut commands = Commands::new(12);
        let mut events = Vec::new();
        for (at, rest) in log.lines().enumerate() {
            let raw = format!("2026-11-20T17:00:{at:02}.000Z {rest}\n");
            let event = match commands.take(&Line::parse(raw.as_bytes())) {
                Some(Event::Began { command, before }) => {
                    let before = before.map_or(String::new(), |before| ended(&before) + "; ");
                    format!("{before}{} begins in {}", command.text, command.depth)
                }
                Some(Event::Ended(command)) => ended(&command),
                Some(Event::Printed { by, text, .. }) => {
                    let by = by.map_or("script", |by| &by.text);
                    format!("{by} prints {}", String::from_utf8_lossy(text))
                }
                Some(Event::Xtrace { .. }) => "xtrace".to_owned(),
                Some(Event::Note(_)) => "note".to_owned(),
                None => "nothing".to_owned(),
            };
            events.push(event);
        }
        events.extend(commands.finish().iter().map(ended));
        events
    }

    fn ended(command: &Command) -> String {
        let how = match &command.end {
            None => "is left".to_owned(),
            Some(CommandEnd::Exec) => "becomes".to_owned(),
            Some(CommandEnd::Status(status)) => status.to_string(),
        };
        let took = command.duration.map_or(String::new(), |d| format!(" after {d:?}"));
        let output = String::from_utf8_lossy(&command.output);
        format!("{} {how}{took}, printed {output:?}", command.text)
    }

    #[test]
    fn lines_become_commands() {
        let log = "stdout F begin\n\
                   exec F 10 9 make all\n\
                   exec F 11 10 cc a.c\n\
                   stderr F a.c:1: error\n\
                   exit F 11 1 30ms\n\
                   stdout P ma\n\
                   stdout F ke\n\
                   exit F 10 2 90ms\n\
                   exit F 77 0 1ms\n\
                   exec F 10 9 sleep 9\n\
                   trace F 3 commands were left out here\n\
                   line F 9 + true";
        let expected = [
            "script prints begin",
            "make all begins in 0",
            "cc a.c begins in 1",
            "cc a.c prints a.c:1: error",
            "cc a.c 1 after 30ms, printed \".c:1: error\\n\"",
            "make all prints ma",
            "make all prints ke",
            "make all 2 after 90ms, printed \"make\\n\"",
            "nothing",
            "sleep 9 begins in 0",
            "note",
            "xtrace",
            "sleep 9 is left, printed \"\"",
        ];
        assert_eq!(events(log), expected);
    }

    #[test]
    fn a_process_may_become_another_command() {
        let log = "exec F 10 9 env A=1 nice a\nexec F 10 9 nice a\nexec F 11 10 b\n\
                   exec F 10 9 a\nexit F 10 SIGTERM 5ms\nexit F 11 0 7ms";
        let expected = [
            "env A=1 nice a begins in 0",
            "env A=1 nice a becomes after 1s, printed \"\"; nice a begins in 0",
            "b begins in 1",
            "nice a becomes after 2s, printed \"\"; a begins in 0",
            "a SIGTERM after 5ms, printed \"\"",
            "b 0 after 7ms, printed \"\"",
        ];
        assert_eq!(events(log), expected);
    }

    #[test]
    fn ends_that_never_come_need_no_memory() {
        let mut commands = Commands::new(0);
        let mut given_up = 0;
        for pid in 0..MOST_RUNNING as u32 + 3 {
            let raw = format!("T exec F {pid} 1 true\n");
            let event = commands.take(&Line::parse(raw.as_bytes()));
            let Some(Event::Began { before, .. }) = event else { panic!("{event:?}") };
            given_up += u32::from(before.is_some_and(|before| before.end.is_none()));
        }
        assert_eq!((given_up, commands.finish().len()), (3, MOST_RUNNING));
    }

    proptest! {
        /// Each start is an end once, whatever the order of the lines.
        #[test]
        fn no_command_is_lost(lines in prop::collection::vec((any::<bool>(), 0u32..4, 0u32..4), 0..50)) {
            let mut commands = Commands::new(0);
            let (mut begun, mut over) = (0, 0);
            for (starts, pid, parent) in lines {
                let raw = match starts {
                    true => format!("T exec F {pid} {parent} true"),
                    false => format!("T exit F {pid} 0 1ms"),
                };
                match commands.take(&Line::parse(raw.as_bytes())) {
                    Some(Event::Began { before, .. }) => {
                        begun += 1;
                        over += usize::from(before.is_some());
                    }
                    Some(Event::Ended(command)) => {
                        prop_assert!(!command.is_failure());
                        over += 1;
                    }
                    other => prop_assert!(other.is_none()),
                }
            }
            prop_assert_eq!(begun, over + commands.finish().len());
        }
    }
}

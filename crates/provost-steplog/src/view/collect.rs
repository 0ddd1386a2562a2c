use std::io::{self, BufRead};

use crate::{Command, Commands, Event, KEPT_AT_EACH_END, Lines};

/// How much of a command's output is kept, in bytes: its end.
pub(super) const MOST_OUTPUT: usize = 4096;
/// How many commands are kept: as many as a log has.
const MOST: usize = 2 * KEPT_AT_EACH_END;
/// How many of the runner's own lines are kept.
const MOST_NOTES: usize = 10;

/// The commands of a log, in the order of their starts.
#[derive(Default)]
pub(super) struct Collected {
    pub(super) commands: Vec<Command>,
    /// What the runner says about the log itself.
    pub(super) notes: Vec<String>,
}

impl Collected {
    /// Those commands of a log for which `is_kept` holds.
    pub(super) fn read(
        mut lines: Lines<impl BufRead>,
        most_output: usize,
        is_kept: impl Fn(&Command) -> bool,
    ) -> io::Result<Self> {
        let (mut commands, mut collected) = (Commands::new(most_output), Self::default());
        let mut left_out = 0;
        let mut keep = |command: Command| match collected.commands.len() < MOST {
            _ if !is_kept(&command) => {}
            true => collected.commands.push(command),
            false => left_out += 1,
        };
        while let Some(line) = lines.read()? {
            match commands.take(&line) {
                Some(Event::Began { before: Some(before), .. }) => keep(before),
                Some(Event::Ended(command)) => keep(command),
                Some(Event::Note(text)) if collected.notes.len() < MOST_NOTES => {
                    collected.notes.push(String::from_utf8_lossy(text).into_owned());
                }
                _ => {}
            }
        }
        commands.finish().into_iter().for_each(&mut keep);
        if left_out > 0 {
            collected.notes.push(format!("{left_out} more commands are in the log"));
        }
        collected.commands.sort_by_key(|command| command.number);
        Ok(collected)
    }
}

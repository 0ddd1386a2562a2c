//! The hint that a script prints itself, which isn't one of its commands' own.

use std::collections::{HashMap, HashSet};
use std::io::BufReader;
use std::path::Path;

use provost_steplog::terminal::plain;
use provost_steplog::{Command, CommandEnd, Commands, Event, Lines};

/// A line of output that begins so is a hint.
const HINT: &str = "hint: ";
/// The longest log in which the command is looked for that printed a hint, in bytes.
const MOST_LOG: u64 = 64 << 20;
/// Programs that print what a script does: its shells, of which one may run another script of the
/// site, those that pass on what they read, and ours, whose hints are for the same admin.
const FOR_SCRIPTS: [&str; 14] = [
    "ash",
    "awk",
    "bash",
    "cat",
    "dash",
    "ksh",
    "logger",
    "provost",
    "sed",
    "sh",
    "systemd-cat",
    "tee",
    "ts",
    "zsh",
];

/// Takes the script's own hint out of its last lines. Those that its commands printed, such as git,
/// go too, unless there is nothing else.
pub(super) fn take(lines: &mut Vec<String>, log: &Path) -> Option<String> {
    if !lines.iter().any(|line| line.starts_with(HINT)) {
        return None;
    }
    let of_commands = of_commands(log);
    let is_own = |line: &String| line.starts_with(HINT) && !of_commands.contains(line);
    let own = lines.iter().rposition(is_own).map(|at| lines.remove(at)[HINT.len()..].to_owned());
    if !lines.iter().all(|line| of_commands.contains(line)) {
        lines.retain(|line| !of_commands.contains(line));
    }
    own
}

/// The hints of a log that commands printed. One that ran on, such as a daemon, only stood by; so
/// does each where commands weren't traced.
fn of_commands(log: &Path) -> HashSet<String> {
    let Ok(file) = provost_fs::open_bounded(log, MOST_LOG) else { return HashSet::new() };
    let (mut lines, mut commands) = (Lines::new(BufReader::new(file)), Commands::new(0));
    // Each with the command that ran when it was printed last, and what has ended.
    let (mut printed, mut ended) = (HashMap::new(), HashSet::new());
    while let Ok(Some(line)) = lines.read() {
        match commands.take(&line) {
            Some(Event::Printed { by, text, .. }) if text.starts_with(HINT.as_bytes()) => {
                let text = plain(&String::from_utf8_lossy(text)).trim_end().to_owned();
                let by = by.filter(|command| !prints_for_scripts(command));
                printed.insert(text, by.map(|command| command.number));
            }
            Some(Event::Ended(Command { number, end: Some(CommandEnd::Status(_)), .. })) => {
                ended.insert(number);
            }
            _ => {}
        }
    }
    printed.retain(|_, by| by.is_some_and(|by| ended.contains(&by)));
    printed.into_keys().collect()
}

fn prints_for_scripts(command: &Command) -> bool {
    let program = command.text.split(' ').next().unwrap_or_default();
    FOR_SCRIPTS.contains(&program.rsplit('/').next().unwrap_or_default())
}

//! The hint that a script prints itself, which isn't one of its commands' own.

use std::collections::{HashMap, HashSet};
use std::io::BufReader;
use std::path::Path;
use std::rc::Rc;

use provost_steplog::terminal::plain;
use provost_steplog::{Command, CommandEnd, Commands, Event, Lines, Status};

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

/// The longest script in which a hint is looked for, in bytes.
const MOST_SCRIPT: u64 = 1 << 20;
/// Where text that stands in a script may end: what follows is replaced by something else, or is no text any more.
const ENDS: [char; 14] = ['$', '`', '"', '\'', '\\', '%', '{', '\n', '|', '>', '<', ';', '&', ')'];
/// The shortest beginning of a hint by which it is known, in bytes.
const KNOWN_BY: usize = 4;

/// Takes the script's own hint out of its last lines. Those that its commands printed, such as git,
/// go too, unless there is nothing else.
pub(super) fn take(lines: &mut Vec<String>, log: &Path, script: &Path) -> Option<String> {
    if !lines.iter().any(|line| line.starts_with(HINT)) {
        return None;
    }
    let mut of_commands = of_commands(lines, log);
    if !of_commands.is_empty() {
        let script = provost_fs::read(script, MOST_SCRIPT).unwrap_or_default();
        let script = String::from_utf8_lossy(&script);
        of_commands.retain(|line| !has(&script, &line[HINT.len()..]));
    }
    let is_own = |line: &String| line.starts_with(HINT) && !of_commands.contains(line);
    let own = lines.iter().rposition(is_own).map(|at| match lines.len() {
        // It stays where it is all that was printed.
        1 => lines[at][HINT.len()..].to_owned(),
        _ => lines.remove(at)[HINT.len()..].to_owned(),
    });
    if !lines.iter().all(|line| of_commands.contains(line)) {
        lines.retain(|line| !of_commands.contains(line));
    }
    own
}

/// Whether a hint stands in the script, all of it or its beginning, up to a variable. Then it is the script's,
/// whichever process has printed it, and when.
fn has(script: &str, hint: &str) -> bool {
    let begins = |(at, _): (usize, &str)| {
        let text = &script[at + HINT.len()..];
        let text = text.find(ENDS).map_or(text, |end| &text[..end]).trim_end();
        hint == text || (text.len() >= KNOWN_BY && hint.starts_with(text))
    };
    // A function prints it that has it as an argument.
    (hint.contains(' ') && script.contains(hint)) || script.match_indices(HINT).any(begins)
}

/// Which of `lines` are hints that commands may have printed, by the log: those that ran then and ended by themselves.
/// One that ran on or was killed, such as a job of the script, only stood by; so does each where commands weren't
/// traced. Which of several began last says nothing: on a busy machine they begin in any order.
fn of_commands(lines: &[String], log: &Path) -> HashSet<String> {
    let Ok(file) = provost_fs::open_bounded(log, MOST_LOG) else { return HashSet::new() };
    let (mut entries, mut commands) = (Lines::new(BufReader::new(file)), Commands::new(0));
    // Each with those that ran when it was printed last, who run now, and what has ended.
    let (mut printed, mut running, mut ended) = (HashMap::new(), None, HashSet::new());
    while let Ok(Some(line)) = entries.read() {
        match commands.take(&line) {
            Some(Event::Began { .. }) => running = None,
            Some(Event::Ended(command)) => {
                running = None;
                if let Some(CommandEnd::Status(Status::Exit(_))) = command.end {
                    ended.insert(command.number);
                }
            }
            Some(Event::Printed { text, .. }) if text.starts_with(HINT.as_bytes()) => {
                let text = plain(&String::from_utf8_lossy(text)).trim_end().to_owned();
                if lines.contains(&text) {
                    let running = running.get_or_insert_with(|| may_print(commands.running()));
                    printed.insert(text, Rc::clone(running));
                }
            }
            _ => {}
        }
    }
    printed.retain(|_, by| by.iter().any(|by| ended.contains(by)));
    printed.into_keys().collect()
}

/// Those that print for themselves, and don't wait for another command.
fn may_print(running: &[Command]) -> Rc<[usize]> {
    let waiting: HashSet<u32> = running.iter().map(|command| command.parent).collect();
    let may_print = running.iter().filter(|c| !waiting.contains(&c.pid) && !prints_for_scripts(c));
    may_print.map(|command| command.number).collect()
}

fn prints_for_scripts(command: &Command) -> bool {
    let program = command.text.split(' ').next().unwrap_or_default();
    FOR_SCRIPTS.contains(&program.rsplit('/').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hint that is taken from these lines of a log, of a script with this text.
    fn hint(script: &str, log: &[&str]) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let [file, path] = ["log", "script"].map(|name| folder.path().join(name));
        let timed = log.iter().map(|line| format!("2026-11-20T17:00:00.000Z {line}\n"));
        std::fs::write(&file, timed.collect::<String>()).unwrap();
        std::fs::write(&path, script).unwrap();
        let printed = log.iter().filter_map(|line| line.split_once("std")?.1.split_once(" F "));
        let mut lines: Vec<String> = printed.map(|(_, text)| text.to_owned()).collect();
        take(&mut lines, &file, &path)
    }

    /// Both in any order, each in its own.
    fn interleaved<'l>(one: &[&'l str], other: &[&'l str]) -> Vec<Vec<&'l str>> {
        let ([a, rest_a @ ..], [b, rest_b @ ..]) = (one, other) else {
            return vec![[one, other].concat()];
        };
        let first = |a: &'l str, rest: Vec<Vec<&'l str>>| {
            rest.into_iter().map(move |rest| [&[a][..], &rest].concat())
        };
        first(a, interleaved(rest_a, other)).chain(first(b, interleaved(one, rest_b))).collect()
    }

    #[test]
    fn a_hint_is_the_script_s_own_in_any_order_of_what_its_processes_do() {
        let job = ["exec F 11 10 sleep 9", "exit F 11 SIGTERM 9ms"];
        let tee = ["exec F 12 10 tee -a log", "stdout F hint: fetch it first", "exit F 12 0 2ms"];
        for log in interleaved(&job, &tee) {
            let hint = hint("echo \"hint: $1\" | tee -a log", &log);
            assert_eq!(hint.as_deref(), Some("fetch it first"), "{log:?}");
        }
    }

    #[test]
    fn a_hint_that_stands_in_the_script_is_its_own_whatever_has_printed_it() {
        let log = ["exec F 11 10 rsync a b", "stdout F hint: fetch it first", "exit F 11 0 9ms"];
        for script in [
            "echo 'hint: fetch it first' | tee log",
            "echo hint: fetch it first|tee log",
            "echo \"hint: fetch it $when\"",
            "die \"no file\" \"fetch it first\"",
        ] {
            assert_eq!(hint(script, &log).as_deref(), Some("fetch it first"), "{script}");
        }
        for script in ["", "echo \"hint: $1\"", "echo hint: mount it first", "# hint: f\n"] {
            assert_eq!(hint(script, &log), None, "{script}");
        }
    }

    #[test]
    fn a_hint_of_a_command_is_its_own_in_any_order() {
        let script = "sleep 9 &\ngit push";
        let git = ["exec F 12 10 git push", "stdout F hint: pull first", "exit F 12 1 2ms"];
        let job = ["exec F 11 10 sleep 9"];
        for log in [[&job[..], &git].concat(), [&git[..1], &job, &git[1..]].concat()] {
            assert_eq!(hint(script, &log), None, "{log:?}");
        }
        let tee = ["exec F 13 10 tee log"];
        assert_eq!(hint(script, &[&git[..1], &tee, &git[1..]].concat()), None);
        // What only waits for a script of the site has printed nothing.
        let timeout = ["exec F 12 10 timeout 9 ./x", "exec F 13 12 bash ./x", git[1], git[2]];
        assert_eq!(hint(script, &timeout).unwrap(), "pull first");
    }
}

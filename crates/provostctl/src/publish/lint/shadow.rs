use std::path::Path;

use provost_bundle::Source;

use super::finding::{Finding, Level};
use super::syntax::FOLDERS;

/// What may stand before a command in a line of shell.
const BEFORE: [&str; 9] = ["if", "then", "else", "elif", "while", "until", "do", "!", "exec"];

/// A script that calls a command of its own name calls itself, because the scripts' folder is on PATH.
pub(super) fn of_script(source: &Source, text: &str) -> Option<Finding> {
    let name = &source.entry.path;
    let is_shell = text.lines().next().is_some_and(|line| line.trim_end().ends_with("sh"));
    let is_command = || FOLDERS.iter().any(|folder| Path::new(folder).join(name).exists());
    if !is_shell || name.contains('/') || !is_command() {
        return None;
    }
    let calls = |line: &str| {
        !line.trim_start().starts_with('#')
            && line.split(['|', ';', '&', '(', '`']).any(|part| first_word(part) == Some(name))
    };
    let line = 1 + text.lines().position(calls)?;
    let what = format!(
        "line {line} calls {name}, which is this script itself: the scripts' folder is on PATH"
    );
    let hint = format!("rename the script, or call the command by its path (command -v {name})");
    Some(Finding::of(Level::Warning, source, what, hint))
}

/// The command of a part of a line.
fn first_word(part: &str) -> Option<&str> {
    part.split_whitespace().find(|word| !BEFORE.contains(word))
}

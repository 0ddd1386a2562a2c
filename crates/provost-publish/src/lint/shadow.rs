use std::path::Path;

use super::calls::Calls;
use super::finding::{Finding, Level};
use super::syntax::FOLDERS;
use crate::Source;

/// A script that calls a command of its own name calls itself on a node that doesn't have the command,
/// because the scripts' folder comes last on PATH.
pub(super) fn of_script(source: &Source, calls: &Calls) -> Option<Finding> {
    let name = &source.entry.path;
    let is_command = || FOLDERS.iter().any(|folder| Path::new(folder).join(name).exists());
    if name.contains('/') || calls.functions.contains(name) || !is_command() {
        return None;
    }
    let (_, line) = calls.commands.iter().find(|(called, _)| called == name)?;
    let what = format!(
        "line {line} calls {name}, as this script is named: a node without that command runs the \
         script again"
    );
    let hint = format!("rename the script, or call the command by its path (command -v {name})");
    Some(Finding::of(Level::Warning, source, what, hint))
}

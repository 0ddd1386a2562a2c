use std::io::Write;

use super::collect::Collected;
use super::page::{Page, ShowError};
use super::session::indent;
use crate::terminal::escape_cell;
use crate::wording;
use crate::{Command, CommandEnd, Status};

/// The commands, a line each, and what is to be noted about them.
pub(super) fn show(collected: &Collected, page: &mut Page<impl Write>) -> Result<(), ShowError> {
    let paint = page.reader.paint;
    if !collected.commands.is_empty() {
        let head = ["START", "DURATION", "EXIT STATUS", "COMMAND"].map(str::to_owned);
        let head = line(head, page.reader.width);
        page.put(&format!("{}\n", paint.faint(&head)))?;
    }
    for command in &collected.commands {
        let line = line(row(command), page.reader.width);
        let line = if command.is_failure() { paint.bad(&line) } else { line };
        page.put(&format!("{line}\n"))?;
    }
    for note in &collected.notes {
        page.put(&format!("# {}\n", page.harmless(note)))?;
    }
    Ok(())
}

fn row(command: &Command) -> [String; 4] {
    let start = command.start.split_once('T').map_or(&*command.start, |(_, time)| time);
    let status = match &command.end {
        Some(CommandEnd::Status(Status::Exit(status))) => status.to_string(),
        Some(CommandEnd::Status(Status::Signal(name))) => escape_cell(name),
        Some(CommandEnd::Exec) => "exec".to_owned(),
        None => "running".to_owned(),
    };
    [
        escape_cell(start),
        command.duration.map_or(String::new(), wording::duration),
        status,
        format!("{}{}", indent(command.depth), escape_cell(&command.text)),
    ]
}

fn line([start, took, status, command]: [String; 4], width: Option<usize>) -> String {
    let line = format!("{start:<13}  {took:>11}  {status:<11}  {command}");
    match width.and_then(|width| line.char_indices().nth(width)) {
        None => line,
        Some(_) => line.chars().take(width.unwrap_or_default() - 1).chain(['…']).collect(),
    }
}

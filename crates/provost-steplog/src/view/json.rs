use std::io::{BufRead, Write};

use serde::Serialize;

use super::collect::Collected;
use super::page::{Page, ShowError};
use crate::terminal::escape_json;
use crate::{Command, CommandEnd, Entry, Lines, Status};

/// One command. It has neither an exit status nor a signal where its process became another
/// command, and no duration either where it has no end.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CommandObject<'c> {
    pid: u32,
    ppid: u32,
    command: &'c str,
    start: &'c str,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<&'c str>,
    /// The end of what it printed.
    #[serde(skip_serializing_if = "str::is_empty")]
    output: &'c str,
}

/// One line of output.
#[derive(Serialize)]
struct LineObject<'l> {
    time: &'l str,
    stream: &'l str,
    text: &'l str,
    partial: bool,
}

/// An array of the commands.
pub(super) fn commands(
    collected: &Collected,
    page: &mut Page<impl Write>,
) -> Result<(), ShowError> {
    let mut array = Array::new(page);
    for command in &collected.commands {
        array.put(&object(command, &String::from_utf8_lossy(&command.output)))?;
    }
    array.finish()
}

fn object<'c>(command: &'c Command, output: &'c str) -> CommandObject<'c> {
    let (exit_code, signal) = match &command.end {
        Some(CommandEnd::Status(Status::Exit(status))) => (Some(*status), None),
        Some(CommandEnd::Status(Status::Signal(name))) => (None, Some(name.as_str())),
        Some(CommandEnd::Exec) | None => (None, None),
    };
    CommandObject {
        pid: command.pid,
        ppid: command.parent,
        command: &command.text,
        start: &command.start,
        duration_ms: command.duration.map(|took| took.as_millis()),
        exit_code,
        signal,
        output,
    }
}

/// An array of the lines of output.
pub(super) fn lines(
    mut lines: Lines<impl BufRead>,
    page: &mut Page<impl Write>,
) -> Result<(), ShowError> {
    let mut array = Array::new(page);
    while let Some(line) = lines.read().map_err(ShowError::Read)? {
        let (stream, whole, text) = match line.entry {
            Entry::Output { stream, whole, text } => (stream.as_str(), whole, text),
            Entry::Other(text) => ("", true, text),
            _ => continue,
        };
        let text = &String::from_utf8_lossy(text);
        array.put(&LineObject { time: line.time, stream, text, partial: !whole })?;
    }
    array.finish()
}

/// A JSON array that is written as it comes, an element a line.
struct Array<'p, W: Write> {
    page: &'p mut Page<W>,
    separator: &'static str,
}

impl<'p, W: Write> Array<'p, W> {
    fn new(page: &'p mut Page<W>) -> Self {
        Self { page, separator: "[\n" }
    }

    fn put(&mut self, element: &impl Serialize) -> Result<(), ShowError> {
        let text = serde_json::to_string(element).map_err(|e| ShowError::Write(e.into()))?;
        self.page.put(std::mem::replace(&mut self.separator, ",\n"))?;
        self.page.put(&escape_json(&text))
    }

    fn finish(self) -> Result<(), ShowError> {
        self.page.put(if self.separator == "[\n" { "[]\n" } else { "\n]\n" })
    }
}

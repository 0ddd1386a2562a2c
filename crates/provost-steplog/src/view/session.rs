use std::io::{BufRead, Write};

use super::collect::Collected;
use super::page::{Page, ShowError};
use crate::wording;
use crate::{Command, CommandEnd, Commands, Event, Lines, Status, Stream};

/// What a command stands further to the right than its parent.
const INDENT: &str = "  ";
/// How far it is at most, in parents.
const DEEPEST: usize = 10;
/// How much of a command is repeated where its end doesn't follow its start, in characters.
const NAME: usize = 60;

/// The log as one would have seen it by running each command by hand: the command behind `$`,
/// what was printed behind `|`, and what is said about either behind `#`.
pub(super) fn show(
    mut lines: Lines<impl BufRead>,
    page: &mut Page<impl Write>,
) -> Result<(), ShowError> {
    let (mut commands, mut session) = (Commands::new(0), Session { page, open: None });
    while let Some(line) = lines.read().map_err(ShowError::Read)? {
        match commands.take(&line) {
            Some(Event::Began { command, before }) => {
                if let Some(before) = before {
                    session.end(&before)?;
                }
                session.begin(command)?;
            }
            Some(Event::Ended(command)) => session.end(&command)?,
            Some(Event::Printed { by, stream, whole, text }) => {
                session.print(below(by), stream, whole, text)?;
            }
            Some(Event::Xtrace { by, text }) => session.xtrace(below(by), text)?,
            Some(Event::Note(text)) => session.note(0, &String::from_utf8_lossy(text))?,
            None => {}
        }
        session.page.line_ends()?;
    }
    for command in commands.finish() {
        session.end(&command)?;
    }
    session.close()
}

/// The commands that failed, and what each printed last.
pub(super) fn failed(collected: &Collected, page: &mut Page<impl Write>) -> Result<(), ShowError> {
    let mut session = Session { page, open: None };
    for command in &collected.commands {
        let command = Command { depth: 0, ..command.clone() };
        session.begin(&command)?;
        for line in command.output.split_inclusive(|b| *b == b'\n') {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            session.print(1, Stream::Stdout, true, text)?;
        }
        session.end(&command)?;
    }
    for note in &collected.notes {
        session.note(0, note)?;
    }
    Ok(())
}

/// How deep stands what the script prints, or the command.
fn below(command: Option<&Command>) -> usize {
    command.map_or(0, |command| command.depth + 1)
}

/// What stands before a line that is so deep.
pub(super) fn indent(depth: usize) -> String {
    INDENT.repeat(depth.min(DEEPEST))
}

struct Session<'p, W: Write> {
    page: &'p mut Page<W>,
    /// What the line that is being written is about, if it is not over.
    open: Option<Open>,
}

#[derive(PartialEq)]
enum Open {
    /// The start of this command, the how manieth of the log.
    Start(usize),
    /// A piece of a line of output.
    Piece(Stream),
}

impl<W: Write> Session<'_, W> {
    fn begin(&mut self, command: &Command) -> Result<(), ShowError> {
        self.line(command.depth)?;
        let text = self.page.harmless(&format!("$ {}", command.text));
        self.page.put(&self.page.reader.paint.strong(&text))?;
        self.open = Some(Open::Start(command.number));
        Ok(())
    }

    fn end(&mut self, command: &Command) -> Result<(), ShowError> {
        let how = how(command);
        let follows = self.open == Some(Open::Start(command.number));
        let text = match (follows, command.is_failure()) {
            (true, false) => format!("# {how}"),
            (true, true) => format!("# FAILED: {how}"),
            (false, false) => format!("# {}: {how}", name(command)),
            (false, true) => format!("# {} FAILED: {how}", name(command)),
        };
        if follows {
            self.page.put(INDENT)?;
            self.open = None;
        } else {
            self.line(command.depth)?;
        }
        let (text, paint) = (self.page.harmless(&text), self.page.reader.paint);
        let text = if command.is_failure() { paint.bad(&text) } else { paint.faint(&text) };
        self.page.put(&format!("{text}\n"))
    }

    fn print(
        &mut self,
        depth: usize,
        stream: Stream,
        whole: bool,
        text: &[u8],
    ) -> Result<(), ShowError> {
        if self.open != Some(Open::Piece(stream)) {
            self.line(depth)?;
            self.page.put(&self.page.reader.paint.faint("|"))?;
            self.page.put(" ")?;
        }
        self.page.put_hostile(text)?;
        self.open = Some(Open::Piece(stream));
        if whole { self.close() } else { Ok(()) }
    }

    fn xtrace(&mut self, depth: usize, text: &[u8]) -> Result<(), ShowError> {
        self.line(depth)?;
        self.page.put_hostile(text)?;
        self.page.put("\n")
    }

    fn note(&mut self, depth: usize, text: &str) -> Result<(), ShowError> {
        self.line(depth)?;
        let text = self.page.harmless(&format!("# {text}"));
        self.page.put(&format!("{}\n", self.page.reader.paint.busy(&text)))
    }

    /// Begins a line.
    fn line(&mut self, depth: usize) -> Result<(), ShowError> {
        self.close()?;
        self.page.put(&indent(depth))
    }

    /// Ends the line that is not over.
    fn close(&mut self) -> Result<(), ShowError> {
        if self.open.take().is_some() { self.page.put("\n") } else { Ok(()) }
    }
}

/// How a command ended: `exit status 1, 3 ms`.
fn how(command: &Command) -> String {
    let how = match &command.end {
        Some(CommandEnd::Status(Status::Exit(status))) => wording::exit_status(*status),
        Some(CommandEnd::Status(Status::Signal(name))) => wording::outcome(None, None, Some(name)),
        Some(CommandEnd::Exec) => "became the next command".to_owned(),
        None => "still running where the log ends".to_owned(),
    };
    match command.duration {
        Some(took) => format!("{how}, {}", wording::duration(took)),
        None => how,
    }
}

fn name(command: &Command) -> String {
    match command.text.char_indices().nth(NAME) {
        None => command.text.clone(),
        Some(_) => command.text.chars().take(NAME - 1).chain(['…']).collect(),
    }
}

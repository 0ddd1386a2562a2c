//! Where a bash script failed.
//!
//! Bash reads [`SOURCE`] before the script, which notes each failing command and each call of
//! `exit`. Measured against xtrace, which doubles the time of a loop of builtins, this costs
//! nothing while nothing fails.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

const SOURCE: &str = include_str!("trace.bash");
/// How many fields a note has.
const FIELDS: usize = 9;
/// How much of the notes is read, from the end, in bytes; a loop of failures writes many.
const READ: usize = 256 * 1024;

/// Where a script failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// `LINE FUNCTION FILE`, as bash's `caller` prints it; `main` is outside of any function.
    pub line: Option<String>,
    /// The command, as it stands in the script.
    pub command: Option<String>,
}

/// Writes the file that bash is to read first, and returns its path.
pub fn install(folder: &Path) -> io::Result<PathBuf> {
    let path = folder.join("trace.bash");
    if std::fs::read(&path).ok().as_deref() != Some(SOURCE.as_bytes()) {
        let file = tempfile::NamedTempFile::new_in(folder)?;
        std::fs::write(file.path(), SOURCE)?;
        file.persist(&path)?;
    }
    Ok(path)
}

/// Has bash read `trace` first and write its notes to `notes`. The script sees neither variable.
pub(crate) fn arrange(command: &mut Command, trace: &Path, notes: &Path) {
    command.env("BASH_ENV", trace).env("PROVOST_NOTES", notes);
}

struct Note<'a> {
    kind: &'a str,
    status: i32,
    flags: &'a str,
    line: &'a str,
    function: &'a str,
    file: &'a str,
    depth: usize,
    command: &'a str,
    pipeline: &'a str,
}

/// Reads the notes of a script that ended with `status`, and removes them.
pub(crate) fn place(notes: &Path, folder: &Path, status: i32) -> Option<Place> {
    let text = std::fs::read(notes).ok()?;
    let _ = std::fs::remove_file(notes);
    let text = String::from_utf8_lossy(&text[text.len().saturating_sub(READ)..]).into_owned();
    // From the end, so that a cut beginning does no harm.
    let fields: Vec<&str> = text.strip_suffix('\0')?.split('\0').collect();
    let notes: Vec<Note<'_>> = fields.rchunks_exact(FIELDS).filter_map(note).collect();
    match judge(&notes, status)? {
        Verdict::Command(command) => Some(Place { line: None, command: Some(command.to_owned()) }),
        Verdict::At(at) => {
            let function = if at.function.is_empty() { "main" } else { at.function };
            let file = folder.join(at.file.strip_prefix("./").unwrap_or(at.file));
            // Of a pipeline bash names the last command, whichever of them failed.
            let piped = at.pipeline.contains(' ').then(|| source_line(&file, at.line)).flatten();
            Some(Place {
                line: Some(format!("{} {function} {}", at.line, file.display())),
                command: Some(piped.unwrap_or_else(|| at.command.to_owned())),
            })
        }
    }
}

fn source_line(file: &Path, number: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().nth(number.parse::<usize>().ok()?.checked_sub(1)?)?;
    Some(line.trim().to_owned())
}

enum Verdict<'a> {
    /// The command is known, its line isn't.
    Command(&'a str),
    At(&'a Note<'a>),
}

fn note<'a>(fields: &[&'a str]) -> Option<Note<'a>> {
    let [kind, status, flags, line, function, file, depth, command, pipeline] =
        fields.try_into().ok()?;
    let (status, depth) = (status.parse().ok()?, depth.parse().ok()?);
    Some(Note { kind, status, flags, line, function, file, depth, command, pipeline })
}

/// Finds the place in notes, newest first. It says nothing rather than something that may be
/// wrong: a command may have failed long before the script ended for another reason.
fn judge<'a>(notes: &'a [Note<'a>], status: i32) -> Option<Verdict<'a>> {
    let (end, notes) = match notes.split_first() {
        Some((end, rest)) if end.kind == "end" => (Some(end), rest),
        _ => (None, notes),
    };
    let command = end.filter(|e| e.status == status).map(|e| e.command);
    // With -e the shell ends where the trap is called; else its last command must be this.
    let ended_there = |note: &&Note<'_>| {
        note.status & 0xff == status
            && (note.kind == "exit" || note.flags.contains('e') || command == Some(note.command))
    };
    let Some(last) = notes.first().filter(ended_there) else {
        return command.map(Verdict::Command);
    };
    // A function that fails with its last command is noted within and again by its caller.
    let mut at = last;
    for inner in &notes[1..] {
        // Bash may still name the inner command when the caller's turn comes.
        let called = at.command.split_ascii_whitespace().next() == Some(inner.function);
        let of_call = inner.depth > at.depth && (called || inner.command == at.command);
        if inner.kind != "err" || inner.status != at.status || !of_call {
            break;
        }
        at = inner;
    }
    Some(Verdict::At(at))
}

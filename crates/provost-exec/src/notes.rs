//! What `trace.bash` noted while a bash script ran.

use std::path::{Path, PathBuf};

use crate::Step;
use crate::script::Script;
use crate::shell::{self, squeezed};
use crate::trace::{Place, Said};
use crate::watch::traps;

/// How many fields a note has.
const FIELDS: usize = 9;
/// How much of the notes is read, from the end, in bytes.
const READ: usize = 256 * 1024;

/// A command that failed (`err`), a call of `exit`, the end of the script (`end`), or a gap after
/// which not every failing command is noted.
#[derive(Debug)]
pub(crate) struct Note {
    kind: String,
    status: i32,
    flags: String,
    line: usize,
    function: String,
    file: PathBuf,
    depth: usize,
    command: String,
    piped: bool,
}

/// Reads and removes the notes, newest first.
pub(crate) fn take(path: &Path) -> Vec<Note> {
    let text = std::fs::read(path).unwrap_or_default();
    let _ = std::fs::remove_file(path);
    let text = String::from_utf8_lossy(&text[text.len().saturating_sub(READ)..]).into_owned();
    // From the end, so that a cut beginning does no harm. What a full disk has cut is no note.
    let fields: Vec<&str> = text.strip_suffix('\0').unwrap_or_default().split('\0').collect();
    fields.rchunks_exact(FIELDS).map_while(note).collect()
}

fn note(fields: &[&str]) -> Option<Note> {
    let [kind, status, flags, line, function, file, depth, command, pipeline] =
        fields.try_into().ok()?;
    if !["err", "exit", "end", "gap"].contains(&kind) {
        return None;
    }
    Some(Note {
        kind: kind.to_owned(),
        // As the system sees it.
        status: status.trim().parse::<i64>().ok()?.rem_euclid(256) as i32,
        flags: flags.to_owned(),
        line: line.parse().ok()?,
        function: function.to_owned(),
        file: file.into(),
        depth: depth.parse().ok()?,
        command: command.to_owned(),
        piped: pipeline.parse::<usize>().ok()? > 1,
    })
}

/// The place in the script where it failed, by its notes and by what bash itself said at the end
/// of its output.
pub(crate) fn place(
    notes: &[Note],
    script: &Script,
    step: &Step,
    status: i32,
    said: Option<shell::Said>,
) -> Option<Place> {
    let (end, notes) = match notes.split_first() {
        Some((end, rest)) if end.kind == "end" => (Some(end).filter(|e| e.status == status), rest),
        _ => (None, notes),
    };
    let at = judge(notes, end, script, status);
    let prefer = |said: &shell::Said| match (at, end) {
        // Bash knows no command for a redirection of a loop or a group; the note is of the
        // command before it.
        (Some(at), _) => said.of_group && at.kind == "err" && at.line < said.at.line,
        // What failed is what came last, or bash would have gone on.
        (None, Some(end)) => {
            said.fatal || squeezed(&said.at.source).contains(&squeezed(first_line(&end.command)))
        }
        (None, None) => said.certain(script),
    };
    if let Some(said) = said.filter(prefer) {
        return Some(said.at.into());
    }
    match (at, end) {
        (Some(at), _) => at.place(step),
        (None, Some(end)) => {
            Some(Place { line: None, command: Some(first_line(&end.command).to_owned()) })
        }
        (None, None) => None,
    }
}

/// Finds the place in notes, newest first. It says nothing rather than something that may be
/// wrong: a command may have failed long before the script ended for another reason.
fn judge<'a>(
    notes: &'a [Note],
    end: Option<&Note>,
    script: &Script,
    status: i32,
) -> Option<&'a Note> {
    let last = notes.first().filter(|note| note.status == status)?;
    if last.kind == "exit" {
        // In an EXIT trap `exit` is called by a shell that has ended already, elsewhere.
        let earlier = notes[1..].iter().find(|n| n.kind == "exit" || n.flags.contains('e'));
        let earlier = earlier.filter(|n| n.status == status && n.kind != "gap");
        return Some(earlier.unwrap_or(last));
    }
    let is_main = |note: &Note| *script.path == *note.path(script.path.parent());
    let ended_there = last.flags.contains('e')
        || (is_main(last) && last.function == "main" && script.ends_at(last.line))
        || end.is_some_and(|end| end.command == last.command && is_unique(last, script));
    if last.kind != "err" || !ended_there {
        return None;
    }
    // A function that fails with its last command is noted within and again by its caller, for
    // whom bash still names the inner command.
    let inner = notes[1..].iter().scan(last.depth, |depth, note| {
        let inner = note.kind == "err"
            && note.status == last.status
            && note.command == last.command
            && note.depth > *depth;
        *depth = note.depth;
        inner.then_some(note)
    });
    Some(inner.last().unwrap_or(last))
}

/// Whether a command stands in a script once only, so that it can't have come last elsewhere.
fn is_unique(note: &Note, script: &Script) -> bool {
    let command = squeezed(first_line(&note.command));
    script.code().filter(|(_, line)| squeezed(line).contains(&command)).count() <= 1
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

impl Note {
    fn path(&self, folder: Option<&Path>) -> PathBuf {
        let file = self.file.strip_prefix("./").unwrap_or(&self.file);
        folder.map_or_else(|| file.to_owned(), |folder| folder.join(file))
    }

    fn place(&self, step: &Step) -> Option<Place> {
        let file = self.path(Some(&step.folder));
        let script = Script::read(&file);
        // Of a command of several lines bash may name the second.
        let line = script.as_ref().map_or(self.line, |s| s.begin(self.line, &self.command));
        let source = script.as_ref().and_then(|script| script.line(line).map(str::to_owned));
        let command = first_line(&self.command);
        let word = command.split_ascii_whitespace().next().unwrap_or_default();
        let here = |source: &String| source.contains(word) || word == "(";
        let traps = |script: &Script| traps(script, "EXIT") || traps(script, "0");
        let in_trap = self.kind == "exit" || (!self.piped && script.as_ref().is_some_and(traps));
        if in_trap && !source.as_ref().is_some_and(here) {
            // In a trap, lines aren't the file's.
            return Some(Place { line: None, command: Some(self.command.clone()) });
        }
        let function = Some(self.function.clone());
        // Of a function of the shell library the note has no more than the name.
        let by_library = self.kind == "exit" && word != "exit";
        // Of a pipeline bash names the last command, whichever of them failed; of a call, the
        // last one within.
        let source = source.filter(|source| self.piped || by_library || !here(source));
        let source = source.unwrap_or_else(|| command.to_owned());
        Some(Said { file, line, function, source }.into())
    }
}

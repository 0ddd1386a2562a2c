//! What `trace.bash` noted while a bash script ran.

use std::path::{Path, PathBuf};

use super::memory::Notes;
use super::script::{Script, squeezed, words};
use super::shell;
use super::source_location::{FailureLocation, SourceLocation};
use super::statements::{first_failed, is_closed, is_whole};
use super::watch::traps;
use crate::step::Step;

/// How many fields a note has.
const FIELDS: usize = 11;
/// Signals that scripts trap.
const SIGNALS: &[&str] = &[
    "15", "ALRM", "CHLD", "HUP", "INT", "QUIT", "SIGALRM", "SIGCHLD", "SIGHUP", "SIGINT",
    "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "TERM", "USR1", "USR2",
];
/// How much of the notes is read, from the end, in bytes.
const READ: u64 = 256 * 1024;

/// A command that failed (`err`), a call of `exit`, the end of the script (`end`), or a gap after
/// which not every failing command is noted.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    kind: String,
    status: i32,
    flags: String,
    /// 0 if it isn't known.
    line: usize,
    function: String,
    file: PathBuf,
    depth: usize,
    command: String,
    /// Those of a pipeline's commands.
    statuses: Vec<i32>,
    /// Where the function was called: `LINE FUNCTION FILE`.
    caller: String,
    /// Where the script was by then.
    folder: PathBuf,
}

/// Reads the notes, newest first.
pub(crate) fn read(notes: &Notes) -> Vec<Note> {
    let text = notes.end(READ).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    // From the end, so that a cut beginning does no harm. What full memory has cut is no note.
    let fields: Vec<&str> = text.strip_suffix('\0').unwrap_or_default().split('\0').collect();
    fields.rchunks_exact(FIELDS).map_while(note).collect()
}

fn note(fields: &[&str]) -> Option<Note> {
    let [kind, status, flags, line, function, file, depth, command, statuses, caller, folder] =
        fields.try_into().ok()?;
    if !["err", "exit", "end", "gap"].contains(&kind) {
        return None;
    }
    // At the top of a sourced file bash before 5.0 calls it `source`, a function that was called.
    let (function, caller) = if function == "source" { ("main", "") } else { (function, caller) };
    Some(Note {
        kind: kind.to_owned(),
        // As the system sees it.
        status: status.trim().parse::<i64>().ok()?.rem_euclid(256) as i32,
        flags: flags.to_owned(),
        line: line.parse().ok()?,
        function: function.to_owned(),
        file: file.into(),
        depth: depth.parse().ok()?,
        command: command.trim_end().to_owned(),
        // What stands between them is the script's IFS.
        statuses: words(statuses).filter_map(|status| status.parse().ok()).collect(),
        caller: caller.to_owned(),
        folder: folder.into(),
    })
}

/// The place in the script where it failed, by its notes and by what bash itself said at the end
/// of its output.
pub(crate) fn place(
    notes: &[Note],
    script: &Script,
    step: &Step,
    status: i32,
    said: Option<shell::ShellError>,
    has_functions: bool,
) -> Option<FailureLocation> {
    let ended = notes.iter().position(|note| note.kind == "end");
    let (end, notes, status) = match ended.map(|at| (&notes[at], &notes[..at], &notes[at + 1..])) {
        // What its EXIT trap did then is another matter, unless it failed by that alone.
        Some((end, _, before)) if end.status != 0 => (Some(end), before, end.status),
        Some((_, after, _)) => (None, after, status),
        None => (None, notes, status),
    };
    let at = judge(notes, end, script, status);
    let at = at.map(|at| at.passed_on(notes, step).unwrap_or(at));
    let prefer = |said: &shell::ShellError| match (at, end) {
        // Bash knows no command for a redirection of a loop or a group; the note is of the
        // command before it.
        (Some(at), _) => {
            at.kind == "err" && (!at.own_status() || (said.of_group && at.line < said.at.line))
        }
        // What failed is what came last, or bash would have gone on.
        (None, Some(end)) => {
            said.fatal || squeezed(&said.at.source).contains(&squeezed(first_line(&end.command)))
        }
        (None, None) => said.certain(script),
    };
    if let Some(said) = said.filter(prefer) {
        return Some(said.at.into());
    }
    // An ERR trap may have ended the script, with a status of its own.
    let failed = |end: &Note| {
        let failed = notes.first().is_some_and(|n| n.own_status() && n.command == end.command);
        end.own_status() || failed || words(&end.command).next() == Some("exit")
    };
    match (at, end) {
        (Some(at), _) if at.own_status() || at.kind == "exit" => at.place(step, end),
        (None, Some(end)) if failed(end) => end.place_at_end(script, step, !has_functions),
        _ => None,
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
    // While an ERR trap ends the script, bash still names the command that failed.
    let failed = notes.iter().find(|note| note.kind == "err").filter(|_| last.kind == "exit");
    if let Some(failed) = failed.filter(|err| end.is_some_and(|end| end.command == err.command)) {
        return Some(failed);
    }
    if last.kind == "exit" {
        // In an EXIT trap `exit` is called by a shell that has ended already, elsewhere.
        let earlier = notes[1..].iter().find(|n| n.kind == "exit" || n.flags.contains('e'));
        let earlier = earlier.filter(|n| n.status == status && n.kind != "gap");
        return Some(earlier.unwrap_or(last));
    }
    let is_main = |note: &Note| *script.path == *note.path(script.path.parent());
    // What an `eval` ran before has lines that count on from its own.
    let stands = |note: &Note| !script.has_word(&["eval"]) || note.stands_at(note.line, script);
    let ended_there = last.flags.contains('e')
        || (is_main(last) && last.function == "main" && script.ends_at(last.line) && stands(last))
        || end.is_some_and(|end| end.command == last.command && lines(last, script).len() <= 1)
        || (is_main(last) && last.function == "main" && ends_last_loop(last, script));
    if last.kind != "err" || !ended_there {
        return None;
    }
    Some(innermost(last, &notes[1..]))
}

/// A function that fails with its last command is noted within and again by its caller, for whom bash
/// still names the inner command.
fn innermost<'a>(last: &'a Note, earlier: &'a [Note]) -> &'a Note {
    let inner = earlier.iter().scan(last.depth, |depth, note| {
        let inner = note.kind == "err"
            && note.status == last.status
            && note.command == last.command
            && note.depth > *depth;
        *depth = note.depth;
        inner.then_some(note)
    });
    inner.last().unwrap_or(last)
}

/// The lines of a script in which a command stands: if that is one only, it can't have come last
/// elsewhere.
fn lines<'a>(note: &Note, script: &'a Script) -> Vec<(usize, &'a str)> {
    let command = squeezed(first_line(&note.command));
    script.code().filter(|(_, line)| squeezed(line).contains(&command)).collect()
}

/// Whether a command is the last one in a loop with which the script ends: of that, what bash ran
/// last is the condition.
fn ends_last_loop(note: &Note, script: &Script) -> bool {
    let rest = script.code().filter(|(number, _)| *number >= note.line);
    let rest: Vec<_> = rest.map(|(_, line)| squeezed(line)).collect();
    let rest = rest.join(";");
    let rest =
        rest.split_once(&squeezed(&note.command)).and_then(|(_, rest)| rest.strip_prefix(";done"));
    rest.is_some_and(|rest| !rest.contains([';', '&', '|']))
}

/// Whether nothing stands in a line but the end of what was in brackets.
fn ends_brackets(line: Option<&str>) -> bool {
    line.is_some_and(|line| line.starts_with(')'))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

impl Note {
    fn path(&self, folder: Option<&Path>) -> PathBuf {
        let file = self.file.strip_prefix("./").unwrap_or(&self.file);
        folder.map_or_else(|| file.to_owned(), |folder| folder.join(file))
    }

    /// Of an `exit` that passes on the status of a command before it, the note of that command.
    fn passed_on<'a>(&self, notes: &'a [Self], step: &Step) -> Option<&'a Self> {
        let script = Script::read(&self.file(step)?).filter(|_| self.is_plain_exit())?;
        let origin = script.origin(self.line)?;
        let is_origin = |note: &Self| {
            let there = (origin.line..=self.line).contains(&note.line) && note.file == self.file;
            note.kind == "err" && note.status == self.status && there
        };
        let at = notes.iter().position(is_origin)?;
        Some(innermost(&notes[at], &notes[at + 1..]))
    }

    /// Whether it is a call of `exit`, and by no library.
    fn is_plain_exit(&self) -> bool {
        self.kind == "exit" && words(&self.command).next() == Some("exit")
    }

    /// The command that made the pipeline in `text` fail.
    fn first_failed(&self, script: &Script, text: &str) -> Option<String> {
        first_failed(text, &self.command, &self.statuses, script.has_pipefail())
    }

    /// Where the function was called in which it is, if the file is certain, and the line: a trap
    /// and an `eval` have lines of their own.
    fn called_from(&self, step: &Step) -> Option<String> {
        let mut words = self.caller.splitn(3, ' ');
        let (line, function, file) = (words.next()?, words.next()?, words.next()?);
        let file = Self { file: file.into(), ..self.clone() }.file(step)?;
        let script = Script::read(&file)?;
        let source = script.line(line.parse().ok()?)?;
        let may_be_call =
            source.contains('$') && !source.starts_with('#') && !script.has_word(&["eval", "trap"]);
        (source.contains(&self.function) || may_be_call)
            .then(|| format!("{line} {function} {}", file.display()))
    }

    /// The file in which it stands, if that is certain: its name may be relative to where the
    /// script was then.
    fn file(&self, step: &Step) -> Option<PathBuf> {
        let file = self.path(Some(&step.folder));
        // What was read from a pipe is gone, and its name means another file to others.
        if file.starts_with("/dev") || file.starts_with("/proc") {
            return None;
        }
        if self.file.is_absolute() || file == step.folder.join(&step.name) {
            return Some(file);
        }
        let there = self.path(Some(&self.folder)).canonicalize();
        match (file.canonicalize(), there.ok().filter(|_| self.folder.is_absolute())) {
            (Err(_), there) => there,
            (Ok(here), there) => there.is_none_or(|there| there == here).then_some(file),
        }
    }

    /// The command in one line; without a text that goes with it.
    fn command(&self) -> String {
        if self.command.contains("<<") {
            return first_line(&self.command).to_owned();
        }
        self.command.lines().map(str::trim).collect::<Vec<_>>().join(" ")
    }

    /// Whether the command ended with the status, as far as bash's PIPESTATUS shows; in a trap, that
    /// of `[[` and `((` isn't there yet. A redirection of a loop that fails has no command, and bash
    /// names the one before it.
    fn own_status(&self) -> bool {
        !self.command.contains("__provost")
            && (self.statuses.is_empty()
                || self.statuses.contains(&self.status)
                || self.command.starts_with("[[")
                || self.command.starts_with("(("))
    }

    /// Whether it stands in a line, with arguments as they are there.
    fn stands_at(&self, line: usize, script: &Script) -> bool {
        let source = script.line(line).map(squeezed).unwrap_or_default();
        source.contains(&squeezed(first_line(&self.command)))
            || (self.kind == "exit" && source.contains("exit$") | source.contains("exit\"$"))
    }

    /// The line of the file in which it ran. None if that isn't known: what an `eval` runs has lines
    /// that count on from its own, and so have the functions that it defines. Where such a command
    /// ends the script, bash names the `eval` at the end.
    fn file_line(&self, script: &Script, end: Option<&Self>) -> Option<usize> {
        if !script.has_word(&["eval"]) {
            return Some(self.line);
        }
        let function = Some(&*self.function).filter(|name| *name != "main");
        let is_own = |line: usize| script.function_at(line) == function;
        let mut evals: Vec<_> = script.code().collect();
        evals.retain(|(line, text)| words(text).any(|word| word == "eval") && is_own(*line));
        let here = Some(self.line).filter(|line| is_own(*line));
        match end {
            Some(end) if end.command.starts_with("eval ") && end.command != self.command => {
                if evals.is_empty() {
                    return here;
                }
                let command = squeezed(first_line(&end.command));
                evals.retain(|(_, text)| {
                    let text = squeezed(text);
                    text.contains(&command)
                        || (text.contains("eval$'") && command.starts_with("eval'"))
                });
                if let [(line, _)] = evals[..] { Some(line) } else { None }
            }
            None if evals.iter().any(|(line, _)| *line <= self.line) => {
                here.filter(|line| self.stands_at(*line, script))
            }
            _ => here,
        }
    }

    fn place(&self, step: &Step, end: Option<&Self>) -> Option<FailureLocation> {
        let unplaced =
            || Some(FailureLocation { command: Some(self.command()), ..Default::default() });
        if self.line == 0 {
            return None;
        }
        let Some(file) = self.file(step) else { return unplaced() };
        let script = Script::read(&file);
        let known = script.as_ref().map_or(Some(self.line), |s| self.file_line(s, end));
        let Some(known) = known else { return unplaced() };
        // Of a command of several lines bash may name the second.
        let mut line = script.as_ref().map_or(known, |s| s.begin(known, &self.command));
        let mut source = script.as_ref().and_then(|script| script.line(line).map(str::to_owned));
        let word = self.command.split_ascii_whitespace().next().unwrap_or_default();
        let here = |source: &String| source.contains(word) || word == "(";
        let is_piped = self.statuses.len() > 1;
        let traps_exit = |script: &Script| traps(script, "EXIT") || traps(script, "0");
        let traps_signal = |script: &Script| script.has_word(&["trap"]) && script.has_word(SIGNALS);
        let function = Some(self.function.clone());
        if source.as_ref().is_some_and(|source| words(source).any(|w| w == "eval")) {
            return Some(SourceLocation { file, line, function, source: self.command() }.into());
        }
        if !source.as_ref().is_some_and(here) {
            // In a trap, lines aren't the file's, and bash names what a signal interrupted.
            if self.kind == "exit" {
                return unplaced();
            }
            if script.as_ref().is_some_and(traps_signal) {
                return None;
            }
            if !is_piped && script.as_ref().is_some_and(traps_exit) {
                return unplaced();
            }
        }
        // Of a function of the shell library the note has no more than the name.
        let by_library = self.kind == "exit" && word != "exit";
        let origin = script.as_ref().filter(|_| self.is_plain_exit());
        if let Some(origin) = origin.and_then(|script| script.origin(line)) {
            let at = SourceLocation { file, line: origin.line, function, source: origin.command };
            return Some(FailureLocation { called_from: self.called_from(step), ..at.into() });
        }
        // Of a pipeline bash names the last command, whichever of them failed; of a call, the
        // last one within; of what is in brackets the last line.
        if let Some(script) = script.as_ref().filter(|_| self.kind == "err") {
            if is_piped && let Some(whole) = script.pipeline(line) {
                let failed = self.first_failed(script, &whole.1);
                // Which line of a loop or a group failed isn't known.
                if failed.is_none() && !is_closed(&whole.1) {
                    return None;
                }
                let word = failed.as_ref().and_then(|failed| failed.split(' ').next());
                let has_word = |at: &usize| {
                    word.is_some_and(|word| script.line(*at).is_some_and(|l| l.contains(word)))
                };
                line = (whole.0..=line).find(has_word).unwrap_or(whole.0);
                source = Some(failed.unwrap_or(whole.1));
            } else if self.command.contains('(') || ends_brackets(script.line(line)) {
                // bash 4.2 names a command before the brackets.
                let opening = script.opening(line, &self.command);
                let opening = opening.filter(|_| self.command.contains('('));
                if opening.is_none() && ends_brackets(script.line(line)) {
                    return None;
                }
                line = opening.unwrap_or(line);
            }
        }
        // And of a library's own `exit` that it is one.
        let by_library = by_library
            || (self.command == "exit" && source.as_ref().is_some_and(|s| s.starts_with("exit")));
        let source = source.filter(|source| is_piped || by_library || !here(source));
        let source = source.filter(|source| is_whole(source)).unwrap_or_else(|| self.command());
        let at = SourceLocation { file, line, function, source };
        Some(FailureLocation { called_from: self.called_from(step), ..at.into() })
    }

    /// What ran last in the script, which ended by itself. Where that stands once only, and in no
    /// function, it is the place; but a loop has its status from a command within. A script that
    /// ended there and then did so in the function that the note names.
    fn place_at_end(
        &self,
        script: &Script,
        step: &Step,
        no_functions: bool,
    ) -> Option<FailureLocation> {
        let by_exit = words(&self.command).next() == Some("exit");
        let ended_there = by_exit || self.flags.contains('e');
        let named = self.file(step).filter(|_| ended_there).and_then(|file| Script::read(&file));
        let script = named.as_ref().unwrap_or(script);
        let mut lines = lines(self, script);
        let loops = |line: &str| words(line).any(|w| ["while", "until", "for"].contains(&w));
        let ends_loop =
            || script.code().next_back().is_some_and(|(_, l)| words(l).any(|w| w == "done"));
        let by_loop =
            lines.iter().any(|(_, line)| loops(line)) || (lines.is_empty() && ends_loop());
        if by_loop && !by_exit {
            return None;
        }
        let function = Some(&*self.function).filter(|name| !["main", "source"].contains(name));
        lines.retain(|(line, _)| !ended_there || script.function_at(*line) == function);
        let at = match lines[..] {
            [(line, _)] if ended_there || no_functions || script.ends_at(line) => Some(line),
            _ => None,
        };
        let line = at.map(|line| format!("{line} {} {}", self.function, script.path.display()));
        Some(FailureLocation { line, command: Some(self.command()), ..Default::default() })
    }
}

//! What a shell says of a script that it runs: `./x: line 12: foo: command not found`.

use std::path::{Path, PathBuf};

use super::catalogue;
use super::parts::Parts;
use super::script::Script;
use super::source_location::SourceLocation;
use crate::output::Tail;
use crate::step::Step;

/// What messages about a script's syntax hold. A shell doesn't go on after them,
const SYNTAX: &[&str] = &[
    "end of file",
    "syntax error",
    "Syntax error",
    "unexpected EOF",
    "unterminated quoted string",
];
/// nor after these.
const FATAL: &[&str] = &[
    "Bad substitution",
    "arithmetic expression:",
    "divide by zero",
    "is read only",
    "parameter not set",
    "unbound variable",
];
/// What messages about the end of a file hold.
const END: &[&str] = &["end of file", "nterminated quoted string"];
/// What a command fails with that can't be run.
const CANNOT_RUN: &[&str] = &[
    "Permission denied",
    "Is a directory",
    "cannot execute",
    "Exec format error",
    "Text file busy",
];

/// What a shell said at the end of its output, which fits its exit status.
pub(crate) struct ShellError {
    pub(crate) at: SourceLocation,
    /// Whether a shell doesn't go on after it.
    pub(crate) fatal: bool,
    /// Whether it is about a redirection of a loop or a group.
    pub(crate) of_group: bool,
}

impl ShellError {
    /// Whether the script ended there, as far as its text can say.
    pub(crate) fn certain(&self, script: &Script) -> bool {
        let source = &self.at.source;
        let condition = source.contains("||")
            || ["if ", "elif ", "while ", "until ", "! "]
                .iter()
                .any(|word| source.starts_with(word));
        self.fatal
            || (script.path == self.at.file && script.ends_at(self.at.line))
            || (script.has_errexit() && !condition)
    }
}

/// A message taken apart.
#[derive(Debug, PartialEq)]
struct Message<'a> {
    /// The file, where it isn't the script itself.
    file: Option<&'a str>,
    line: usize,
    text: String,
}

/// Finds what a shell said, if that is about the script or a file that it sources.
pub(crate) fn find(
    script: &Script,
    parts: &Parts,
    step: &Step,
    status: i32,
    tail: &Tail,
) -> Option<ShellError> {
    let lines = tail.end();
    let own = format!("./{}", step.name);
    let english = |message: &str| {
        let name = Path::new(message.split(": ").next()?);
        let named = name == Path::new(&own)
            || parts.files.iter().any(|part| part.path.file_name() == name.file_name());
        named.then(|| catalogue::in_english(message)).flatten()
    };
    let last = lines.last()?;
    let translated = if parse(last, &own).is_none() { english(last) } else { None };
    let Message { file: name, mut line, text } = parse(translated.as_ref().unwrap_or(last), &own)?;
    let named = name.and_then(|name| file(name, &step.folder, parts));
    if (name.is_some() && named.is_none()) || text.starts_with("eval: ") || !fits(&text, status) {
        return None;
    }
    let token = token(&text);
    let has_token = |file: &&Script, line| file.line(line).is_some_and(|l| l.contains(token));
    let file = match named {
        Some(file) => file,
        // Of a function some shells give its line, but not its file.
        None if parts.files.iter().any(|part| has_token(&part, line)) => return None,
        None if !has_token(&script, line) && !parts.all => return None,
        None => script,
    };
    let before = lines.iter().rev().nth(1);
    let mut is_end = END.iter().any(|end| text.contains(end)) || line > file.text.lines().count();
    // Bash before 5.2 says in a message of its own where a quote begins.
    let opened = before.and_then(|before| parse(before, &own)).filter(|opened| {
        is_end && opened.file == name && opened.text.starts_with("unexpected EOF")
    });
    if let Some(opened) = opened {
        (line, is_end) = (opened.line, false);
    }
    // The end of the file counts as its last line.
    line = line.min(file.text.lines().count());
    // Of a syntax error bash shows the line in a second message.
    let shown = before.filter(|_| text.starts_with('`')).is_some_and(|before| {
        before.contains("syntax error")
            || english(before).is_some_and(|before| before.contains("syntax error"))
    });
    let syntax = shown || SYNTAX.iter().any(|f| text.contains(f)) && !text.contains("error token");
    if !syntax {
        // What an `eval` runs has lines that count on from its own.
        if is_end {
            return None;
        }
        line = file.begin(line, token);
        // What runs in these has line numbers of its own.
        if !has_token(&file, line) && file.has_word(&["eval", "trap"]) {
            return None;
        }
    }
    // What is missing at the end is no fault of the last line's.
    let source = if is_end { "" } else { file.line(line).filter(|l| !l.starts_with('#'))? };
    let variable = |end| source.contains(&format!("{{{token}{end}"));
    let fatal = syntax
        || FATAL.iter().any(|f| text.contains(f))
        || ["exec: ", "exit: ", ".: "].iter().any(|f| text.starts_with(f))
        || matches!(status, 126 | 127)
        || variable(":?")
        || variable("?");
    let of_group = text.starts_with(token)
        && ["done", "}", ")", "fi", "esac"].iter().any(|word| {
            source
                .split_once(word)
                .is_some_and(|(_, after)| after.contains(token) && after.contains(['<', '>']))
        });
    let function =
        (!file.has_functions() && !script.has_functions() && parts.all).then(|| "main".to_owned());
    let at = SourceLocation { file: file.path.clone(), line, function, source: source.to_owned() };
    Some(ShellError { at, fatal, of_group })
}

/// Takes a line apart that begins with the script's name, or with that of a file it sources:
/// `NAME: 12: TEXT`, `NAME: line 12: TEXT`, `NAME: BUILTIN: line 12: TEXT`.
fn parse<'a>(line: &'a str, name: &str) -> Option<Message<'a>> {
    let own = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(": "));
    if let Some((number, text)) = own.and_then(|rest| rest.split_once(": ")) {
        if let Ok(line) = number.parse() {
            // dash names a sourced file after the number.
            let sourced = text.split_once(": ").filter(|(file, rest)| {
                file.contains('/') && (rest.contains(": ") || rest.starts_with("Syntax"))
            });
            let (file, text) = sourced.map_or((None, text), |(file, text)| (Some(file), text));
            return Some(Message { file, line, text: text.to_owned() });
        }
        if let Some(line) = number.strip_prefix("line ").and_then(|n| n.parse().ok()) {
            return Some(Message { file: None, line, text: text.to_owned() });
        }
    }
    let (before, rest) = own.unwrap_or(line).split_once(": line ")?;
    let (number, text) = rest.split_once(": ")?;
    let line = number.parse().ok()?;
    Some(if before.contains('/') || own.is_none() {
        Message { file: Some(before), line, text: text.to_owned() }
    } else {
        Message { file: None, line, text: format!("{before}: {text}") }
    })
}

/// The file of that name among those that the script sources.
fn file<'a>(name: &str, folder: &Path, parts: &'a Parts) -> Option<&'a Script> {
    let path: PathBuf = folder.join(name.strip_prefix("./").unwrap_or(name));
    parts.files.iter().find(|part| part.path == path || part.path.ends_with(name))
}

/// What a message is about, which stands in the script as well unless it came out of a variable.
fn token(text: &str) -> &str {
    let text = text.strip_prefix("exec: ").unwrap_or(text);
    let text = ["cannot open ", "can't open ", "cannot create ", "can't create "]
        .iter()
        .find_map(|open| text.strip_prefix(open))
        .unwrap_or(text);
    text.split(": ").next().unwrap_or_default().trim_matches('`').trim_matches('\'')
}

fn fits(text: &str, status: i32) -> bool {
    let not_found = text.ends_with("not found") || text.ends_with("No such file or directory");
    match status {
        127 => not_found,
        126 => CANNOT_RUN.iter().any(|message| text.contains(message)),
        1 | 2 => !text.ends_with("not found"),
        _ => false,
    }
}

//! What python says of a script that ends by an exception: its traceback.

use std::path::Path;

use super::script::Script;
use super::source_location::SourceLocation;
use crate::output::Tail;
use crate::step::Step;

/// How a traceback begins.
const TRACEBACK: &str = "Traceback (most recent call last):";

/// Finds the innermost line of the script, or of a module next to it, in a traceback that is the
/// end of the output.
pub(crate) fn find(
    script: &Script,
    step: &Step,
    status: i32,
    tail: &Tail,
) -> Option<SourceLocation> {
    let lines = up_to_exception(tail.end(), script, step);
    // The exception itself comes last and isn't indented.
    let (exception, frames) = lines.split_last()?;
    let begins = frames.iter().rposition(|line| !line.starts_with(' '));
    if status != 1 || !is_exception(exception) {
        return None;
    }
    let frames = match begins {
        Some(at) if frames[at] == TRACEBACK => {
            // A thread, or a destructor, may have one without the script's ending by it.
            let before = at.checked_sub(1).map(|before| frames[before].as_str());
            let chained = before.is_some_and(|b| {
                b.ends_with(" exception occurred:") || b.ends_with(" following exception:")
            });
            if before.is_some_and(|b| b.ends_with(':')) && !chained {
                return None;
            }
            &frames[at + 1..]
        }
        // A syntax error has no traceback.
        _ if is_syntax_error(exception) => &frames[begins.map_or(0, |at| at + 1)..],
        _ => return None,
    };
    frames.iter().rev().find_map(|frame| at(frame, script, &step.folder))
}

/// Leaves out all but the first line of an exception's message. A script that may have caught it can
/// have printed that itself and gone on.
fn up_to_exception<'a>(lines: &'a [String], script: &Script, step: &Step) -> &'a [String] {
    let begins = lines.iter().rposition(|line| line == TRACEBACK);
    let Some((begins, outermost)) = begins.and_then(|at| Some((at + 1, lines.get(at + 1)?))) else {
        return lines;
    };
    let own = at(outermost, script, &step.folder).is_some_and(|said| said.file == script.path);
    if !own || script.has_word(&["except", "excepthook", "traceback"]) {
        return lines;
    }
    let frames = lines[begins..].iter().take_while(|line| line.starts_with(' ')).count();
    &lines[..lines.len().min(begins + frames + 1)]
}

fn is_syntax_error(exception: &str) -> bool {
    ["SyntaxError: ", "IndentationError: ", "TabError: "].iter().any(|e| exception.starts_with(e))
}

/// Whether a line is `package.NameOfError: why`.
fn is_exception(line: &str) -> bool {
    let name = line.split(": ").next().unwrap_or_default().trim_end_matches(':');
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.".contains(c))
}

/// The place of a frame, if it is the script's or of a module next to it.
fn at(frame: &str, script: &Script, folder: &Path) -> Option<SourceLocation> {
    let rest = frame.trim_start().strip_prefix("File \"")?;
    let (name, rest) = rest.split_once("\", line ")?;
    let (number, function) = match rest.split_once(", in ") {
        Some((number, function)) => (number, function),
        None => (rest, "<module>"),
    };
    let path = folder.join(name.strip_prefix("./").unwrap_or(name));
    let (real, folder) = (path.canonicalize().ok()?, folder.canonicalize().ok()?);
    let path = folder_path(&path, &script.path);
    if !real.starts_with(&folder) {
        return None;
    }
    let line = number.parse().ok()?;
    let function = if function == "<module>" { "main" } else { function };
    let source = Script::read(&real)?.line(line)?.to_owned();
    Some(SourceLocation { file: path, line, function: Some(function.to_owned()), source })
}

/// The script's own path where it is the same file.
fn folder_path(path: &Path, script: &Path) -> std::path::PathBuf {
    let same = path.canonicalize().ok() == script.canonicalize().ok();
    if same { script.to_owned() } else { path.to_owned() }
}

//! What perl says of a script that dies: `no disk at ./x line 12.`

use super::script::Script;
use super::source_location::SourceLocation;
use crate::output::Tail;
use crate::step::Step;

/// What perl dies of by itself. It has hundreds of warnings that look alike; these are none.
const FATAL: &[&str] = &[
    "BEGIN failed--compilation aborted",
    "Bareword ",
    "Can't call method ",
    "Can't find ",
    "Can't locate ",
    "Can't use ",
    "Global symbol ",
    "Illegal division by zero",
    "Illegal modulus zero",
    "Missing right curly",
    "Modification of ",
    "Not a ",
    "Undefined subroutine ",
    "syntax error",
];
/// How many lines a statement may have.
const STATEMENT: usize = 20;

/// Finds what perl said at the end of its output, if it died of that.
pub(crate) fn find(
    script: &Script,
    step: &Step,
    status: i32,
    tail: &Tail,
) -> Option<SourceLocation> {
    let lines = tail.end();
    let last = lines.last()?;
    // What it is told first is what is wrong.
    let compiling = last.starts_with("Execution of ") || last.contains("had too many errors");
    let message = if compiling {
        let errors = lines.iter().rev().skip(1);
        errors.take_while(|l| FATAL.iter().any(|f| l.starts_with(f))).last()?
    } else {
        last
    };
    let (text, place) = message.rsplit_once(" at ")?;
    let (name, rest) = place.rsplit_once(" line ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let (line, rest) = (rest[..digits].parse().ok()?, &rest[digits..]);
    if !(rest == "." || rest.starts_with(", ")) {
        return None;
    }
    let path = step.folder.join(name.strip_prefix("./").unwrap_or(name));
    if !path.canonicalize().ok()?.starts_with(step.folder.canonicalize().ok()?) {
        return None;
    }
    let other = (path != script.path).then(|| Script::read(&path)).flatten();
    let file = if path == script.path { script } else { other.as_ref()? };
    let source = file.line(line)?;
    let mut statement = String::new();
    for at in (line..line + STATEMENT).map_while(|at| file.line(at)) {
        statement.push_str(at);
        if at.ends_with(';') || at.ends_with('}') {
            break;
        }
        statement.push(' ');
    }
    let dies = super::script::words(&statement).any(|w| ["die", "confess"].contains(&w));
    // Perl ends with errno, which is never as large as a signal's status, or with 255.
    let fatal = FATAL.iter().any(|fatal| text.starts_with(fatal)) && matches!(status, 2 | 255);
    if !dies && !fatal {
        return None;
    }
    let function = (!file.has_functions()).then(|| "main".to_owned());
    Some(SourceLocation { file: path, line, function, source: source.to_owned() })
}

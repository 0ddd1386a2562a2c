//! What a program needs on its node, besides itself.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::not_started::Why;
use crate::step::Step;

/// How much of a program is read, in bytes: an ELF file's loader is named near the front.
const HEAD_LEN: u64 = 4096;

/// The interpreter that a first line names after its `#!`, if it is certain that it isn't there. A
/// path that isn't absolute begins in the step's `folder`.
pub(crate) fn missing(line: &str, folder: &Path) -> Option<String> {
    let path = line.split([' ', '\t']).next()?;
    is_missing(&folder.join(path)).then(|| path.to_owned())
}

/// The one that it has env(1) look for, by the script's own PATH, likewise.
pub(crate) fn missing_for_env(line: &str, step: &Step) -> Option<String> {
    let (path, rest) = line.split_once([' ', '\t'])?;
    let rest = rest.trim();
    let split = rest.strip_prefix("-S").map(|rest| rest.split_ascii_whitespace().next());
    // Without -S, the kernel makes one argument of all that follows.
    let name = split.unwrap_or(Some(rest)).filter(|name| !name.is_empty())?;
    let is_plain = !name.starts_with('-') && !name.contains(['=', '$', '\\', '"', '\'']);
    if !path.ends_with("/env") || !is_plain || is_missing(&step.folder.join(path)) {
        return None;
    }
    let is_nowhere = if name.contains('/') {
        is_missing(&step.folder.join(name))
    } else {
        let (_, folders) = step.env.iter().rfind(|(variable, _)| variable == "PATH")?;
        folders.split(':').all(|folder| is_missing(&step.folder.join(folder).join(name)))
    };
    is_nowhere.then(|| name.to_owned())
}

/// Of what this process may not look at, nobody knows.
fn is_missing(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_err_and(|e| matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
}

/// What the kernel didn't find though `program`, which runs in `folder`, is there: its interpreter,
/// or the loader that it or its interpreter asks for.
pub(crate) fn not_found(program: &Path, folder: &Path) -> Option<Why> {
    let mut head = Vec::new();
    File::open(program).ok()?.take(HEAD_LEN).read_to_end(&mut head).ok()?;
    if let Some(line) = head.strip_prefix(b"#!") {
        let line = String::from_utf8_lossy(line);
        let line = line.split('\n').next()?.trim_matches([' ', '\t']);
        if line.ends_with('\r') {
            return Some(Why::Crlf(line.to_owned()));
        }
        if let Some(path) = missing(line, folder) {
            return Some(Why::NoInterpreter(path));
        }
        let path = line.split([' ', '\t']).next()?;
        return Some(match not_found(&folder.join(path), folder)? {
            why @ Why::NoLoader(_) => why,
            why => Why::Other(format!("its interpreter {path}: {why}")),
        });
    }
    let names = head.split(|byte| *byte == 0).filter_map(|name| str::from_utf8(name).ok());
    let mut names = names.filter(|name| name.starts_with('/') && name.contains("/ld"));
    let loader = names.find(|name| is_missing(Path::new(name)))?;
    Some(Why::NoLoader(loader.to_owned()))
}

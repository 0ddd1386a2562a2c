//! What a program needs on its node, beside itself.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::Step;

/// How much of an ELF file is read to find its loader's name, in bytes: it stands near the front.
const ELF_LEN: u64 = 4096;

/// The interpreter that a first line names after its `#!`, if it is certain that it isn't there:
/// the kernel's, or env(1)'s, which looks for it by the script's own PATH.
pub(crate) fn missing(line: &str, step: &Step) -> Option<String> {
    let (path, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    if is_missing(Path::new(path)) {
        return Some(path.to_owned());
    }
    let rest = rest.trim();
    let split = rest.strip_prefix("-S").map(|rest| rest.split_ascii_whitespace().next());
    // Without -S, the kernel makes one argument of all that follows.
    let name = split.unwrap_or(Some(rest)).filter(|name| !name.is_empty())?;
    let is_plain = !name.starts_with('-') && !name.contains(['=', '$', '\\', '"', '\'']);
    if !path.ends_with("/env") || !is_plain {
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

/// The loader that a program asks for and that isn't there; `program` may be a script.
pub(crate) fn missing_loader(program: &Path) -> Option<String> {
    let mut head = Vec::new();
    File::open(program).ok()?.take(ELF_LEN).read_to_end(&mut head).ok()?;
    if let Some(line) = head.strip_prefix(b"#!") {
        let line = String::from_utf8_lossy(line);
        return missing_loader(Path::new(line.split_ascii_whitespace().next()?));
    }
    let names = head.split(|byte| *byte == 0).filter_map(|name| str::from_utf8(name).ok());
    let mut names = names.filter(|name| name.starts_with('/') && name.contains("/ld"));
    names.find(|name| is_missing(Path::new(name))).map(str::to_owned)
}

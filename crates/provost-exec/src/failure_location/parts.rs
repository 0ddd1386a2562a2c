//! The files that a shell script sources.

use std::path::{Path, PathBuf};

use super::script::Script;

/// How many files a script may source for them to be looked at.
const PARTS: usize = 16;

/// The files that a shell script sources.
pub(crate) struct Parts {
    pub(crate) files: Vec<Script>,
    /// Whether these are all.
    pub(crate) all: bool,
}

impl Script {
    /// The files that it sources, as far as that can be read from its text.
    pub(crate) fn parts(&self, folder: &Path) -> Parts {
        let mut parts = Parts { files: Vec::new(), all: true };
        let mut named: Vec<String> = sourced(self).collect();
        while let Some(name) = named.pop() {
            let path = find(&name, folder).filter(|path| path.is_file());
            if parts.files.iter().any(|part| Some(&part.path) == path.as_ref()) {
                continue;
            }
            match path.filter(|_| parts.files.len() < PARTS).and_then(|path| Self::read(&path)) {
                Some(part) => {
                    named.extend(sourced(&part));
                    parts.files.push(part);
                }
                None => parts.all = false,
            }
        }
        parts
    }
}

/// What stands after a shell's `.` or `source`.
fn sourced(script: &Script) -> impl Iterator<Item = String> {
    script.code().filter_map(|(_, line)| {
        let mut before = ";";
        for word in line.split_ascii_whitespace() {
            let begins = before.ends_with([';', '&', '|', '(', '{'])
                || ["then", "do", "else", "if", "!"].contains(&before);
            if begins && (word == "." || word == "source") {
                let at = word.as_ptr().addr() - line.as_ptr().addr() + word.len();
                return Some(first_word(&line[at..]));
            }
            before = word;
        }
        None
    })
}

/// The first word of a text, in which an expansion may have spaces; without quotes.
fn first_word(text: &str) -> String {
    let mut depth = 0_usize;
    let goes_on = |c: &char| {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' if depth > 0 => depth -= 1,
            _ => return depth > 0 || !(c.is_ascii_whitespace() || ";)}&|".contains(*c)),
        }
        true
    };
    text.trim_start().replace(['"', '\''], "").chars().take_while(goes_on).collect()
}

/// The file that a word names, if its folder is known or is likely the script's, or near it.
fn find(word: &str, folder: &Path) -> Option<PathBuf> {
    let open = |c: char| "$`<(*?~\\".contains(c);
    if !word.contains(open) {
        return Some(folder.join(word.strip_prefix("./").unwrap_or(word)));
    }
    let mut names = word.match_indices('/').map(|(at, _)| &word[at + 1..]);
    names.find(|name| !name.contains(open) && folder.join(name).is_file()).map(|n| folder.join(n))
}

#[cfg(test)]
mod tests {
    use super::super::script::tests::script;
    use super::*;

    #[test]
    fn what_a_script_sources_is_found_if_it_can_be() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("lib.sh"), ". ./x\n[ -f more ] && source more\n").unwrap();
        std::fs::write(dir.path().join("more"), "f() { true; }\n").unwrap();
        std::fs::create_dir(dir.path().join("in")).unwrap();
        std::fs::write(dir.path().join("in/deep.sh"), "true\n").unwrap();
        for named in [
            "\"$(dirname $0)/in/deep.sh\"",
            "\"$(cd \"$(dirname \"$0\")\" && pwd)\"/in/deep.sh || exit",
            "\"${BASH_SOURCE%/*}/in/../in/deep.sh\"; true",
            "\"${D:-$(pwd -P)}/in/deep.sh\"",
        ] {
            let parts = script(dir.path(), &format!(". {named}\n")).parts(dir.path());
            assert!(parts.all && parts.files.len() == 1, "{named}");
        }
        let x = script(dir.path(), "#!/bin/sh\n# . no\nif true; then . \"$D/lib.sh\"; fi\n");
        let parts = x.parts(dir.path());
        assert!(parts.all);
        assert_eq!(parts.files.len(), 3, "the script itself among them");
        assert!(!x.has_functions() && parts.files.iter().any(Script::has_functions));
        assert!(!script(dir.path(), ". $FILE\n").parts(dir.path()).all);
        assert!(!script(dir.path(), ". /nowhere\n").parts(dir.path()).all);
    }
}

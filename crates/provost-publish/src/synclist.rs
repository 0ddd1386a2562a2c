//! xCAT's synclists, as `syncfiles` reads them on nodes: the files of this machine that their lines name are
//! published beside the scripts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use provost_bundle::{Manifest, check_path};

use crate::error::Problem;
use crate::tree::{Found, ROOT};

/// The list that `syncfiles` reads without an argument.
const LIST: &str = "_sync/list";
/// The end of the names of others, by xCAT's custom.
const SUFFIX: &str = ".synclist";

/// Adds to `found` the files that its lists name by absolute paths, unless it has them already.
pub(crate) fn add_sources(found: &mut Vec<Found>, problems: &mut Vec<Problem>) {
    let is_list = |found: &&Found| found.name == LIST || found.name.ends_with(SUFFIX);
    let mut names: BTreeSet<String> = found.iter().map(|found| found.name.clone()).collect();
    let mut added = Vec::new();
    for list in found.iter().filter(is_list) {
        // What can't be read is refused as any other file is.
        let Ok(text) = provost_fs::read_input(&list.path, Manifest::MAX_FILE) else { continue };
        for (number, source) in sources(&text) {
            let place = format!("{}, line {number}", list.path.display());
            match files(source) {
                Ok(files) => {
                    added.extend(files.into_iter().filter(|f| names.insert(f.name.clone())))
                }
                Err((what, fix)) => problems.push(Problem::new(place, what, fix)),
            }
        }
    }
    found.extend(added);
}

/// The absolute paths before the arrows, each with its line's number.
fn sources(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#'));
    let before = lines.filter_map(|(at, line)| Some((at + 1, line.split_once(" -> ")?.0)));
    before
        .flat_map(|(number, words)| words.split_whitespace().map(move |word| (number, word)))
        .filter(|(_, word)| word.starts_with('/'))
}

/// The files of a path, which may be a pattern; or what is wrong with it, and what to do.
fn files(source: &str) -> Result<Vec<Found>, (String, String)> {
    let name = |path: &str| format!("{ROOT}{}", path.trim_start_matches('/'));
    check_path(&name(source)).map_err(|e| (e.to_string(), e.hint()))?;
    let is_pattern = is_pattern(source);
    let mut files = Vec::new();
    for path in matching(source) {
        let Ok(metadata) = fs::metadata(&path) else { continue };
        let Some(text) = path.to_str() else { continue };
        if metadata.is_file() {
            files.push(Found { name: name(text), path, metadata });
        } else if metadata.is_dir() && !is_pattern {
            let what = format!("{source} is a folder, and files alone are installed");
            return Err((what, format!("list its files: {source}/*")));
        }
    }
    match files.is_empty() {
        true => Err((
            format!("there is no file {source} on this machine"),
            "put it there, or remove the line".to_owned(),
        )),
        false => Ok(files),
    }
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// The paths that `pattern` stands for, as in a shell: `*` and `?`, which match no leading dot.
fn matching(pattern: &str) -> Vec<PathBuf> {
    let mut paths = vec![PathBuf::from("/")];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        paths = match is_pattern(part) {
            false => paths.iter().map(|path| path.join(part)).collect(),
            true => paths.iter().flat_map(|folder| in_folder(folder, part)).collect(),
        };
    }
    paths
}

fn in_folder(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let hidden = pattern.starts_with('.');
    let mut names: Vec<String> = names
        .filter(|name| {
            name.starts_with('.') == hidden && matches(pattern.as_bytes(), name.as_bytes())
        })
        .collect();
    names.sort();
    names.into_iter().map(|name| folder.join(name)).collect()
}

fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => (0..=name.len()).any(|at| matches(rest, &name[at..])),
        (Some((b'?', pattern)), Some((_, name))) => matches(pattern, name),
        (Some((a, pattern)), Some((b, name))) => a == b && matches(pattern, name),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_before_an_arrow_are_sources() {
        let text = "# /no -> /no\n/etc/hosts conf/x -> (cn1) /etc/hosts\nEXECUTE:\n/a/b.post\n/c /d* -> /e\n";
        let found: Vec<_> = sources(text).collect();
        assert_eq!(found, [(2, "/etc/hosts"), (5, "/c"), (5, "/d*")]);
    }

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, name, is_match) in [
            ("*.sh", "a.sh", true),
            ("*.sh", "a.sh~", false),
            ("a?c*", "abc", true),
            ("a?c", "ac", false),
            ("*a*b*", "xaxbx", true),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), is_match, "{pattern} {name}");
        }
    }
}

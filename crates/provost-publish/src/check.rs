use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use provost_bundle::{Digest, FileEntry, Manifest, Mode, Policy, check_path};

use crate::error::{Problem, PublishError};
use crate::publication::Input;
use crate::secret;
use crate::synclist;
use crate::tree::{Found, walk};

/// A file that can be published.
#[derive(Debug)]
pub struct Source {
    /// Its entry in the manifest.
    pub entry: FileEntry,
    /// Where it is: in the scripts' folder, or where a synclist names it.
    pub path: PathBuf,
}

impl Source {
    /// The file's content, if it is still what was checked.
    pub fn read(&self) -> Result<Vec<u8>, PublishError> {
        let bytes =
            fs::read(&self.path).map_err(|e| PublishError::disk("reading", &self.path, e))?;
        match Digest::of(&bytes) == self.entry.sha256 {
            true => Ok(bytes),
            false => Err(PublishError::Changed { path: self.path.clone() }),
        }
    }
}

/// Checks all of the input. Returns the files in the order of their names, or all problems.
pub(crate) fn check(input: &Input<'_>) -> Result<Vec<Source>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut sources = Vec::new();
    let mut found = walk(input.scripts, &mut problems);
    if !input.is_whole {
        synclist::add_sources(&mut found, &mut problems);
    }
    let names: BTreeSet<&str> = found.iter().map(|found| found.name.as_str()).collect();
    missing(input, &names, &mut problems);
    sizes(input, &found, &mut problems);
    for node in input.plans.keys() {
        if node.contains('/') || check_path(node).is_err() {
            let what = format!("{node:?} can't be a node's name");
            problems.push(Problem::new("the plans", what, "give the node a plain name"));
        }
    }
    for found in &found {
        let required = input.required.contains_key(&found.name);
        let mut policy = Policy::default();
        let before = problems.len();
        if found.name == "fetch" {
            let what = "this name is reserved for the stage that fetches the scripts";
            problems.push(Problem::new(found.path.display(), what, "rename it"));
        }
        let Some(text) = read(found, &mut problems) else { continue };
        let executable = found.metadata.permissions().mode() & 0o111 != 0;
        if executable || required || text.starts_with(b"#!") {
            policy = script(found, &text, executable || required, &mut problems);
        }
        if let Some(site) = input.overrides.get(&found.name) {
            policy = policy.overridden_by(site);
        }
        if problems.len() == before {
            let mode = if executable || required { Mode::Program } else { Mode::Data };
            let (path, size, sha256) = (found.name.clone(), text.len() as u64, Digest::of(&text));
            let entry = FileEntry { path, mode, size, sha256, policy };
            sources.push(Source { entry, path: found.path.clone() });
        }
    }
    sources.sort_by(|a, b| a.entry.path.cmp(&b.entry.path));
    if problems.is_empty() { Ok(sources) } else { Err(problems) }
}

/// The file's content, if it can be published at all.
fn read(found: &Found, problems: &mut Vec<Problem>) -> Option<Vec<u8>> {
    let path = found.path.display();
    let mut problem = |what: &str, fix: String| {
        problems.push(Problem::new(path.to_string(), what, fix));
        None
    };
    if found.metadata.len() > Manifest::MAX_FILE {
        let most = Manifest::MAX_FILE >> 20;
        return problem(
            "it is too big",
            format!("keep it under {most} MiB; let a script download the rest"),
        );
    }
    let text = match fs::read(&found.path) {
        Ok(text) if text.is_empty() => {
            return problem("it is empty", "write it, or remove it".to_owned());
        }
        Ok(text) => text,
        Err(e) => {
            let fix =
                format!("make it readable (chmod a+r {path}), or, if it is secret, remove it");
            return problem(&format!("it can't be read: {e}"), fix);
        }
    };
    if let Some(kind) = secret::kind(&text) {
        let fix = "move it out of this folder, and give nodes secrets by another way than scripts";
        return problem(
            &format!("it has {kind}, and what is published is readable by all"),
            fix.to_owned(),
        );
    }
    if found.metadata.permissions().mode() & 0o004 == 0 {
        // Even if this user can read it: what is published is readable by everybody.
        let what = "others can't read it, and what is published is readable by all";
        let fix = format!("remove it, or, if nothing in it is secret: chmod a+r {path}");
        return problem(what, fix);
    }
    Some(text)
}

/// Checks what matters only for a file that is run, and reads its header.
fn script(found: &Found, text: &[u8], runs: bool, problems: &mut Vec<Problem>) -> Policy {
    let path = found.path.display();
    // A compiled program has no lines.
    if text.contains(&0) {
        return Policy::default();
    }
    if let Some(at) = text.windows(2).position(|two| two == b"\r\n") {
        let line = 1 + text[..at].iter().filter(|b| **b == b'\n').count();
        let what = format!("line {line} ends in CRLF, as under Windows");
        problems.push(Problem::new(path.to_string(), what, format!("sed -i 's/\\r$//' {path}")));
    }
    if runs && !text.starts_with(b"#!") {
        let fix = match text.starts_with(b"\xef\xbb\xbf") {
            true => format!("remove the byte-order mark: sed -i '1s/^\\xEF\\xBB\\xBF//' {path}"),
            false => format!("begin it with #!/bin/sh, or, if it is data: chmod a-x {path}"),
        };
        problems.push(Problem::new(path.to_string(), "its first line doesn't begin with #!", fix));
    }
    Policy::from_script(text).unwrap_or_else(|e| {
        problems.push(Problem::new(format!("{path}:{}", e.line), &*e.what, e.hint()));
        Policy::default()
    })
}

/// Finds the scripts that `site.toml` names and that aren't there.
fn missing(input: &Input<'_>, names: &BTreeSet<&str>, problems: &mut Vec<Problem>) {
    let folder = input.scripts.display();
    let overrides = input.overrides.keys();
    let overrides = overrides.map(|name| (name, format!("scripts.{name} names it")));
    let required = input.required.iter().map(|(name, by)| (name, format!("{by} names it")));
    // One problem for each script; a plan that names it is the worse one.
    for (name, why) in overrides.chain(required).collect::<BTreeMap<_, _>>() {
        let file = format!("{folder}/{name}");
        if names.contains(name.as_str()) || problems.iter().any(|problem| problem.file == file) {
            continue;
        }
        let hidden = name.split('/').any(|part| part.starts_with('.') || part.ends_with('~'));
        let fix = match close(name, names) {
            _ if hidden => {
                "names that begin with a dot or end in ~ aren't published; rename it".to_owned()
            }
            Some(other) => format!("write {other}, if you mean that; or put {name} into {folder}"),
            None => format!("put it into {folder}, or remove its name there"),
        };
        problems.push(Problem::new(file, format!("{why}, but it doesn't exist"), fix));
    }
}

/// The most similar name, if one is similar.
fn close<'n>(name: &str, names: &BTreeSet<&'n str>) -> Option<&'n str> {
    let near = names.iter().map(|other| (strsim::damerau_levenshtein(name, other), *other));
    near.filter(|(distance, _)| *distance <= 1 + name.len() / 4).min().map(|(_, other)| other)
}

fn sizes(input: &Input<'_>, found: &[Found], problems: &mut Vec<Problem>) {
    let folder = input.scripts.display();
    let total: u64 = found.iter().map(|found| found.metadata.len()).sum();
    if found.is_empty() && problems.is_empty() {
        let fix = "name the folder that holds the scripts";
        problems.push(Problem::new(folder.to_string(), "there is no script in it", fix));
    }
    if found.len() > Manifest::MAX_FILES {
        let what = format!("it has {} files", found.len());
        problems.push(Problem::new(
            folder.to_string(),
            what,
            format!("publish at most {} files", Manifest::MAX_FILES),
        ));
    }
    if total > Manifest::MAX_TOTAL {
        let fix = format!(
            "keep it under {} MiB; let a script download the rest",
            Manifest::MAX_TOTAL >> 20
        );
        problems.push(Problem::new(folder, format!("it has {} MiB", total >> 20), fix));
    }
}

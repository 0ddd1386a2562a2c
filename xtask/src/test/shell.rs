use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result};

use crate::cargo;

/// Bytes of a first line that are looked at for a shebang.
const SHEBANG: u64 = 128;

/// Checks every shell script of the workspace.
pub(super) fn lint() -> Result<()> {
    let mut files = Vec::new();
    find(cargo::root(), &mut files)?;
    files.sort();
    println!("{} files: {}", files.len(), files.join(" "));
    for (tool, args) in [("shellcheck", &[][..]), ("shfmt", &["-i", "4", "-d"])] {
        if cargo::is_there(tool) {
            let files = files.iter().map(String::as_str);
            cargo::run(tool, &args.iter().copied().chain(files).collect::<Vec<_>>())?;
        } else {
            println!("SKIPPED: {tool} isn't here");
        }
    }
    Ok(())
}

/// Adds the shell scripts under `folder`, relative to the workspace's folder.
fn find(folder: &Path, files: &mut Vec<String>) -> Result<()> {
    let reading = || format!("looking for shell scripts in {}", folder.display());
    for entry in fs::read_dir(folder).with_context(reading)? {
        let entry = entry.with_context(reading)?;
        let (path, name, kind) = (entry.path(), entry.file_name(), entry.file_type()?);
        // What is recorded in tests/compat stays as it is.
        let generated = [".git", "target", "dist", "completions", "compat"];
        let generated = generated.iter().any(|folder| name == *folder);
        // The corpus has the mistakes that scripts have.
        let faulty = path.ends_with("tests/scripts");
        if kind.is_dir() && !generated && !faulty {
            find(&path, files)?;
        } else if kind.is_file() && is_shell(&path).with_context(reading)? {
            let path = path.strip_prefix(cargo::root()).unwrap_or(&path);
            files.push(path.to_string_lossy().into_owned());
        }
    }
    Ok(())
}

fn is_shell(path: &Path) -> std::io::Result<bool> {
    if path.extension().is_some_and(|e| e == "sh" || e == "bash") {
        return Ok(true);
    }
    let mut line = Vec::new();
    BufReader::new(File::open(path)?.take(SHEBANG)).read_until(b'\n', &mut line)?;
    Ok(names_a_shell(&String::from_utf8_lossy(&line)))
}

fn names_a_shell(line: &str) -> bool {
    let Some(interpreter) = line.strip_prefix("#!") else { return false };
    interpreter
        .split([' ', '/', '\t', '\n'])
        .any(|word| ["sh", "bash", "dash", "ksh"].contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_are_known_by_their_first_line() {
        for line in ["#!/bin/sh\n", "#!/usr/bin/env bash\n", "#! /bin/bash -e"] {
            assert!(names_a_shell(line), "{line}");
        }
        for line in ["#!/usr/bin/python3\n", "# /bin/sh", "", "#!/usr/bin/env fish\n"] {
            assert!(!names_a_shell(line), "{line}");
        }
    }
}

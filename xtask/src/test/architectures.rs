//! What differs between architectures is in one module: nodes are x86_64, aarch64 and ppc64le, with pages of 4
//! or 64 KiB, and hardly anybody tries the last two.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cargo;

/// The module.
const MODULE: &str = "crates/provost-exec/src/architecture.rs";
/// What no other file of a crate may have: conditions, sizes of pages, and the requests of ptrace(2) that know
/// registers.
const WORDS: [&str; 8] = [
    "target_arch",
    "consts::ARCH",
    "PAGE_SIZE",
    "PAGE_SHIFT",
    "PTRACE_GETREGS",
    "PTRACE_SETREGS",
    "PTRACE_PEEKUSER",
    "user_regs_struct",
];

/// Fails if another file of a crate knows an architecture or a page size.
pub(crate) fn check() -> Result<()> {
    let found = find(cargo::root())?;
    if !found.is_empty() {
        bail!(
            "architectures or page sizes outside {MODULE}:\n  {}\nhint: move what knows them there",
            found.join("\n  ")
        );
    }
    Ok(())
}

/// `FILE:LINE: WORD` of each.
fn find(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for file in sources(&root.join("crates"))? {
        let short = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        if short == MODULE {
            continue;
        }
        let text = fs::read_to_string(&file).with_context(|| format!("reading {short}"))?;
        for (line, number) in text.lines().zip(1..) {
            let words = WORDS.iter().filter(|word| line.contains(**word));
            found.extend(words.map(|word| format!("{short}:{number}: {word}")));
        }
    }
    found.sort();
    Ok(found)
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut left, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = left.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_on_an_architecture_is_found_outside_the_module_alone() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let condition = "//\nconst A: bool = cfg!(target_arch = \"x86_64\");\n";
        write(MODULE, condition);
        write("crates/a/src/deep/one.rs", "const PAGE_SIZES: usize = 1;\nconst PAGE: usize = 1;\n");
        write("crates/a/src/two.rs", condition);
        write("crates/a/src/three.sql", condition);
        let found = find(root.path()).unwrap();
        assert_eq!(
            found,
            ["crates/a/src/deep/one.rs:1: PAGE_SIZE", "crates/a/src/two.rs:2: target_arch"]
        );
    }

    #[test]
    fn the_crates_of_this_workspace_have_none() {
        assert_eq!(find(cargo::root()).unwrap(), [""; 0]);
    }
}

//! Man pages and completions: made of the command lines, kept next to them.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use crate::cargo;

/// The folders that hold nothing else.
const FOLDERS: [&str; 2] = ["man", "completions"];

/// Writes them anew.
pub(crate) fn write() -> Result<()> {
    let docs = cargo::root().join("docs");
    for folder in FOLDERS {
        // What belongs to a command that is no more must go.
        let _ = fs::remove_dir_all(docs.join(folder));
    }
    make(&docs)
}

/// Checks that those that are kept are those that would be made.
pub(crate) fn check() -> Result<()> {
    let made = tempfile::tempdir()?;
    make(made.path())?;
    for folder in FOLDERS {
        let (kept, made) = (cargo::root().join("docs").join(folder), made.path().join(folder));
        let (kept, made) = (kept.to_string_lossy(), made.to_string_lossy());
        if cargo::run("diff", &["-r", &*kept, &*made]).is_err() {
            bail!(
                "docs/{folder} isn't what the command lines say: cargo xtask manual, and commit it"
            );
        }
    }
    Ok(())
}

fn make(folder: &Path) -> Result<()> {
    cargo::run("cargo", &["run", "--quiet", "-p", "manual", "--", &*folder.to_string_lossy()])
}

//! What is made of the command lines, reference pages and types, and kept in the repository: man pages,
//! completions, schemas, the description of the APIs.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::cargo;

/// The folders that hold nothing else, each with its place.
const FOLDERS: [(&str, &str); 3] =
    [("man", "docs/man"), ("completions", "docs/completions"), ("schema", "dist/schema")];

/// A file in a folder with others.
const API: (&str, &str) = ("openapi.json", "docs/reference/openapi.json");

/// Writes them anew. Where that fails, the old ones stay.
pub(crate) fn write() -> Result<()> {
    // Here, because a rename can't leave its file system.
    let made = tempfile::Builder::new().prefix(".manual-").tempdir_in(cargo::root())?;
    make(made.path())?;
    for (name, place) in FOLDERS {
        let (new, place) = (made.path().join(name), cargo::root().join(place));
        // What belongs to a command that is no more goes with the folder.
        if place.exists() {
            fs::rename(&place, made.path().join(format!("old-{name}")))
                .with_context(|| format!("moving {} away", place.display()))?;
        }
        fs::rename(&new, &place).with_context(|| format!("writing {}", place.display()))?;
    }
    let (name, place) = (made.path().join(API.0), cargo::root().join(API.1));
    fs::rename(name, &place).with_context(|| format!("writing {}", place.display()))
}

/// Checks that those that are kept are those that would be made.
pub(crate) fn check() -> Result<()> {
    let made = tempfile::tempdir()?;
    make(made.path())?;
    for (name, place) in FOLDERS.into_iter().chain([API]) {
        let (kept, made) = (cargo::root().join(place), made.path().join(name));
        let (kept, made) = (kept.to_string_lossy(), made.to_string_lossy());
        if cargo::run("diff", &["-r", &*kept, &*made]).is_err() {
            bail!("{place} isn't what the programs say: cargo xtask manual, and commit it");
        }
    }
    Ok(())
}

fn make(folder: &Path) -> Result<()> {
    // Of the whole workspace, so that nothing is compiled again with fewer features.
    let built = cargo::build(&["--workspace", "--bin", "manual"], &[])?;
    let manual = built.get("manual").context("cargo build made no program manual")?;
    cargo::run(&manual.to_string_lossy(), &[folder.to_string_lossy()])
}

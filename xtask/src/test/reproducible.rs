//! Two builds of one commit, in two folders: their packages are the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::cargo;

/// Makes packages twice, and compares their digests.
pub(super) fn check() -> Result<()> {
    let folder = tempfile::tempdir()?;
    // Of different lengths: a path that is in a program shifts what follows it.
    let [one, other] = ["a", "another-folder"].map(|name| folder.path().join(name));
    // Both before the builds: meanwhile there may be another commit.
    for to in [&one, &other] {
        cargo::run("git", &["clone", "--quiet", ".", &to.to_string_lossy()])?;
    }
    let (one, other) = (digests(&one)?, digests(&other)?);
    let differing: Vec<&str> = one
        .iter()
        .filter(|(name, sum)| other.get(*name) != Some(*sum))
        .map(|(n, _)| &**n)
        .collect();
    if one.is_empty() || !differing.is_empty() || one.len() != other.len() {
        bail!("{} of {} files differ: {}", differing.len(), one.len(), differing.join(", "));
    }
    println!("{} files of two builds are the same bytes", one.len());
    Ok(())
}

/// The digests of what the clone in `folder` gives away, by name.
fn digests(folder: &Path) -> Result<BTreeMap<String, String>> {
    let status = cargo::command("cargo")
        .current_dir(folder)
        .env_remove("CARGO_TARGET_DIR")
        .args(["xtask", "dist"])
        .status()
        .context("starting cargo")?;
    if !status.success() {
        bail!("cargo xtask dist: {status}");
    }
    let sums = fs::read_to_string(folder.join("dist/SHA256SUMS")).context("reading SHA256SUMS")?;
    let lines = sums.lines().filter_map(|line| line.split_once("  "));
    Ok(lines.map(|(sum, name)| (name.to_owned(), sum.to_owned())).collect())
}

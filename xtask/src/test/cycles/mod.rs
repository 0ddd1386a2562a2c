//! No import cycle between the files of a crate: who reads one file of a cycle has to read them
//! all.
//!
//! A file imports another when it names an item that is defined there, however the path gets there:
//! a re-export leads to what it stands for. A module's file that declares its children and
//! re-exports their items doesn't import them; one that calls them does.

mod arrows;
mod modules;
mod resolve;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use crate::cargo;
use arrows::Arrows;
use modules::Modules;

/// Fails if a crate of the workspace has an import cycle.
pub(crate) fn check() -> Result<()> {
    let mut wrong = Vec::new();
    for (name, roots) in crates()? {
        let mut found = 0;
        for root in &roots {
            let modules = Modules::read(root)?;
            let arrows = arrows::of(&modules);
            for cycle in cycles(&arrows) {
                found += 1;
                println!("import cycle of {} files in {name}:", cycle.len());
                for line in describe(&cycle, &arrows, cargo::root()) {
                    println!("  {line}");
                }
            }
        }
        if found > 0 {
            wrong.push(format!("{found} in {name}"));
        }
    }
    if !wrong.is_empty() {
        bail!(
            "import cycles: {}\nhint: move what both files of an arrow need into a file below them",
            wrong.join("; ")
        );
    }
    Ok(())
}

/// The packages of the workspace, with the root files of their libraries and programs.
fn crates() -> Result<Vec<(String, Vec<PathBuf>)>> {
    let args = ["metadata", "--no-deps", "--format-version", "1"];
    let output = cargo::command("cargo").args(args).output().context("starting cargo metadata")?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("reading what cargo metadata prints")?;
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let mut crates = Vec::new();
    for package in list(&metadata["packages"]) {
        let production = |target: &serde_json::Value| {
            list(&target["kind"]).iter().any(|kind| kind == "lib" || kind == "bin")
        };
        let targets = list(&package["targets"]);
        let targets = targets.iter().filter(|target| production(target));
        let roots = targets.filter_map(|target| target["src_path"].as_str()).map(PathBuf::from);
        let name = package["name"].as_str().unwrap_or_default();
        crates.push((name.to_owned(), roots.collect()));
    }
    if crates.is_empty() {
        bail!("cargo metadata names no package");
    }
    Ok(crates)
}

/// The sets of files that import each other in a loop, in the order of their names.
fn cycles(arrows: &Arrows) -> Vec<Vec<&Path>> {
    let arrows = arrows.keys().map(|(from, to)| (from.as_path(), to.as_path(), ()));
    let graph: DiGraphMap<&Path, ()> = arrows.collect();
    let mut cycles: Vec<_> =
        tarjan_scc(&graph).into_iter().filter(|files| files.len() > 1).collect();
    for files in &mut cycles {
        files.sort_unstable();
    }
    cycles.sort_unstable();
    cycles
}

/// The arrows of a cycle, and the names that tie it.
fn describe(cycle: &[&Path], arrows: &Arrows, root: &Path) -> Vec<String> {
    let short = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    let within = |file: &PathBuf| cycle.contains(&file.as_path());
    let arrows = arrows.iter().filter(|((from, to), _)| within(from) && within(to));
    let line = |((from, to), names): (&(PathBuf, PathBuf), &BTreeSet<String>)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("{} -> {}: {}", short(from), short(to), names.join(", "))
    };
    arrows.map(line).collect()
}

#[cfg(test)]
mod tests;

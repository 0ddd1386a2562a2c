//! No import cycle between the files of a crate: who reads one file of a cycle has to read them
//! all. And no crate that depends on a package with a program: what both need is a crate below them.
//!
//! A file imports another when it names a module or an item there, as it is written: `crate::web::X`
//! is an import of `web/mod.rs`, wherever that has `X` from. A module's file that declares its
//! children and re-exports their items doesn't import them; one that calls them does.

mod arrows;
mod modules;
mod packages;
mod resolve;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use crate::cargo;
use arrows::Arrows;
use modules::Modules;

/// Fails if a crate of the workspace has an import cycle, or depends on a package that has a program.
pub(crate) fn check() -> Result<()> {
    let packages = packages::all()?;
    let programs = packages::dependencies_on_programs(&packages, &cargo::root().join("crates"));
    if !programs.is_empty() {
        bail!(
            "dependencies of crates on packages that have a program: {}\nhint: move what both need into a \
             crate below them",
            programs.join(", ")
        );
    }
    let mut wrong = Vec::new();
    for package in &packages {
        let (name, roots) = packages::sources(package);
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

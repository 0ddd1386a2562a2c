//! `cargo xtask bench NAME`

use std::fs;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::{cargo, dist};

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Benchmark {
    /// A node's boot, against several management nodes
    Boot,
    /// A step's start and end, output and trace
    Exec,
    /// An entry of the journal, and a stage that a script records
    Record,
}

/// Runs one benchmark.
pub(crate) fn run(benchmark: Benchmark) -> Result<()> {
    match benchmark {
        Benchmark::Boot => of_programs("boot"),
        Benchmark::Exec => of_programs("exec"),
        Benchmark::Record => record(),
    }
}

/// What an entry costs, and what a stage costs a script that records by the node's binary as nodes
/// get it.
fn record() -> Result<()> {
    dist::node()?;
    let status = cargo::command("cargo")
        .args(["bench", "-p", "provost-record"])
        .env("PROVOST_PROGRAMS", cargo::root().join("dist"))
        .status()
        .context("starting cargo")?;
    if !status.success() {
        bail!("cargo bench: {status}");
    }
    Ok(())
}

/// How long boots or steps take, of the node's binary as nodes get it.
fn of_programs(name: &str) -> Result<()> {
    dist::node()?;
    let args = ["--release", "-p", "provostd", "-p", "provostctl"];
    let mut programs = cargo::build(&args, &[])?;
    programs.insert("provost".to_owned(), cargo::root().join("dist/provost"));
    let folder = tempfile::tempdir()?;
    for (name, path) in programs {
        fs::copy(&path, folder.path().join(name))
            .with_context(|| format!("copying {}", path.display()))?;
    }
    let bench = ["bench", "--quiet", "-p", "provost-tests", "--bench", name];
    let status = cargo::command("cargo")
        .args(bench)
        .env("PROVOST_PROGRAMS", folder.path())
        .status()
        .context("starting cargo")?;
    if !status.success() {
        bail!("cargo bench: {status}");
    }
    Ok(())
}

//! `cargo xtask test`: all that decides whether a change may go in.

pub(crate) mod cycles;
mod dependencies;
pub(crate) mod machines;
mod shell;
mod steps;
mod suite;
mod tools;

use anyhow::{Result, bail};

use crate::{cargo, demo, dist, manual};
use steps::Steps;

/// Runs every step; the first that fails ends it.
pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::default();
    let mut missing = Vec::new();
    steps.run("tools", || {
        missing = tools::install_missing();
        Ok(())
    })?;
    steps.run("format", || cargo::run("cargo", &["fmt", "--all", "--check"]))?;
    steps.run("lints", || {
        let args = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
        cargo::run("cargo", &args)
    })?;
    steps.run("import cycles", cycles::check)?;
    steps.run("shell lints", shell::lint)?;
    steps.run("check without xCAT", || {
        cargo::run("cargo", &["check", "-p", "provost", "--no-default-features"])
    })?;
    steps.run("build", || cargo::run("cargo", &["build", "--workspace"]))?;
    // Before the tests: one of them looks at how much memory it needs.
    steps.run("the node's binary", dist::node)?;
    steps.run("manual", manual::check)?;
    steps.run("tests", suite::run)?;
    steps.run("machines", || match machines::hindrance() {
        None => machines::boot(),
        Some(why) => {
            println!("SKIPPED: no machine is booted here: {why}");
            Ok(())
        }
    })?;
    steps.run("demo", || demo::run(false))?;
    steps.run("dependencies", dependencies::check)?;
    steps.summary();

    if !missing.is_empty() {
        bail!("all that could be run is well, but these tools are missing: {}", missing.join(" "));
    }
    Ok(())
}

//! Nodes that are machines, under an emulator: a step of `cargo xtask test`, or by themselves with
//! `--vm`.

use anyhow::{Result, bail};

use super::steps::Steps;
use super::tools;
use crate::{cargo, dist};

/// What making an image and booting it takes.
const PROGRAMS: [&str; 5] = ["qemu-system-x86_64", "debootstrap", "cpio", "zstd", "mke2fs"];

/// Boots each machine, and does nothing else.
pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::default();
    steps.run("tools", || {
        tools::install_missing();
        Ok(())
    })?;
    steps.run("the node's binary", dist::node)?;
    steps.run("machines", || hindrance().map_or_else(boot, |why| bail!(why)))?;
    steps.summary();
    Ok(())
}

/// Why no machine can be booted here, if that is so.
pub(super) fn hindrance() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("making a node's image takes root".to_owned());
    }
    // A container's root may mount nothing.
    let unshared = cargo::command("unshare").args(["--mount", "true"]).status();
    if !unshared.is_ok_and(|status| status.success()) {
        return Some("making a node's image takes the right to mount".to_owned());
    }
    let missing: Vec<&str> = PROGRAMS.into_iter().filter(|name| !cargo::is_there(name)).collect();
    (!missing.is_empty()).then(|| format!("these programs are missing: {}", missing.join(" ")))
}

/// Boots each machine with the node's binary as nodes get it, which is there.
pub(super) fn boot() -> Result<()> {
    // Each keeps a processor busy.
    let threads = std::thread::available_parallelism()?.to_string();
    let test = ["test", "--workspace", "--test", "machines", "--"];
    cargo::run("cargo", &[&test[..], &["--ignored", "--test-threads", &threads]].concat())
}

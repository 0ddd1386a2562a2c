//! `cargo xtask test --vm`: nodes that are machines, under an emulator.

use anyhow::{Result, ensure};

use super::steps::Steps;
use super::tools::apt_get;
use crate::{cargo, dist};

/// What making and booting an image takes: the program, and Debian's package of it.
const TOOLS: [(&str, &str); 5] = [
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("debootstrap", "debootstrap"),
    ("cpio", "cpio"),
    ("mke2fs", "e2fsprogs"),
    ("zstd", "zstd"),
];

/// Boots each machine with the node's binary as nodes get it.
pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::default();
    steps.run("tools", install_missing)?;
    steps.run("the node's binary", dist::node)?;
    steps.run("machines", || {
        // Each keeps a processor busy.
        let threads = std::thread::available_parallelism()?.to_string();
        let test = ["test", "-p", "provost-tests", "--test", "machines", "--"];
        let args = ["--ignored", "--test-threads", &threads];
        cargo::run("cargo", &[&test[..], &args].concat())
    })?;
    steps.summary();
    Ok(())
}

fn install_missing() -> Result<()> {
    ensure!(rustix::process::geteuid().is_root(), "making a node's image takes root");
    let missing = || TOOLS.iter().filter(|(program, _)| !cargo::is_there(program));
    let packages: Vec<&str> = missing().map(|(_, package)| *package).collect();
    if !packages.is_empty() && cargo::is_there("apt-get") {
        let install = ["install", "--yes", "--no-install-recommends"];
        // A failure shows in what is missing afterwards.
        let _ = apt_get(&["update"]) && apt_get(&[&install[..], &packages].concat());
    }
    let missing: Vec<&str> = missing().map(|(program, _)| *program).collect();
    ensure!(missing.is_empty(), "these programs are missing: {}", missing.join(" "));
    Ok(())
}

//! Calling cargo, and other programs, from the workspace's folder.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The workspace's folder.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// `program`, to be run in the workspace's folder.
pub(crate) fn command(program: &str) -> Command {
    // The cargo that runs us, so that a toolchain asked for by name stays the same one.
    let cargo = env::var_os("CARGO").filter(|_| program == "cargo");
    let mut command = Command::new(cargo.unwrap_or_else(|| program.into()));
    // Set by `cargo run`: ring is built anew where they change, and all that uses it.
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        }) {
            command.env_remove(name);
        }
    }
    command.current_dir(root());
    command
}

/// Runs `program` with `args`, output and all, and fails as it does.
pub(crate) fn run<S: AsRef<str>>(program: &str, args: &[S]) -> Result<()> {
    let args: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
    let status =
        command(program).args(&args).status().with_context(|| format!("starting {program}"))?;
    if !status.success() {
        bail!("{program} {}: {status}", args.first().unwrap_or(&""));
    }
    Ok(())
}

/// Builds with `cargo build ARGS` and returns the programs that came of it, by name. Cargo itself
/// says where they are, whatever target folder the user has set.
pub(crate) fn build(args: &[&str], env: &[(&str, &str)]) -> Result<BTreeMap<String, PathBuf>> {
    let built = command("cargo")
        .args(["build", "--message-format=json-render-diagnostics"])
        .args(args)
        .env_remove("CARGO_ENCODED_RUSTFLAGS") // it would win over RUSTFLAGS
        .envs(env.iter().copied())
        .stderr(Stdio::inherit())
        .output()
        .context("starting cargo")?;
    if !built.status.success() {
        bail!("cargo build {}: {}", args.join(" "), built.status);
    }
    let mut programs = BTreeMap::new();
    for line in String::from_utf8_lossy(&built.stdout).lines() {
        let message: serde_json::Value =
            serde_json::from_str(line).context("reading what cargo built")?;
        let name = message.pointer("/target/name").and_then(|v| v.as_str());
        if let (Some(name), Some(path)) = (name, message["executable"].as_str()) {
            programs.insert(name.to_owned(), path.into());
        }
    }
    Ok(programs)
}

/// The folder that cargo builds in, wherever the user has set it.
pub(crate) fn target() -> Result<PathBuf> {
    let out = command("cargo")
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .context("starting cargo")?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&out.stdout).context("reading what cargo metadata prints")?;
    let folder =
        metadata["target_directory"].as_str().context("cargo metadata names no target folder")?;
    Ok(folder.into())
}

/// Whether `program` is on the PATH.
pub(crate) fn is_there(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

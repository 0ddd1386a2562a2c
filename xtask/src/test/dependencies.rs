//! Licences, bans, sources and security advisories of all dependencies, by cargo-deny.

use anyhow::Result;

use crate::cargo;

/// The version that `deny.toml` is written for.
const VERSION: &str = "0.20.2";

/// Where it is installed, so that a second run finds it.
const FOLDER: &str = "target/tools";

/// How long the advisory database may take to come.
const LIMIT: &str = "60s";

/// Checks them against `deny.toml`.
pub(super) fn check() -> Result<()> {
    let Some(cargo_deny) = find_or_install() else {
        println!("SKIPPED: cargo-deny can't be installed: no check of licences and advisories");
        return Ok(());
    };
    cargo::run(&cargo_deny, &["check", "licenses", "bans", "sources"])?;
    if cargo::run("timeout", &[LIMIT, &cargo_deny, "fetch", "db"]).is_err() {
        println!("SKIPPED: the advisory database can't be fetched: no check of advisories");
        return Ok(());
    }
    cargo::run(&cargo_deny, &["check", "--disable-fetch", "advisories"])
}

/// The program, of our version if that can be had, else the user's.
fn find_or_install() -> Option<String> {
    println!("installing cargo-deny {VERSION} into {FOLDER}, unless it is there");
    // A debug build takes less than half the time, and is as quick here.
    let install = ["install", "--quiet", "--locked", "--debug", "--root", FOLDER];
    let package = ["cargo-deny", "--version", VERSION];
    if cargo::run("cargo", &[&install[..], &package].concat()).is_ok() {
        let program = cargo::root().join(FOLDER).join("bin/cargo-deny");
        return Some(program.to_string_lossy().into_owned());
    }
    cargo::is_there("cargo-deny").then(|| "cargo-deny".to_owned())
}

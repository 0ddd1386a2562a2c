//! Licences, bans, sources and security advisories of all dependencies, by cargo-deny.

use anyhow::{Context, Result, bail};

use super::skips::Skips;
use super::tools;
use crate::cargo;

/// How long the advisory database may take to come.
const LIMIT: &str = "60s";

/// Checks them against `deny.toml`.
pub(super) fn check(skips: &Skips) -> Result<()> {
    deny(&["cargo-deny", "check", "licenses", "bans", "sources"])?;
    if deny(&["timeout", LIMIT, "cargo-deny", "fetch", "db"]).is_err() {
        return skips.note("dependencies: advisories", "the advisory database can't be fetched");
    }
    deny(&["cargo-deny", "check", "--disable-fetch", "advisories"])
}

fn deny(words: &[&str]) -> Result<()> {
    // By env, which looks at the path that is set here.
    let mut command = cargo::command("env");
    tools::add_to_path(&mut command);
    let status = command.args(words).status().context("starting cargo-deny")?;
    if !status.success() {
        bail!("{}: {status}", words.join(" "));
    }
    Ok(())
}

//! `cargo xtask bench NAME`

use anyhow::{Result, bail};

use crate::cargo;

/// Runs the benchmark called `name`.
pub(crate) fn run(name: &str) -> Result<()> {
    match name {
        "record" => cargo::run("cargo", &["bench", "-p", "provost-record"]),
        _ => bail!("there is no benchmark {name:?}; there is: record"),
    }
}

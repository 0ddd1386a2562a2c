//! What couldn't be run here, and why: printed at the end, and in CI only what is expected.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::cargo;

/// The skips that CI may have.
const EXPECTED: &str = ".config/skips.toml";

/// The variable by which tests learn where to note theirs (`provost_tests::skip`).
const VARIABLE: &str = "PROVOST_TEST_SKIPS";

/// The file of skips, `NAME<tab>REASON` a line.
pub(super) struct Skips(PathBuf);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    #[serde(default)]
    skip: Vec<Skip>,
}

#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(deny_unknown_fields)]
struct Skip {
    name: String,
    reason: String,
}

impl Skips {
    /// An empty file.
    pub(super) fn begin() -> Result<Self> {
        let file = cargo::target()?.join("test-skips");
        File::create(&file).with_context(|| format!("writing {}", file.display()))?;
        Ok(Self(file))
    }

    /// Lets `command` know the file.
    pub(super) fn tell(&self, command: &mut Command) {
        command.env(VARIABLE, &self.0);
    }

    /// Adds one of a step.
    pub(super) fn note(&self, name: &str, reason: &str) -> Result<()> {
        println!("SKIPPED: {name}: {reason}");
        let mut file = OpenOptions::new().append(true).open(&self.0)?;
        Ok(writeln!(file, "{name}\t{reason}")?)
    }

    /// Prints all of them. In CI, one that isn't expected is an error.
    pub(super) fn finish(&self) -> Result<()> {
        let text =
            fs::read_to_string(&self.0).with_context(|| format!("reading {}", self.0.display()))?;
        let skips: BTreeSet<Skip> = text
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .map(|(name, reason)| Skip { name: name.to_owned(), reason: reason.to_owned() })
            .collect();
        println!("\nskipped here: {}", skips.len());
        for Skip { name, reason } in &skips {
            println!("  {name}: {reason}");
        }
        if std::env::var("CI").is_ok_and(|ci| ci == "true") {
            return check(&skips);
        }
        Ok(())
    }
}

fn check(skips: &BTreeSet<Skip>) -> Result<()> {
    let text = fs::read_to_string(cargo::root().join(EXPECTED))
        .with_context(|| format!("reading {EXPECTED}"))?;
    let expected: Expected =
        toml::from_str(&text).with_context(|| format!("reading {EXPECTED}"))?;
    let others: Vec<_> = skips.iter().filter(|skip| !expected.skip.contains(skip)).collect();
    if others.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = others.iter().map(|skip| skip.name.as_str()).collect();
    bail!(
        "{} skipped in CI that {EXPECTED} doesn't name: {}\nhint: install what they need, or add \
         each with its reason to {EXPECTED}",
        others.len(),
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(name: &str, reason: &str) -> BTreeSet<Skip> {
        BTreeSet::from([Skip { name: name.to_owned(), reason: reason.to_owned() }])
    }

    #[test]
    fn a_skip_is_expected_by_its_name_and_reason_alone() {
        let (name, reason) = ("dependencies: advisories", "the advisory database can't be fetched");
        assert!(check(&skip(name, reason)).is_ok());
        for other in [skip(name, "no network"), skip("provost-tests::it caches", reason)] {
            let error = check(&other).unwrap_err().to_string();
            let name = &other.first().unwrap().name;
            assert!(error.contains(name) && error.contains("hint: "), "{error}");
        }
    }
}

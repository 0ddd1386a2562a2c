//! All tests of the workspace. One that fails while the others load the machine is run again,
//! alone: it must pass then, and is named, so that a race is seen and blocks no other change.

use std::io::{self, BufRead, BufReader, Write};
use std::num::NonZero;
use std::process::{ExitStatus, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};

use crate::cargo;

/// More failing tests than this are no accident of a loaded machine.
const MOST_AGAIN: usize = 3;

/// For how many seconds each parser is tried with changed inputs, unless the environment says so.
const FUZZ: (&str, &str) = ("PROVOST_FUZZ", "8");

/// Tests that run at the same time, for each processor: most of them wait, for a time-out or a daemon.
const TESTS_OF_PROCESSOR: usize = 2;

/// What one call of `cargo test` printed of its tests.
#[derive(Default)]
struct Ran {
    passed: Vec<String>,
    failed: Vec<String>,
}

pub(super) fn run() -> Result<()> {
    let (ran, status) = cargo_test(&["--no-fail-fast"])?;
    if status.success() {
        return Ok(());
    }
    if ran.failed.is_empty() || ran.failed.len() > MOST_AGAIN {
        bail!("cargo test: {status}, {} failed: {}", ran.failed.len(), ran.failed.join(" "));
    }
    println!("\n=== run again, alone: {}", ran.failed.join(" "));
    let mut args = vec!["--no-fail-fast", "--", "--exact", "--test-threads=1"];
    args.extend(ran.failed.iter().map(String::as_str));
    let (again, status) = cargo_test(&args)?;
    let lost: Vec<_> = ran.failed.iter().filter(|test| !again.passed.contains(test)).collect();
    if !status.success() || !lost.is_empty() {
        bail!("failed again: {lost:?}");
    }
    println!("\nFLAKY: failed under load, passed alone: {}", ran.failed.join(" "));
    Ok(())
}

/// Runs `cargo test --workspace ARGS`, shows what it prints, and returns it by test.
fn cargo_test(args: &[&str]) -> Result<(Ran, ExitStatus)> {
    let (name, seconds) = FUZZ;
    let seconds = std::env::var(name).unwrap_or_else(|_| seconds.to_owned());
    // Each file of tests would ask cargo whether they are new.
    let programs = cargo::build(&["--workspace", "--bins"], &[])?;
    let provost = programs.get("provost").context("cargo build made no program provost")?;
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let mut child = cargo::command("cargo")
        .args(["test", "--workspace"])
        .env(name, seconds)
        .env("RUST_TEST_THREADS", (processors * TESTS_OF_PROCESSOR).to_string())
        .env("PROVOST_PROGRAMS", provost.with_file_name(""))
        .args(args)
        .stdout(Stdio::piped())
        .spawn()
        .context("starting cargo test")?;
    let mut ran = Ran::default();
    if let Some(output) = child.stdout.take() {
        let mut shown = io::stdout().lock();
        for line in BufReader::new(output).split(b'\n') {
            let line = line.context("reading what cargo test prints")?;
            shown.write_all(&line).and_then(|()| shown.write_all(b"\n")).context("printing")?;
            ran.note(&String::from_utf8_lossy(&line));
        }
    }
    Ok((ran, child.wait().context("waiting for cargo test")?))
}

impl Ran {
    /// Takes in a line, of the form `test NAME ... ok`.
    fn note(&mut self, line: &str) {
        let Some((name, result)) = line.strip_prefix("test ").and_then(|l| l.split_once(" ... "))
        else {
            return;
        };
        match result {
            "ok" => self.passed.push(name.to_owned()),
            "FAILED" => self.failed.push(name.to_owned()),
            _ => {}
        }
    }
}

//! The tests, run by cargo-nextest, each in a process of its own (`.config/nextest.toml`). What
//! failed is run again, alone: where it passes then, it is named as flaky, so that a race is seen
//! and blocks no other change.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::num::NonZero;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use quick_junit::{Report, TestCaseStatus};

use super::skips::Skips;
use super::tools;
use crate::cargo;

/// More failed tests than this are no accident of a loaded machine.
const MOST_AGAIN: usize = 3;

/// Tests that run at the same time, for each processor: most of them wait, for a time-out or a daemon.
const TESTS_OF_PROCESSOR: usize = 3;

/// Tests that take longer are listed at the end.
const SLOW: Duration = Duration::from_secs(3);

/// The profile of long groups, which repeat more (`provost_tests::repeats`).
pub(super) const LONG: &str = "long";

/// What has tests repeat more, and how much of it.
const LONG_SHARE: &str = "PROVOST_TEST_LONG";

/// The profile of tests that are run again; it writes a report of its own.
const AGAIN: &str = "again";

/// Which tests are run.
pub(super) struct Run<'a> {
    /// Of `.config/nextest.toml`.
    pub(super) profile: &'a str,
    pub(super) skips: &'a Skips,
    /// A filterset of nextest; all that the profile runs without it.
    pub(super) filter: Option<&'a str>,
    /// The kernel that nodes run on, if it is an older one.
    pub(super) kernel: Option<&'a str>,
}

/// How long a test took.
pub(super) struct TestTime {
    id: TestId,
    took: Duration,
}

/// A test, as nextest names it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct TestId {
    binary: String,
    name: String,
}

/// Builds the tests.
pub(super) fn build() -> Result<()> {
    let status = nextest(&["--no-run", "--cargo-quiet"]).status().context("starting cargo")?;
    if !status.success() {
        bail!("building the tests: {status}");
    }
    Ok(())
}

/// Runs the tests. Returns how long each took.
pub(super) fn run(run: &Run) -> Result<Vec<TestTime>> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = (processors * TESTS_OF_PROCESSOR).to_string();
    let filter = run.filter.map(|filter| ["-E", filter]);
    let args = [&["--test-threads", &threads], filter.as_slice().as_flattened()].concat();
    let (status, results) = report_of(run, run.profile, &args)?;
    let failed = &results.failed;
    if status.success() {
        return Ok(results.times);
    }
    if failed.is_empty() || failed.len() > MOST_AGAIN {
        bail!("{} tests failed ({status}): {}", failed.len(), list(failed));
    }
    println!("\n=== run again, alone: {}", list(failed));
    let each = |id: &TestId| format!("(binary_id(={}) & test(={}))", id.binary, id.name);
    let filter = failed.iter().map(each).collect::<Vec<_>>().join(" | ");
    let args = ["--test-threads", "1", "--ignore-default-filter", "-E", &filter];
    let (status, again) = report_of(run, AGAIN, &args)?;
    let ran: BTreeSet<_> = again.times.iter().map(|test| test.id.clone()).collect();
    let lost: BTreeSet<_> = failed.difference(&ran).chain(&again.failed).cloned().collect();
    if !status.success() || !lost.is_empty() {
        bail!("failed again ({status}): {}", list(&lost));
    }
    println!("\nFLAKY: failed under load, passed alone: {}", list(failed));
    Ok(results.times)
}

/// Prints the tests that took long, the longest first.
pub(super) fn print_slow(tests: &[TestTime]) {
    let mut slow: Vec<_> = tests.iter().filter(|test| test.took > SLOW).collect();
    slow.sort_by_key(|test| std::cmp::Reverse(test.took));
    let all: Duration = tests.iter().map(|test| test.took).sum();
    let (all, of) = (all.as_secs_f64(), slow.len());
    println!(
        "\n{} tests, {all:.0} s one by one; {of} of more than {} s:",
        tests.len(),
        SLOW.as_secs()
    );
    for TestTime { id, took } in slow {
        println!("{:>8.1} s  {} {}", took.as_secs_f64(), id.binary, id.name);
    }
}

/// What a report of nextest says.
#[derive(Default)]
struct Results {
    times: Vec<TestTime>,
    failed: BTreeSet<TestId>,
}

/// Runs tests with `profile` and `args`, and reads the report of it.
fn report_of(run: &Run, profile: &str, args: &[&str]) -> Result<(ExitStatus, Results)> {
    // Where nextest puts it.
    let file = cargo::target()?.join("nextest").join(profile).join("junit.xml");
    let _ = fs::remove_file(&file);
    let mut command = nextest(&["--profile", profile, "--cargo-quiet"]);
    command.args(args);
    run.skips.tell(&mut command);
    // The caller's own may be a share of it.
    if run.profile == LONG && env::var_os(LONG_SHARE).is_none() {
        command.env(LONG_SHARE, "1");
    }
    command.envs(run.kernel.map(|kernel| ("PROVOST_TEST_KERNEL", kernel)));
    let status = command.status().context("starting cargo nextest")?;
    let text = fs::read_to_string(&file)
        .with_context(|| format!("cargo nextest: {status}; reading {}", file.display()))?;
    let report = Report::deserialize_from_str(&text)
        .with_context(|| format!("reading {}", file.display()))?;
    let mut results = Results::default();
    // The setup script is no test.
    for suite in report.test_suites.iter().filter(|suite| !suite.name.starts_with('@')) {
        for case in &suite.test_cases {
            let id = TestId { binary: suite.name.to_string(), name: case.name.to_string() };
            if matches!(case.status, TestCaseStatus::NonSuccess { .. }) {
                results.failed.insert(id.clone());
            }
            results.times.push(TestTime { id, took: case.time.unwrap_or_default() });
        }
    }
    Ok((status, results))
}

fn nextest(args: &[&str]) -> Command {
    let mut command = cargo::command("cargo");
    command.args(["nextest", "run", "--workspace"]).args(args);
    tools::add_to_path(&mut command);
    command
}

fn list(tests: &BTreeSet<TestId>) -> String {
    tests.iter().map(|id| format!("{} {}", id.binary, id.name)).collect::<Vec<_>>().join(", ")
}

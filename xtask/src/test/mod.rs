//! `cargo xtask test`: what decides whether a change may go in, and a quick and a long part of it.

mod architectures;
pub(crate) mod cycles;
mod dependencies;
mod nextest;
mod reproducible;
mod shell;
mod skips;
mod steps;
pub(crate) mod tools;

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::{cargo, demo, dist, manual, notices};
use nextest::{LONG, Run};
use skips::Skips;
use steps::Steps;

/// A group of tests that repeat for up to an hour what `cargo xtask test` repeats a few times.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LongGroup {
    /// Many nodes that boot at once while daemons and databases are killed; all requests that the APIs allow
    Storms,
    /// Nodes and daemons that are killed at any point of their lives
    Kills,
    /// Steps, boots, kills and hostile scripts on kernels without the system calls since 4.18, and since 3.10
    OldKernel,
    /// Machines with SELinux enforcing, with cgroup v1 alone, and with hostile scripts in a dry run
    Machines,
    /// Machines of aarch64 and ppc64le, with pages of 4, 16 and 64 KiB, and one of x86_64 beside them
    Architectures,
    /// A year of 50 nodes by a clock that is moved: keys, restores, lost disks, nodes off for half a year
    Year,
    /// Random fleets in which something makes nodes fail, and others in which chance does
    Fleets,
    /// Two builds of one commit in two folders, whose packages have to be the same bytes
    Reproducible,
}

impl LongGroup {
    /// The kernels that its nodes run on (`provost_tests::OldKernel`); none is this machine's own.
    fn kernels(self) -> &'static [Option<&'static str>] {
        match self {
            Self::OldKernel => &[Some("4.18"), Some("3.10")],
            Self::Storms
            | Self::Kills
            | Self::Machines
            | Self::Architectures
            | Self::Year
            | Self::Fleets => &[None],
            // It runs no test.
            Self::Reproducible => &[],
        }
    }

    /// Which tests those are, for nextest.
    fn filter(self) -> &'static str {
        match self {
            Self::Storms => "package(provost-tests) & (binary(storms) + test(/^api_document::/))",
            Self::Kills => {
                "package(provost-tests) & test(/^kills::/) | package(provost-exec) & test(/^trace::orders::/)"
            }
            Self::OldKernel => {
                "package(provost-tests) & binary(it) & test(/^(old_kernels|end_to_end|twelve_stages|hostile|\
                 kills::(runs|both|jobs)|commands|guard|reboots|going_on|policies|inner_stages|check::node|tutorial)::/)"
            }
            Self::Machines => {
                "package(provost-tests) & binary(machines) & test(/^(cgroup_v1|cloud_init|escapes|hardened|selinux)::/)"
            }
            Self::Architectures => "package(provost-tests) & binary(machines) & test(/^foreign::/)",
            Self::Year => "package(provost-tests) & test(/^year::/)",
            Self::Fleets => "package(provost-store) & binary(fleets)",
            Self::Reproducible => "none()",
        }
    }
}

/// All that decides whether a change may go in.
pub(crate) fn full() -> Result<()> {
    let (mut steps, skips) = (Steps::default(), Skips::begin()?);
    let missing = install_tools(&mut steps)?;
    check_format(&mut steps)?;
    // Before the tests: machines boot it, and one of them looks at how much memory it needs. It is optimized as one
    // piece, by one processor; the other goes on with the rest.
    let node = || dist::node(&dist::Target::host()?, None);
    steps.run_beside("the node's program", node, |steps| {
        check_sources(steps)?;
        steps.run("check without xCAT", || {
            cargo::run("cargo", &["check", "--quiet", "-p", "provost", "--no-default-features"])
        })?;
        build(steps)
    })?;
    steps.run("manual", manual::check)?;
    steps.run("notices", notices::check)?;
    let mut tests = Vec::new();
    steps.run("tests", || {
        tests =
            nextest::run(&Run { profile: "default", skips: &skips, filter: None, kernel: None })?;
        Ok(())
    })?;
    steps.run("demo", || demo::run(false))?;
    steps.run("dependencies", || dependencies::check(&skips))?;
    finish(&steps, &tests, &skips, &missing)
}

/// What a change is tried with first.
pub(crate) fn quick() -> Result<()> {
    let (mut steps, skips) = (Steps::default(), Skips::begin()?);
    let missing = install_tools(&mut steps)?;
    check_format(&mut steps)?;
    check_sources(&mut steps)?;
    build(&mut steps)?;
    let mut tests = Vec::new();
    steps.run("tests", || {
        tests = nextest::run(&Run { profile: "quick", skips: &skips, filter: None, kernel: None })?;
        Ok(())
    })?;
    finish(&steps, &tests, &skips, &missing)
}

/// The long groups that are named, or all, one after the other.
pub(crate) fn long(groups: &[LongGroup]) -> Result<()> {
    let groups = if groups.is_empty() { LongGroup::value_variants() } else { groups };
    let (mut steps, skips) = (Steps::default(), Skips::begin()?);
    let missing = install_tools(&mut steps)?;
    // It has builds of its own.
    if groups != [LongGroup::Reproducible] {
        build(&mut steps)?;
    }
    let mut tests = Vec::new();
    for group in groups {
        let name = group.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned());
        if *group == LongGroup::Reproducible {
            steps.run(&name, reproducible::check)?;
            continue;
        }
        if matches!(group, LongGroup::Machines | LongGroup::Architectures) {
            steps.run("the node's program", || dist::node(&dist::Target::host()?, None))?;
        }
        for kernel in group.kernels() {
            let name = kernel.map_or_else(|| name.clone(), |kernel| format!("{name} {kernel}"));
            steps.run(&name, || {
                let filter = Some(group.filter());
                let run = Run { profile: LONG, skips: &skips, filter, kernel: *kernel };
                tests.extend(nextest::run(&run)?);
                Ok(())
            })?;
        }
    }
    finish(&steps, &tests, &skips, &missing)
}

fn install_tools(steps: &mut Steps) -> Result<Vec<&'static str>> {
    let mut missing = Vec::new();
    steps.run("tools", || {
        missing = tools::install_missing();
        Ok(())
    })?;
    Ok(missing)
}

fn check_format(steps: &mut Steps) -> Result<()> {
    steps.run("format", || cargo::run("cargo", &["fmt", "--all", "--check"]))
}

/// What is checked without running anything of ours.
fn check_sources(steps: &mut Steps) -> Result<()> {
    steps.run("lints", || {
        let args = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
        cargo::run("cargo", &args)
    })?;
    steps.run("import cycles", cycles::check)?;
    steps.run("architectures", architectures::check)?;
    steps.run("shell lints", shell::lint)
}

/// Builds programs and tests, each for itself, so that the table shows what each takes.
fn build(steps: &mut Steps) -> Result<()> {
    steps.run("build the programs", || {
        cargo::run("cargo", &["build", "--quiet", "--workspace", "--bins"])
    })?;
    steps.run("build the tests", nextest::build)
}

fn finish(
    steps: &Steps,
    tests: &[nextest::TestTime],
    skips: &Skips,
    missing: &[&str],
) -> Result<()> {
    steps.summary();
    nextest::print_slow(tests);
    skips.finish()?;
    if !missing.is_empty() {
        bail!("all that could be run passed, but these tools are missing: {}", missing.join(" "));
    }
    Ok(())
}

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::bench::{self, Benchmark};
use crate::test::LongGroup;
use crate::{demo, dist, manual, notices, release, test};

/// What a developer does with the workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Provision a node in a temporary folder, then break a script and find out why
    Demo {
        /// Leave the server running at the end
        #[arg(long)]
        keep: bool,
    },
    /// Run everything that decides whether a change may go in: format, lints, tests, the demo
    Test {
        /// Run what a change is tried with first: format, lints, unit and crate tests, the command
        /// lines' contract and one boot
        #[arg(long, conflicts_with = "long")]
        quick: bool,
        /// Run only tests that repeat much more, at most an hour each group; all groups by default
        #[arg(long, value_name = "GROUP", num_args = 0..)]
        long: Option<Vec<LongGroup>>,
    },
    /// Find files of a crate that import each other in a loop, and crates that depend on a program
    Cycles,
    /// Build static programs and packages of them
    Dist {
        /// Take the programs in this folder instead of building static ones: quick, for tests
        #[arg(long, value_name = "DIR")]
        programs: Option<PathBuf>,
        /// Where the packages go; dist/ by default
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
        /// The version of the packages, and of the programs that it builds, in place of the workspace's:
        /// to try an upgrade
        #[arg(long, value_name = "V")]
        version: Option<String>,
        /// What they are for, such as aarch64-unknown-linux-gnu: they go to dist/ARCH/. Exit status 2
        /// where the toolchain can't build for it
        #[arg(long, value_name = "T", conflicts_with = "programs")]
        target: Option<String>,
        /// Build the node's program alone, and no package
        #[arg(long, conflicts_with_all = ["programs", "to", "repo", "sign_key"])]
        node: bool,
        #[command(flatten)]
        repository: Repository,
        /// Sign SHA256SUMS with the minisign key in this file
        #[arg(long, value_name = "FILE")]
        sign_key: Option<PathBuf>,
    },
    /// Check that version, changelog, tag, recordings, pages and notices agree
    Release {
        /// Check, and release nothing: the workflow release.yml does that
        #[arg(long, required = true)]
        check: bool,
    },
    /// Write THIRD-PARTY-NOTICES.txt from the libraries in Cargo.lock
    Notices,
    /// Write docs/man, docs/completions and dist/schema from command lines, reference pages and types
    Manual,
    /// Run a benchmark
    Bench {
        #[command(subcommand)]
        name: Benchmark,
    },
}

/// Repositories of packages.
#[derive(clap::Args)]
struct Repository {
    /// Make an apt and a dnf repository of the packages in this folder
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// Build nothing: make the repositories of the packages in this folder and in those below it
    #[arg(long, value_name = "DIR", requires = "repo", conflicts_with_all = ["programs", "to", "version", "target"])]
    packages: Option<PathBuf>,
    /// Sign the repositories with this OpenPGP key of gpg
    #[arg(long, value_name = "KEY", requires = "repo")]
    gpg_key: Option<String>,
}

impl Cli {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<()> {
        match self.command {
            Command::Demo { keep } => demo::run(keep),
            Command::Test { quick: true, .. } => test::quick(),
            Command::Test { long: Some(groups), .. } => test::long(&groups),
            Command::Test { .. } => test::full(),
            Command::Cycles => test::cycles::check(),
            Command::Dist { node: true, version, target, .. } => {
                dist::node_alone(version.as_deref(), target.as_deref())
            }
            Command::Dist { programs, to, version, target, repository, sign_key, .. } => {
                let (to, version) = (to.as_deref(), version.as_deref());
                let Repository { repo, packages, gpg_key } = repository;
                let made = match packages {
                    Some(packages) => packages,
                    None => dist::run(programs.as_deref(), to, version, target.as_deref())?,
                };
                dist::sum(&made, sign_key.as_deref())?;
                match repo {
                    Some(repo) => dist::repository(&made, &repo, gpg_key.as_deref()),
                    None => Ok(()),
                }
            }
            Command::Release { .. } => release::check(),
            Command::Notices => notices::write(),
            Command::Manual => manual::write(),
            Command::Bench { name } => bench::run(name),
        }
    }
}

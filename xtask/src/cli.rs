use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::bench::{self, Benchmark};
use crate::{demo, dist, manual, test};

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
        /// Run only the tests that boot virtual machines under QEMU; takes root
        #[arg(long)]
        vm: bool,
    },
    /// Find files of a crate that import each other in a loop
    Cycles,
    /// Build static programs and packages of them
    Dist {
        /// Take the programs in this folder instead of building static ones: quick, for tests
        #[arg(long, value_name = "DIR")]
        programs: Option<PathBuf>,
        /// Where the packages go; dist/ by default
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
    /// Write docs/man, docs/completions and dist/schema from command lines, reference pages and types
    Manual,
    /// Run a benchmark
    Bench {
        #[command(subcommand)]
        name: Benchmark,
    },
}

impl Cli {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<()> {
        match self.command {
            Command::Demo { keep } => demo::run(keep),
            Command::Test { vm: false } => test::run(),
            Command::Test { vm: true } => test::machines::run(),
            Command::Cycles => test::cycles::check(),
            Command::Dist { programs, to } => dist::run(programs.as_deref(), to.as_deref()),
            Command::Manual => manual::write(),
            Command::Bench { name } => bench::run(name),
        }
    }
}

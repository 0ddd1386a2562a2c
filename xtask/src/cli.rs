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
    /// Build static programs and packages into dist/
    Dist,
    /// Write docs/man and docs/completions from the command lines
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
            Command::Dist => dist::run(),
            Command::Manual => manual::write(),
            Command::Bench { name } => bench::run(name),
        }
    }
}

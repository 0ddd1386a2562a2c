//! What a developer does with the workspace, as `cargo xtask COMMAND`.

mod bench;
mod cargo;
mod cli;
mod demo;
mod dist;
mod manual;
mod notices;
mod release;
mod test;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let Err(error) = cli::Cli::parse().run() else { return ExitCode::SUCCESS };
    eprintln!("error: {error:#}");
    // As of a wrong command line.
    if error.is::<dist::NoTarget>() { ExitCode::from(2) } else { ExitCode::FAILURE }
}

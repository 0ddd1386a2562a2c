//! What a developer does with the workspace, as `cargo xtask COMMAND`.

mod bench;
mod cargo;
mod cli;
mod demo;
mod dist;
mod manual;
mod test;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Err(error) = cli::run(&args) else { return ExitCode::SUCCESS };
    eprintln!("error: {error:#}");
    ExitCode::FAILURE
}

//! The management node's daemon.

use std::process::ExitCode;

fn main() -> ExitCode {
    provostd::main()
}

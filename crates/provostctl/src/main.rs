//! The admin's command.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Only one provider is built in, and it is the first to be installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    provostctl::main()
}

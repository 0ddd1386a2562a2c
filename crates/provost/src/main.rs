//! The node's runner: fetches what is published for this node, verifies it, runs it, records what
//! happens and reports it.

mod cli;
mod console;
mod discover;
mod failure;
mod fetch;
mod http;
mod inspect;
mod install;
mod messages;
mod record;
mod report;
mod resolve;
mod runner;
mod secrets;
mod settings;

fn main() -> std::process::ExitCode {
    // Before any TLS: where no provider is installed, rustls panics.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        console::complain("TLS was set up twice; this is a defect of provost");
    }
    cli::main().into()
}

//! The node's command.

fn main() -> std::process::ExitCode {
    provost::main()
}

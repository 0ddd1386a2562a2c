//! `provost try`, which needs the admin's command: this one can't read a `site.toml`.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

use provost_node::failure::Failure;

/// The admin's command.
const PROGRAM: &str = "provostctl";

/// Becomes `provostctl try`: the one next to this program, else the one on PATH. Returns why it can't.
pub(super) fn attempt(args: &[OsString]) -> Failure {
    let mut neighbour = std::env::current_exe().unwrap_or_default();
    neighbour.set_file_name(PROGRAM);
    let program = if neighbour.exists() { neighbour } else { PROGRAM.into() };
    let e = Command::new(&program).arg("try").args(args).exec();
    let message = format!("running {}", program.display());
    let hint = match e.kind() {
        ErrorKind::NotFound => {
            "install provostctl, which reads site.toml: the package provost-server"
        }
        _ => "check that this user may run it",
    };
    Failure::config(message, hint).caused_by(e)
}

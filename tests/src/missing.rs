//! What a test can't do without: each function returns what is missing here, as the reason of a skip, or none.

use std::process::{Command, Stdio};

use rustix::process::geteuid;

use crate::OldKernel;

/// A program in a folder of `PATH`, of the Debian package `package`.
pub fn program(name: &str, package: &str) -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_here = std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    (!is_here).then(|| format!("no {name} (Debian's {package})"))
}

/// Root's rights; `what` is what only root can do.
pub fn root(what: &str) -> Option<String> {
    (!geteuid().is_root()).then(|| format!("only root can {what}"))
}

/// The right to trace the commands of scripts.
pub fn tracing() -> Option<String> {
    let is_old = OldKernel::of_all_nodes() == Some(OldKernel::Linux3_10);
    is_old
        .then(|| "Linux 3.10 can't trace commands".to_owned())
        .or_else(|| root("trace the commands of scripts"))
}

/// The right to run programs as other users.
pub fn other_users() -> Option<String> {
    unless(&["setpriv", "--reuid=65534", "--clear-groups", "true"], "become another user")
}

/// The right to mount in a namespace of its own.
pub fn mounts() -> Option<String> {
    unless(&["unshare", "--mount", "mount", "--bind", "/etc", "/etc"], "mount file systems")
}

/// The right to make device files.
pub fn devices() -> Option<String> {
    let make = "d=$(mktemp -d) && mknod \"$d/null\" c 1 3; made=$?; rm -r \"$d\"; exit $made";
    unless(&["sh", "-c", make], "make device files")
}

/// The right to make networks.
pub fn networks() -> Option<String> {
    unless(&["unshare", "--net", "ip", "link", "set", "lo", "up"], "make networks")
}

/// The right to make namespaces of processes.
pub fn process_namespaces() -> Option<String> {
    unless(&["unshare", "--mount", "--pid", "--fork", "true"], "make namespaces of processes")
}

/// User namespaces, which some machines give to root alone, or not at all.
pub fn user_namespaces() -> Option<String> {
    let make = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "true"];
    (!succeeds(&make)).then(|| "no user namespaces can be made".to_owned())
}

/// A reason unless `command` succeeds, which shows whether this process may do `what`.
fn unless(command: &[&str], what: &str) -> Option<String> {
    let why = || format!("only root with all privileges can {what}");
    (!succeeds(command)).then(why)
}

fn succeeds(command: &[&str]) -> bool {
    let mut tried = Command::new(command[0]);
    let tried = tried.args(&command[1..]).stdin(Stdio::null()).stdout(Stdio::null());
    tried.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

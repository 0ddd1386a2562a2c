//! What the kernel says of a process in `/proc/PID/status`.

use std::ffi::CStr;
use std::path::PathBuf;

use rustix::process::Pid;

/// A keeper's name, as `ps` shows it.
pub(crate) const KEEPER: &CStr = c"provost-keeper";

/// Whether `pid` is a keeper that lives.
pub(crate) fn is_keeper(pid: i32) -> bool {
    look(pid).is_some_and(|(name, _, alive)| alive && name.as_bytes() == KEEPER.to_bytes())
}

/// The name and the parent of a process, and whether it lives.
pub(crate) fn look(pid: i32) -> Option<(String, i32, bool)> {
    let status = status(pid)?;
    let (name, parent) = (field(&status, "Name:")?, field(&status, "PPid:")?.parse().ok()?);
    Some((name.to_owned(), parent, !field(&status, "State:")?.starts_with(['Z', 'X'])))
}

/// The process to which a thread belongs.
pub(crate) fn process_of(thread: i32) -> Option<i32> {
    field(&status(thread)?, "Tgid:")?.parse().ok()
}

/// Whether a process runs itself, and waits for nothing.
pub(crate) fn is_running(pid: i32) -> bool {
    status(pid).is_some_and(|s| field(&s, "State:").is_some_and(|state| state.starts_with('R')))
}

/// Whether a process is stopped, and not by the name that it has while that is wanted.
pub(crate) fn is_stopped(pid: Pid, wanted: &CStr) -> bool {
    status(pid.as_raw_nonzero().get()).is_some_and(|status| {
        field(&status, "State:").is_some_and(|state| state.starts_with('T'))
            && field(&status, "Name:").map(str::as_bytes) != Some(wanted.to_bytes())
    })
}

/// The pipe that a process has as this descriptor, if it is one: its name in `/proc`.
pub(crate) fn pipe(pid: i32, descriptor: u32) -> Option<PathBuf> {
    let target = std::fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).ok()?;
    target.to_string_lossy().starts_with("pipe:").then_some(target)
}

/// What the kernel says of a process. Not by `/proc/PID/stat`: to read that of a process that
/// is about to exec is to wait for it (`exec_update_lock`), on a busy machine for seconds.
pub(crate) fn status(pid: i32) -> Option<String> {
    let status = std::fs::read(format!("/proc/{pid}/status")).ok()?;
    Some(String::from_utf8_lossy(&status).into_owned())
}

/// One field of it.
pub(crate) fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

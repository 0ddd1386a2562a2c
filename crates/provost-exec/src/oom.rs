//! The runner is the last that should go when memory runs out; its scripts aren't.

use std::ffi::CStr;

const FILE: &CStr = c"/proc/self/oom_score_adj";
/// Low, but not so low that the machine would rather panic.
const PROTECTED: i32 = -500;

/// Protects this process, where it may. Returns what its scripts are to have instead. Whoever
/// starts it with less has seen to that already.
pub(crate) fn protect() -> Option<Vec<u8>> {
    let path = FILE.to_str().ok()?;
    let before = std::fs::read_to_string(path).ok()?;
    if before.trim().parse::<i32>().ok()? <= PROTECTED {
        return None;
    }
    std::fs::write(path, PROTECTED.to_string()).ok()?;
    Some(before.into_bytes())
}

/// Gives the value back, between fork and exec: system calls only.
pub(crate) fn restore(value: &[u8]) {
    use rustix::fs::{Mode, OFlags};
    if let Ok(file) = rustix::fs::open(FILE, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()) {
        // The file was writable a moment ago; if it isn't now, the script is only safer.
        let _ = rustix::io::write(&file, value);
    }
}

//! When memory runs out, the kernel should kill scripts before the runner.

const FILE: &str = "/proc/self/oom_score_adj";
/// Low, but not so low that the machine would rather panic.
const PROTECTED: i32 = -500;

/// Protects this process, where it may. A lower score was set by the caller and stays.
pub(crate) fn protect() {
    let before = std::fs::read_to_string(FILE).ok();
    if before.and_then(|before| before.trim().parse::<i32>().ok()).is_some_and(|s| s > PROTECTED) {
        // Not every caller may.
        let _ = std::fs::write(FILE, PROTECTED.to_string());
    }
}

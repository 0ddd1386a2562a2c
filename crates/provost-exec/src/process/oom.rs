//! The runner is the last that should go when memory runs out; its scripts aren't.

const FILE: &str = "/proc/self/oom_score_adj";
/// Low, but not so low that the machine would rather panic.
const PROTECTED: i32 = -500;

/// Protects this process, where it may. Whoever starts it with less has seen to that already.
pub(crate) fn protect() {
    let before = std::fs::read_to_string(FILE).ok();
    if before.and_then(|before| before.trim().parse::<i32>().ok()).is_some_and(|s| s > PROTECTED) {
        // Not every caller may.
        let _ = std::fs::write(FILE, PROTECTED.to_string());
    }
}

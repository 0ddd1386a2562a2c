use std::path::PathBuf;

/// The mount points. What is below them, such as a script's share, must not be removed. None where
/// they aren't known.
pub fn mounts() -> Option<Vec<PathBuf>> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    // The fifth field is where; a blank in it is written in octal: proc(5).
    let at = |line: &str| Some(PathBuf::from(line.split(' ').nth(4)?.replace("\\040", " ")));
    Some(mounts.lines().filter_map(at).collect())
}

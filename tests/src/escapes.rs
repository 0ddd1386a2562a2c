//! Scripts that try to get out of a sandbox, a file each in `tests/escapes`.

use std::fs;
use std::path::Path;

/// How the second line of one begins that would change more than namespaces hold, if there were a hole.
const MACHINE: &str = "# Only in a machine of its own";

/// A script, and what it tries is its name.
pub struct Escape {
    /// The file's name.
    pub name: String,
    /// The script.
    pub text: String,
    /// Whether it may run under an emulator only, and never on the machine that runs the tests.
    pub needs_machine: bool,
}

/// All of them, by name.
pub fn escapes() -> Vec<Escape> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("escapes");
    let escape = |entry: fs::DirEntry| {
        let text = fs::read_to_string(entry.path()).unwrap();
        let needs_machine = text.lines().nth(1).is_some_and(|line| line.starts_with(MACHINE));
        let name = entry.file_name().into_string().unwrap();
        Escape { name, text, needs_machine }
    };
    let mut all: Vec<Escape> =
        fs::read_dir(folder).unwrap().map(|entry| escape(entry.unwrap())).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(all.len() >= 40, "there are {}", all.len());
    all
}

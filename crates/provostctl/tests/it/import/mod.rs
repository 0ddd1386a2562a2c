//! `provostctl import`.

mod ansible;
mod warewulf;
mod xcat;
mod xcat_files;

use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Imports these files, which it writes into the folder.
fn import_from(system: &str, folder: &TempDir, files: &[(&str, &str)], more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_provostctl"));
    command.args(["import", system]).args(more).current_dir(folder.path());
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
        command.arg(name);
    }
    command.output().unwrap()
}

//! The packages of node and management node, made of the programs under test.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Chroot, Out, program};

/// The packages, in a folder that tests share.
pub struct Packages(PathBuf);

impl Packages {
    /// Makes them, as `cargo xtask dist` does, unless a test of the same run of nextest has made them.
    #[track_caller]
    pub fn make() -> Self {
        Self::made(program("packages"), &[])
    }

    /// The same, of another version.
    #[track_caller]
    pub fn make_version(version: &str) -> Self {
        Self::made(program(&format!("packages-{version}")), &["--version", version])
    }

    #[track_caller]
    fn made(folder: PathBuf, more: &[&str]) -> Self {
        // One process makes them; the others wait.
        let lock = File::create(folder.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        let (note, run) = (folder.join("made-by"), std::env::var("NEXTEST_RUN_ID").ok());
        if run.is_some() && run == fs::read_to_string(&note).ok() {
            return Self(folder);
        }
        let _ = fs::remove_dir_all(&folder);
        let mut command = Command::new(program("xtask"));
        command.arg("dist").arg("--programs").arg(program("")).arg("--to").arg(&folder).args(more);
        Out::from(command.output().unwrap()).expect(0);
        fs::write(note, run.unwrap_or_default()).unwrap();
        Self(folder)
    }

    /// Runs `cargo xtask dist` on these packages, as a release does once they are made.
    #[track_caller]
    pub fn dist(&self, args: &[&str], env: (&str, &Path)) {
        let mut command = Command::new(program("xtask"));
        command.arg("dist").arg("--packages").arg(&self.0).args(args).env(env.0, env.1);
        Out::from(command.output().unwrap()).expect(0);
    }

    /// The folder of packages, tar balls and SHA256SUMS.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Copies the Debian packages to the folder `to` of a root, as an admin does.
    pub fn copy_to(&self, root: &Chroot, to: &str) {
        self.copy_format_to(root, to, "deb");
    }

    /// The same with those whose names end in `.format`.
    pub fn copy_format_to(&self, root: &Chroot, to: &str, format: &str) {
        for entry in fs::read_dir(&self.0).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == format) {
                fs::copy(&path, root.path(to).join(path.file_name().unwrap())).unwrap();
            }
        }
    }
}

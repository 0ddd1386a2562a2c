//! The packages of node and management node, made of the programs under test.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Chroot, Out, program};

/// The packages, in a folder that tests share.
pub struct Packages(PathBuf);

impl Packages {
    /// A version before this one, which [`Packages::make_old`] gives the same programs: it has as many bytes.
    pub const OLD: &str = "0.1.9";

    /// Makes them, as `cargo xtask dist` does, unless a test of the same run of nextest has made them.
    #[track_caller]
    pub fn make() -> Self {
        Self::made("packages", || program(""), &[])
    }

    /// The same of version [`Packages::OLD`], which their programs say that they have.
    #[track_caller]
    pub fn make_old() -> Self {
        Self::made("packages-old", old_programs, &["--version", Self::OLD])
    }

    #[track_caller]
    fn made(name: &str, programs: impl FnOnce() -> PathBuf, more: &[&str]) -> Self {
        let folder = program(name);
        // One process makes them; the others wait.
        let lock = File::create(folder.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        let (note, run) = (folder.join("made-by"), std::env::var("NEXTEST_RUN_ID").ok());
        if run.is_some() && run == fs::read_to_string(&note).ok() {
            return Self(folder);
        }
        let _ = fs::remove_dir_all(&folder);
        let mut command = Command::new(program("xtask"));
        command.arg("dist").arg("--programs").arg(programs()).arg("--to").arg(&folder).args(more);
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

/// The programs of version [`Packages::OLD`].
fn old_programs() -> PathBuf {
    let folder = program("programs-old");
    fs::create_dir_all(&folder).unwrap();
    for name in ["provost", "provostd", "provostctl"] {
        write_as(Packages::OLD, &program(name), &folder.join(name));
    }
    folder
}

/// Writes a program with another version in its text, which has to be as long as its own: to build it takes minutes.
pub(crate) fn write_as(version: &str, program: &Path, to: &Path) {
    let own = env!("CARGO_PKG_VERSION");
    assert_eq!(version.len(), own.len(), "let {version} be as long as {own}");
    let replace = format!("s/{}/{version}/g", own.replace('.', "\\."));
    let mut sed = Command::new("sed");
    sed.env("LC_ALL", "C").arg(&replace).arg(program).stdout(File::create(to).unwrap());
    assert!(sed.status().unwrap().success(), "sed {replace} {}", program.display());
    fs::set_permissions(to, PermissionsExt::from_mode(0o755)).unwrap();
}

//! The programs of a machine, which a test upgrades as packages do.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::packages::write_as;
use crate::{PROGRAMS, program};

/// Where it has those that were built.
const BUILT: &str = "built";

/// A folder of programs, each of which says that it has the version that was installed last.
pub struct InstalledPrograms(PathBuf);

impl InstalledPrograms {
    /// All of them, of this version. [`FakeClock::enter`](crate::FakeClock::enter) makes them the programs under test.
    pub fn new(version: &str) -> Self {
        let inherited = std::env::var_os(PROGRAMS).map(PathBuf::from);
        if let Some(folder) = inherited.filter(|folder| folder.join(BUILT).exists()) {
            return Self(folder);
        }
        let folder = TempDir::new().unwrap().keep();
        symlink(program(""), folder.join(BUILT)).unwrap();
        let programs = Self(folder);
        programs.install(&["provost", "provostd", "provostctl"], version);
        programs
    }

    /// Puts these programs of a version in the place of those that were there. What runs goes on with the old ones.
    pub fn install(&self, names: &[&str], version: &str) {
        for name in names {
            let new = self.0.join(format!("{name}.new"));
            write_as(version, &self.0.join(BUILT).join(name), &new);
            fs::rename(new, self.0.join(name)).unwrap();
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }
}

impl Drop for InstalledPrograms {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

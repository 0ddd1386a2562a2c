use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::{InstalledPrograms, PROGRAMS, skip};

/// The file that says by how much the clock differs (faketime(1)).
const FILE: &str = "FAKETIME_TIMESTAMP_FILE";

/// Debian's libfaketime: it gives a process another wall clock, and leaves the monotonic one.
pub struct Faketime(PathBuf);

impl Faketime {
    /// It skips the test where there is none.
    pub fn new() -> Self {
        // Its folder is named after the machine's kind.
        let folders = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
        let mut files = folders.map(|kind| kind.path().join("faketime/libfaketimeMT.so.1"));
        match files.find(|file| file.exists()) {
            Some(file) => Self(file),
            None => skip("no libfaketime (Debian's libfaketime)"),
        }
    }

    /// Has a command load it. Its environment says which clock it is to have (faketime(1)).
    pub fn load<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("LD_PRELOAD", &self.0).env("DONT_FAKE_MONOTONIC", "1")
    }
}

impl Default for Faketime {
    fn default() -> Self {
        Self::new()
    }
}

/// The clock of this process and of all that it starts, which the test moves.
pub struct FakeClock(PathBuf);

impl FakeClock {
    /// Runs this program anew, so that it has such a clock, and these programs under test. Everything before it is done
    /// twice.
    pub fn enter(faketime: &Faketime, programs: &InstalledPrograms) -> Self {
        if let Some(file) = std::env::var_os(FILE) {
            return Self(file.into());
        }
        let (_, file) = tempfile::NamedTempFile::new().unwrap().keep().unwrap();
        let clock = Self(file);
        clock.set_day(0);
        let mut again = Command::new(std::env::current_exe().unwrap());
        let again = faketime.load(again.args(std::env::args_os().skip(1)));
        // Each look at the clock reads the file; nothing is left in shared memory where a program is killed.
        let again = again.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DISABLE_SHM", "1");
        let again = again.env(PROGRAMS, programs.folder());
        panic!("{}", again.env(FILE, &clock.0).exec());
    }

    /// Moves the clock to `day` days after today.
    pub fn set_day(&self, day: u32) {
        let new = self.0.with_extension("new");
        std::fs::write(&new, format!("+{day}d\n")).unwrap();
        std::fs::rename(new, &self.0).unwrap();
    }
}

impl Drop for FakeClock {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

use std::path::PathBuf;
use std::process::Command;

use crate::skip;

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

//! The Debian packages of node and management node, made of the programs under test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Chroot, Out, program};

/// The packages, in a folder of their own.
pub struct Packages(PathBuf);

impl Packages {
    /// Makes them in `folder`, as `cargo xtask dist` does.
    #[track_caller]
    pub fn make(folder: &Path) -> Self {
        let mut command = Command::new(program("xtask"));
        command.arg("dist").arg("--programs").arg(program("")).arg("--to").arg(folder);
        Out::from(command.output().unwrap()).expect(0);
        Self(folder.to_owned())
    }

    /// Copies them to the folder `to` of a root, as an admin does.
    pub fn copy_to(&self, root: &Chroot, to: &str) {
        for entry in fs::read_dir(&self.0).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "deb") {
                fs::copy(&path, root.path(to).join(path.file_name().unwrap())).unwrap();
            }
        }
    }
}

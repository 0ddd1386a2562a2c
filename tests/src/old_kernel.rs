//! Kernels of before.

use std::fmt::{Display, Formatter, Result};

use crate::program;

/// The name of the variable that says on which kernel nodes run; `cargo xtask test --long old-kernel` sets it.
const VARIABLE: &str = "PROVOST_TEST_KERNEL";

/// A kernel that knows no system call that is newer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldKernel {
    /// Of Enterprise Linux 8.
    Linux4_18,
    /// Of Enterprise Linux 7.
    Linux3_10,
}

impl OldKernel {
    /// The one that all nodes are to run on, if that was asked for.
    pub fn of_all_nodes() -> Option<Self> {
        let kernel = std::env::var(VARIABLE).ok()?;
        let all = [Self::Linux4_18, Self::Linux3_10];
        Some(all.into_iter().find(|k| k.to_string() == kernel).unwrap())
    }

    /// What a program is started by, which is given it as its last arguments.
    pub fn by(self) -> [String; 2] {
        [program("old-kernel").display().to_string(), self.to_string()]
    }
}

impl Display for OldKernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Linux4_18 => "4.18",
            Self::Linux3_10 => "3.10",
        })
    }
}

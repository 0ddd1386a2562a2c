//! What this machine was told by others: its kernel's command line, what xCAT left on it, and
//! its DHCP leases. They are there or not, whole or not; what makes no sense says nothing.

pub mod kernel;
pub mod lease;
pub mod xcat;

use std::path::{Path, PathBuf};

pub use kernel::KernelLine;
pub use lease::Lease;
pub use xcat::{XcatInfo, host, host_and_port};

/// The longest file that is read here, in bytes; a longer one is something else.
const MOST: u64 = 1 << 20;

/// The machine that is asked.
pub struct Machine {
    root: PathBuf,
}

impl Machine {
    /// This one.
    pub fn here() -> Self {
        Self { root: "/".into() }
    }

    #[cfg(test)]
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// The kernel's command line. Empty where there is no /proc, as in some chroots.
    pub fn kernel_line(&self) -> KernelLine {
        let line = read(&self.root.join("proc/cmdline")).unwrap_or_default();
        KernelLine::new(&String::from_utf8_lossy(&line))
    }

    /// What xCAT's own scripts noted in `folder` when they installed this root.
    pub fn xcatinfo(&self, folder: &Path) -> Option<XcatInfo> {
        let path = self.root.join(folder.strip_prefix("/").unwrap_or(folder)).join("xcatinfo");
        let text = read(&path)?;
        Some(XcatInfo::parse(path, &String::from_utf8_lossy(&text)))
    }

    /// The newest DHCP lease that still holds and names a server.
    pub fn lease(&self) -> Option<Lease> {
        lease::newest(&self.root, jiff::Timestamp::now())
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

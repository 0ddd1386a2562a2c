//! Configuration that others left on this machine: the kernel's command line, xCAT's files and DHCP
//! leases. Any of them may be missing or damaged; what can't be parsed is ignored.

mod kernel;
mod lease;
mod read;
mod xcat;

use std::path::{Path, PathBuf};

use read::read;

pub use kernel::KernelLine;
pub use lease::Lease;
pub use xcat::{XcatInfo, host, host_and_port};

/// The machine whose files are read.
pub struct Machine {
    root: PathBuf,
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        Self { root: "/".into() }
    }

    /// A machine whose files are below `root`.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// The kernel's command line. Empty where there is no /proc, as in some chroots.
    pub fn kernel_line(&self) -> KernelLine {
        let line = read(&self.root.join("proc/cmdline")).unwrap_or_default();
        KernelLine::new(&String::from_utf8_lossy(&line))
    }

    /// The file `xcatinfo` in `folder`, which xCAT's scripts wrote when they installed this root.
    pub fn xcatinfo(&self, folder: &Path) -> Option<XcatInfo> {
        let path = self.root.join(folder.strip_prefix("/").unwrap_or(folder)).join("xcatinfo");
        let text = read(&path)?;
        Some(XcatInfo::parse(path, &String::from_utf8_lossy(&text)))
    }

    /// The newest DHCP lease that hasn't expired and names a server.
    pub fn lease(&self) -> Option<Lease> {
        lease::newest(&self.root, jiff::Timestamp::now())
    }
}

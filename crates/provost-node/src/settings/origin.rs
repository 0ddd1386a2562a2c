use std::fmt;
use std::path::PathBuf;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An option of the command line.
    Flag(&'static str),
    /// A variable of the environment.
    Environment(String),
    /// The kernel's command line.
    Kernel,
    /// An argument of xCAT's on the kernel's command line.
    KernelOfXcat(&'static str),
    /// A configuration file.
    File(PathBuf),
    /// The file `xcatinfo`, which xCAT writes into a root that it installs.
    XcatInfo(PathBuf),
    /// The value of this other key.
    Inferred(&'static str),
    /// A DHCP client's file of its lease.
    Lease(PathBuf),
    /// One origin, and another one whose values were added.
    Then(Box<[Self; 2]>),
    /// The machine's own name.
    HostName,
    /// The program itself.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Kernel => f.write_str("kernel command line"),
            Self::KernelOfXcat(name) => write!(f, "kernel command line, {name}="),
            Self::File(path) | Self::XcatInfo(path) => write!(f, "file {}", path.display()),
            Self::Inferred(key) => write!(f, "inferred from {key}"),
            Self::Lease(path) => write!(f, "DHCP lease {}", path.display()),
            Self::Then(both) => write!(f, "{}, then {}", both[0], both[1]),
            Self::HostName => f.write_str("host name"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value in a file that has no effect.
pub struct Overridden {
    /// Its key.
    pub key: String,
    /// The file.
    pub file: Origin,
    /// The origin that counts more.
    pub by: Origin,
}

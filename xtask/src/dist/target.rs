//! What programs are built for: a target of the toolchain, and the architecture's names in packages.

use std::path::{Path, PathBuf};
use std::{fmt, fs};

use anyhow::{Context, Result, bail};

use crate::cargo;

/// The ends of the triples: glibc's, whose static binaries also run on musl systems.
const SYSTEM: &str = "-unknown-linux-gnu";

/// An architecture that nodes have.
struct Architecture {
    /// As uname(1) calls it, and RPM.
    name: &'static str,
    /// As the toolchain calls it.
    rust: &'static str,
    /// As Debian calls it.
    deb: &'static str,
    /// The binary logarithm of the size of the largest pages that its kernels have, in bytes. A program
    /// made for larger pages than the kernel's works; one made for smaller ones doesn't.
    log_page: &'static str,
    /// The most bytes that the node's program may have, which a node fetches into memory at every diskless boot.
    /// Power's instructions take more room.
    largest_node: u64,
}

const ARCHITECTURES: [Architecture; 3] = [
    Architecture {
        name: "x86_64",
        rust: "x86_64",
        deb: "amd64",
        log_page: "12",
        largest_node: 8_000_000,
    },
    Architecture {
        name: "aarch64",
        rust: "aarch64",
        deb: "arm64",
        log_page: "16",
        largest_node: 8_000_000,
    },
    Architecture {
        name: "ppc64le",
        rust: "powerpc64le",
        deb: "ppc64el",
        log_page: "16",
        largest_node: 10_000_000,
    },
];

/// A target of the toolchain.
#[derive(Clone)]
pub(crate) struct Target {
    pub(super) triple: String,
    architecture: &'static Architecture,
    /// Whether this machine runs its programs.
    pub(super) is_host: bool,
}

/// A target that nothing can be built for here.
#[derive(Debug)]
pub(crate) struct NoTarget {
    triple: String,
    reason: String,
}

impl fmt::Display for NoTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "can't build for {:?}: {}", self.triple, self.reason)
    }
}

impl std::error::Error for NoTarget {}

impl Target {
    /// This machine's own.
    pub(crate) fn host() -> Result<Self> {
        Self::new(&host()?)
    }

    /// The one with this name. Fails with [`NoTarget`] where the toolchain lacks it.
    pub(super) fn named(triple: &str) -> Result<Self> {
        let target = Self::new(triple)?;
        let no_target = |reason| NoTarget { triple: triple.to_owned(), reason };
        let folder = cargo::command("rustc")
            .args(["--print", "target-libdir", "--target", triple])
            .output()
            .context("starting rustc")?;
        let folder = String::from_utf8_lossy(&folder.stdout).trim().to_owned();
        let is_there = |name: &str| name.starts_with("libstd-") && name.ends_with(".rlib");
        let has_std = fs::read_dir(&folder)
            .is_ok_and(|files| files.flatten().any(|f| is_there(&f.file_name().to_string_lossy())));
        if !has_std {
            let reason = format!(
                "this toolchain has no standard library for it; install it, such as by: rustup target add {triple}"
            );
            return Err(no_target(reason).into());
        }
        let linker = target.linker();
        let is_given = std::env::var_os(target.linker_variable()).is_some();
        if !(target.is_host || is_given || cargo::is_there(&linker)) {
            return Err(no_target(format!("there is no linker {linker}")).into());
        }
        Ok(target)
    }

    fn new(triple: &str) -> Result<Self> {
        let rust = triple.strip_suffix(SYSTEM).unwrap_or_default();
        let known = ARCHITECTURES.iter().find(|known| known.rust == rust);
        let architecture = known.ok_or_else(|| {
            let known = ARCHITECTURES.map(|known| format!("{}{SYSTEM}", known.rust)).join(", ");
            NoTarget { triple: triple.to_owned(), reason: format!("expected one of {known}") }
        })?;
        Ok(Self { triple: triple.to_owned(), architecture, is_host: triple == host()? })
    }

    /// The folder below `dist` of what is built for it: another architecture's programs aren't taken for
    /// this machine's own.
    pub(super) fn folder(&self) -> PathBuf {
        let dist = cargo::root().join("dist");
        if self.is_host { dist } else { dist.join(self.architecture.name) }
    }

    /// What cargo and the build scripts of C libraries must know. Without it jemalloc takes the page size
    /// of the machine that builds.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let mut variables =
            vec![("JEMALLOC_SYS_WITH_LG_PAGE".to_owned(), self.architecture.log_page.to_owned())];
        let linker = self.linker_variable();
        if !self.is_host && std::env::var_os(&linker).is_none() {
            variables.push((linker, self.linker()));
        }
        variables
    }

    /// The name of a cross compiler, as Debian and Fedora have it.
    fn linker(&self) -> String {
        self.triple.replace("-unknown", "") + "-gcc"
    }

    fn linker_variable(&self) -> String {
        format!("CARGO_TARGET_{}_LINKER", self.triple.replace('-', "_").to_uppercase())
    }

    /// The most bytes that the node's program may have.
    pub(super) fn largest_node(&self) -> u64 {
        self.architecture.largest_node
    }

    /// The architecture, as Debian calls it.
    pub(super) fn deb(&self) -> &'static str {
        self.architecture.deb
    }

    /// The architecture, as RPM calls it.
    pub(super) fn rpm(&self) -> &'static str {
        self.architecture.name
    }
}

fn host() -> Result<String> {
    let about = output(Path::new("rustc"), &["-vV"])?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}

/// What a program prints.
pub(super) fn output(program: &Path, args: &[&str]) -> Result<String> {
    let name = program.display();
    let out = cargo::command(&program.to_string_lossy())
        .args(args)
        .output()
        .with_context(|| format!("starting {name}"))?;
    if !out.status.success() {
        bail!("{name} {}: {}", args.join(" "), out.status);
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_built_for_is_named_in_one_line() {
        for triple in ["nonsense", "aarch64-apple-darwin"] {
            let error = Target::named(triple).err().map(|e| (e.is::<NoTarget>(), e.to_string()));
            let (is_refused, line) = error.unwrap_or_default();
            assert!(is_refused && line.contains(triple) && line.lines().count() == 1, "{line}");
        }
        let host = Target::host().map(|target| (target.is_host, target.folder().ends_with("dist")));
        assert_eq!(host.ok(), Some((true, true)));
    }
}

//! What machines of other architectures boot: Debian's kernel and busybox of that architecture, and the node's program,
//! built for it as it is given away. Debian 13 has the cross toolchains; its root is made once, and kept.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use provost_tests::Cluster;

use crate::emulator::{AARCH64, Emulator, PPC64LE, X86_64};
use crate::image::{Image, made, provost, sh, top};
use crate::machine::Machine;

const MAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machines/make-foreign-image.sh");
const BUILD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machines/build-foreign.sh");

/// A kernel of an architecture.
pub(crate) struct Foreign {
    pub(crate) emulator: Emulator,
    /// The architecture, as uname(1) calls it.
    pub(crate) name: &'static str,
    /// What the node's program is built for, as the toolchain calls it.
    target: &'static str,
    /// The end of the name of the kernel's package.
    kernel: &'static str,
    /// The size of its pages.
    pub(crate) page_kib: &'static str,
}

pub(crate) const OWN: Foreign = Foreign {
    emulator: X86_64,
    name: "x86_64",
    target: "x86_64-unknown-linux-gnu",
    kernel: "cloud-amd64",
    page_kib: "4",
};

pub(crate) const ARM: Foreign = Foreign {
    emulator: AARCH64,
    name: "aarch64",
    target: "aarch64-unknown-linux-gnu",
    kernel: "cloud-arm64",
    page_kib: "4",
};

pub(crate) const ARM_16K: Foreign = Foreign { kernel: "arm64-16k", page_kib: "16", ..ARM };

pub(crate) const POWER: Foreign = Foreign {
    emulator: PPC64LE,
    name: "ppc64le",
    target: "powerpc64le-unknown-linux-gnu",
    kernel: "powerpc64le-64k",
    page_kib: "64",
};

impl Foreign {
    /// Switches on the machine of `node`, which boots at once and then has a login.
    pub(crate) fn boot(&self, cluster: &Cluster, node: &str, settings: &str) -> Machine {
        let image = Image::with_program(cluster, node, &self.program());
        image.add("etc/provost/provost.d/test.toml", settings.as_bytes(), 0o644);
        let folder = folder().join(self.kernel);
        let (kernel, root) = (folder.join("vmlinuz"), folder.join("root.cpio.zst"));
        image.boot_by(&self.emulator, &kernel, &root)
    }

    /// The node's program of today's sources.
    fn program(&self) -> PathBuf {
        let name = self.name;
        if name == std::env::consts::ARCH {
            return provost();
        }
        // The root has no network.
        let fetch = "cd \"$1\" && cargo fetch --quiet --locked";
        sh(fetch, &[top()]);
        let log = folder().join(format!("{name}.log"));
        let to = File::create(&log).unwrap();
        let built = Command::new("bash")
            .args([Path::new(BUILD), &folder().join("root"), top(), &registry()])
            .arg(self.target)
            .stdin(Stdio::null())
            .stdout(to.try_clone().unwrap())
            .stderr(to)
            .status()
            .unwrap();
        let said = || fs::read_to_string(&log).unwrap();
        assert!(built.success(), "building for {name}: {built}; it said\n{}", said());
        top().join("dist").join(name).join("provost")
    }
}

fn folder() -> PathBuf {
    made("vm-foreign", MAKE, None)
}

/// Where cargo keeps the crates that it has fetched.
fn registry() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    home.unwrap_or_else(|| Path::new(&std::env::var_os("HOME").unwrap()).join(".cargo"))
        .join("registry")
}

//! A place where a script can change nothing: it runs for real, in namespaces of its own, as root of a
//! user namespace that has no right in the host's, on overlays whose upper layers are thrown away.
//!
//! ```text
//! supervisor   mount namespace of its own: builds the new root below /sys, reads the changes there
//! └─ init      process 1: makes the root its own, becomes root of a user namespace, starts the program
//!    └─ program, with all that it starts; they end with process 1
//! ```
//!
//! The supervisor has the host's rights, and the script can reach nothing of it: no process, no
//! descriptor, no mount. Only calls that Linux 4.18 has are used.

mod cgroup;
mod changes;
mod devices;
mod error;
mod init;
mod mounts;
mod namespaces;
mod overlay;
mod places;
mod private_folders;
mod scratch;
mod seccomp;
mod unprivileged;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

pub use cgroup::Limits;
pub use changes::{Attributes, Changes, Entry, Kind, Look, What};
pub use error::SandboxError;
pub use init::{End, Running};
pub use namespaces::Network;

use self::cgroup::{Cgroups, MOST_PROCESSES};
use self::error::failed;
use self::init::Terms;
use self::overlay::Layer;
use self::places::{OWN_FOLDER, STAGE, inside};

/// With fewer bytes left, the room for changes is full: writers are refused a little before the last of them, and
/// temporary files may be gone by the end.
const FULL: u64 = 1 << 20;

/// What is to be the same as on the host, and what isn't.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// Whether the host's network is reached.
    pub network: Network,
    /// The folder for what changes, up to 16 GiB; without one, it is in memory, up to a quarter of that.
    pub scratch: Option<PathBuf>,
    /// Folders that are there even where `/tmp` and `/run` are private.
    pub shown: Vec<PathBuf>,
    /// The program that is started.
    pub program: PathBuf,
}

/// A sandbox that is built, and nothing runs in it yet, or no more.
pub struct Ready {
    network: Network,
    layers: Vec<Layer>,
    read_only: Vec<PathBuf>,
    cgroups: Cgroups,
    is_root: bool,
    /// Whether Unix sockets are refused.
    hides_sockets: bool,
    /// The program's path in the sandbox.
    program: PathBuf,
}

impl Sandbox {
    /// Builds it, in a mount namespace that this process gets. To be called while this process has one
    /// thread; it can't start another one afterwards.
    ///
    /// # Errors
    ///
    /// Where the kernel, or a container, doesn't let this process do it.
    pub fn prepare(self) -> Result<Ready, SandboxError> {
        let is_root = rustix::process::geteuid().is_root();
        let hides_sockets = self.network == Network::Host && namespaces::has_abstract_sockets();
        // Before /sys is covered.
        let cgroups = Cgroups::new();
        if !is_root {
            if self.scratch.is_some() {
                return Err(SandboxError::ScratchOfUser);
            }
            namespaces::become_root_of_own()?;
        }
        namespaces::enter()?;
        let host = overlay::open_host()?;
        let sys = mounts::open(Path::new(STAGE)).map_err(failed("opening", STAGE))?;
        let devices = devices::open();
        let program =
            mounts::open(&self.program).map_err(failed("opening", self.program.display()))?;
        let shown = overlay::open_shown(&self.shown)?;
        let names = private_folders::Resolver::read();
        overlay::stage(self.scratch.as_deref(), cgroups.limits().memory)?;
        let root = places::root();
        let mut built = match is_root {
            true => overlay::build(&host, &root)?,
            false => unprivileged::build(&host, &root)?,
        };
        private_folders::mount(&root, &names)?;
        devices::mount_all(&root, &devices, is_root)?;
        for folder in shown {
            overlay::add_shown(folder, &root, &mut built, is_root)?;
        }
        let place = root.join("sys");
        match is_root {
            true => mounts::bind_read_only(&sys, &place),
            false => unprivileged::sys(&sys, &place),
        }
        .map_err(failed("mounting", "/sys"))?;
        let path = Path::new(OWN_FOLDER).join("provost");
        let place = inside(&root, &path);
        fs::write(&place, "").map_err(failed("writing", place.display()))?;
        mounts::bind_file(&program, &place).map_err(failed("mounting", path.display()))?;
        // Programs that helped until here were ordinary children.
        namespaces::separate_children()?;
        let network = self.network;
        let overlay::Built { layers, read_only } = built;
        Ok(Ready { network, layers, read_only, cgroups, is_root, hides_sockets, program: path })
    }
}

impl Ready {
    /// Starts the program in it with `args` and no other environment than `env`. What it prints can be read.
    ///
    /// # Errors
    ///
    /// Where the kernel, or a container, doesn't let this process do it.
    pub fn start(
        &self,
        args: &[OsString],
        env: &[(OsString, OsString)],
    ) -> Result<Running, SandboxError> {
        let terms = Terms {
            network: self.network,
            hides_sockets: self.hides_sockets,
            program: &self.program,
            cgroups: &self.cgroups,
            is_root: self.is_root,
        };
        init::start(&terms, args, env)
    }

    /// Where this process sees a path of the sandbox. What stands there was made by the script.
    pub fn path(&self, path: &Path) -> PathBuf {
        inside(&places::root(), path)
    }

    /// The file through which the program tells its supervisor something, as both see it.
    pub fn notes(&self) -> PathBuf {
        self.path(&Self::notes_inside())
    }

    /// The same, for the program.
    pub fn notes_inside() -> PathBuf {
        Path::new(OWN_FOLDER).join("notes")
    }

    /// Where the program finds what runs in place of what it would fetch.
    pub fn bundle_inside() -> PathBuf {
        Path::new(OWN_FOLDER).join("bundle")
    }

    /// What has changed, but for what is below `except`.
    pub fn changes(&self, except: &[PathBuf]) -> Changes {
        changes::read(&self.layers, except)
    }

    /// What is read-only in it because no overlay could be put over it.
    pub fn read_only(&self) -> &[PathBuf] {
        &self.read_only
    }

    /// Whether an ordinary user has made it, in which not all can be changed.
    pub fn is_of_user(&self) -> bool {
        !self.is_root
    }

    /// Whether Unix sockets are refused in it: daemons of the host have sockets that no namespace hides.
    pub fn hides_sockets(&self) -> bool {
        self.hides_sockets
    }

    /// What all of its processes may use together.
    pub fn limits(&self) -> Limits {
        let limits = self.cgroups.limits();
        // The kernel exempts root.
        let of_user = Some(MOST_PROCESSES).filter(|_| !self.is_root);
        Limits { processes: limits.processes.or(of_user), ..limits }
    }

    /// Those of these limits that were reached, as far as cgroups keep them.
    pub fn reached(&self) -> Limits {
        self.cgroups.reached()
    }

    /// How many bytes may change, if they all have.
    pub fn full(&self) -> Option<u64> {
        let disk = rustix::fs::statvfs(STAGE).ok()?;
        let left = disk.f_bavail.saturating_mul(disk.f_frsize);
        let is_full = left < FULL || disk.f_files > 0 && disk.f_ffree == 0;
        is_full.then(|| disk.f_blocks.saturating_mul(disk.f_frsize))
    }
}

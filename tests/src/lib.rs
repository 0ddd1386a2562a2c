//! A management node and its nodes in a temporary folder, made of the real programs.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

pub mod accounts;
pub mod axe;
pub mod browser;
mod chroot;
mod cluster;
pub mod cold;
mod daemon;
mod dns;
mod escapes;
mod faketime;
pub mod faults;
mod go_template;
mod ground;
mod installed;
pub mod killing;
pub mod missing;
mod old_kernel;
mod output;
mod own_network;
mod packages;
mod postgres;
pub mod processes;
mod receiver;
mod repeats;
pub mod reporters;
mod round_trips;
mod seed;
mod skipping;
mod small_disk;
mod sshd;
mod tcp_proxy;
mod told;
mod transcript;
mod varnish;
mod web_server;
pub mod xcat;

pub use chroot::Chroot;
pub use cluster::{Cluster, Node, pipe, web_group};
pub use daemon::Daemon;
pub use dns::Dns;
pub use escapes::{Escape, escapes};
pub use faketime::{FakeClock, Faketime};
pub use go_template::go_template;
pub use ground::{Ended, Ground, Run, World};
pub use installed::InstalledPrograms;
pub use old_kernel::OldKernel;
pub use output::Out;
pub use own_network::{enter_own_network, try_own_network};
pub use packages::Packages;
pub use postgres::Postgres;
pub use receiver::Receiver;
pub use repeats::repeats;
pub use round_trips::RoundTrips;
pub use seed::seed;
pub use skipping::{skip, skip_if, skip_part};
pub use small_disk::SmallDisk;
pub use sshd::Network;
pub use tcp_proxy::TcpProxy;
pub use told::{SOON, Waiting};
pub use varnish::Varnish;
pub use web_server::WebServer;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Names the folder in which tests look for the programs, for testing what was built elsewhere.
pub(crate) const PROGRAMS: &str = "PROVOST_PROGRAMS";

/// The path of one of the project's programs, built as the tests were; or as it is in the folder
/// `PROVOST_PROGRAMS`.
pub fn program(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            if let Some(folder) = std::env::var_os(PROGRAMS) {
                return folder.into();
            }
            let test = std::env::current_exe().unwrap();
            let folder = test.parent().and_then(Path::parent).unwrap().to_owned();
            if std::env::var_os("NEXTEST").is_some() {
                // Its setup script has built them.
                return folder;
            }
            // Cargo builds for a test or a benchmark only what its own package has.
            let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
            let build = Command::new(cargo)
                .args(["build", "--quiet", "--workspace", "--bins"])
                .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap())
                .status();
            assert!(build.unwrap().success(), "the programs don't build");
            folder
        })
        .join(name)
}

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use provost_store::StoreError;

use crate::listener::tls::{IdentityError, TlsError};
use crate::nodes::program_file::ProgramError;

/// Why the daemon can't serve.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// A file or folder.
    #[error("{doing} {}", path.display())]
    File {
        /// What was tried, a gerund.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A group of the configuration.
    #[error("giving a socket to the group {group}")]
    Group {
        /// Its name.
        group: String,
        /// Why it failed.
        source: io::Error,
    },
    /// Another daemon has the data.
    #[error("locking {}: another provostd uses it", .0.display())]
    Busy(PathBuf),
    /// Half of a site is there.
    #[error("starting with {}: provostctl restore goes on, or was cut off", .0.display())]
    HalfRestored(PathBuf),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The signals that end it.
    #[error("handling signals")]
    Signals(#[source] io::Error),
    /// The certificate for xCAT's nodes.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// What the nodes' TLS listener proves itself by.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// A receiver of the configuration.
    #[error("using the webhook {name:?}: {why}")]
    Webhook {
        /// Its name.
        name: String,
        /// Why it can't be used.
        why: String,
    },
    /// What nodes would get as their program.
    #[error("serving the program for nodes")]
    Program(#[source] ProgramError),
    /// An address.
    #[error("listening on {address} ({key})")]
    Listen {
        /// The configuration's key.
        key: &'static str,
        /// The address.
        address: SocketAddr,
        /// Why it failed.
        source: io::Error,
    },
}

impl DaemonError {
    /// Whether the daemon can't start until its configuration names something else.
    pub(crate) fn is_of_configuration(&self) -> bool {
        match self {
            Self::Store(error) => error.is_of_other_version(),
            Self::Group { .. } | Self::Tls(_) | Self::Webhook { .. } | Self::Program(_) => true,
            Self::Identity(error) => matches!(error, IdentityError::Site(_)),
            _ => false,
        }
    }

    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::File { source, .. } if source.kind() == io::ErrorKind::InvalidInput => {
                "choose a shorter `data`: a socket's path has at most 107 bytes".into()
            }
            Self::File { .. } => {
                "check that provostd's user may write to the folder `data` of provostd.toml".into()
            }
            Self::Group { group, .. } => format!(
                "create the group and make provostd's user its member, or change `operators` and \
                 `readers` in provostd.toml: getent group {group}"
            ),
            Self::Busy(data) => {
                format!("stop it (fuser -v {}), or choose another `data`", data.display())
            }
            Self::HalfRestored(data) => format!(
                "restore it again: provostctl restore --from FILE; or, to begin anew, move it aside: \
                 mv {0} {0}.old",
                data.display()
            ),
            Self::Store(error) => error.hint().into(),
            Self::Signals(_) => "check the limits of this process (ulimit -n)".into(),
            Self::Tls(_) => "set `tls_cert` and `tls_key` under [xcat] of provostd.toml to PEM \
                             files that provostd's user may read"
                .into(),
            Self::Identity(error) => error.hint(),
            Self::Webhook { .. } => "set `ca` under [[webhooks]] of provostd.toml to a file of \
                                     certificates, PEM, that provostd's user may read"
                .into(),
            Self::Program(error) => error.hint(),
            Self::Listen { key, address, source } => match source.kind() {
                io::ErrorKind::AddrInUse => format!(
                    "stop the program that has the port (ss -ltnp sport = :{}), or change `{key}`",
                    address.port()
                ),
                _ => format!("set `{key}` in provostd.toml to an address of this machine"),
            },
        }
    }

    /// Turns an error of `doing` something with `path` into one that says so.
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { doing, path: path.to_owned(), source }
    }
}

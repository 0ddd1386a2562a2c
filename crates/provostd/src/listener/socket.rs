//! The two admin sockets in the daemon's folder: one for the whole admin API, one that only reads.

use std::fs::{self, Permissions};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use axum::serve::Listener;
use provost_fs::Durability;
use tokio::net::{UnixListener, UnixStream};

use super::client_address::ClientAddress;
use crate::error::DaemonError;

/// The group whose members may operate, if it exists and the configuration names none.
const OPERATORS: &str = "provost-operators";
/// The group whose members may read.
const READERS: &str = "provost-readers";

/// An admin socket.
pub(crate) struct AdminSocket {
    pub(crate) path: PathBuf,
    pub(crate) listener: UserListener,
}

/// A listener that knows which user each client is.
pub(crate) struct UserListener(UnixListener);

/// The id of the user of a client, if the kernel says it.
pub(crate) struct User(Option<u32>);

impl ClientAddress for User {
    fn ip(&self) -> IpAddr {
        Ipv4Addr::LOCALHOST.into()
    }

    fn is_private(&self) -> bool {
        true
    }

    fn user(&self) -> Option<u32> {
        self.0
    }
}

impl Listener for UserListener {
    type Io = UnixStream;
    type Addr = User;

    async fn accept(&mut self) -> (UnixStream, User) {
        let (stream, _) = Listener::accept(&mut self.0).await;
        let user = stream.peer_cred().ok().map(|client| client.uid());
        (stream, User(user))
    }

    fn local_addr(&self) -> io::Result<User> {
        Ok(User(None))
    }
}

/// Both of them.
pub(crate) struct AdminSockets {
    /// The whole admin API.
    pub(crate) operate: AdminSocket,
    /// Reads only.
    pub(crate) read: AdminSocket,
}

impl AdminSockets {
    /// Creates both in the folder `data`, for the groups of those who operate and of those who read.
    /// This daemon has the folder's lock, so a socket that is there is of a daemon that died.
    pub(crate) fn bind(
        data: &Path,
        operators: &Option<String>,
        readers: &Option<String>,
    ) -> Result<Self, DaemonError> {
        let bind = |name: &str, group: &Option<String>, default| {
            let path = data.join(name);
            let failed = DaemonError::file("creating", &path);
            let listener = bind(&path).map_err(failed)?;
            if let Err(error) = share(data, &path, group.as_deref().unwrap_or(default)) {
                let name = group.as_deref().unwrap_or(default);
                match group {
                    Some(_) => {
                        return Err(DaemonError::Group { group: name.to_owned(), source: error });
                    }
                    None => {
                        tracing::warn!("giving {} to the group {name}: {error}", path.display())
                    }
                }
            }
            Ok(AdminSocket { path, listener: UserListener(listener) })
        };
        Ok(Self {
            operate: bind("admin.sock", operators, OPERATORS)?,
            read: bind("read.sock", readers, READERS)?,
        })
    }
}

/// Binds a socket that only this user can use.
fn bind(path: &Path) -> io::Result<UnixListener> {
    provost_fs::remove(path, Durability::Crash)?;
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// The id of a group; none of a default one that doesn't exist.
pub(crate) fn group(name: &str) -> io::Result<Option<u32>> {
    let id = provost_fs::group_id(name)?;
    let is_default = [OPERATORS, READERS].contains(&name);
    if id.is_none() && !is_default {
        return Err(io::Error::other("there is no such group"));
    }
    Ok(id)
}

/// Lets the group use the socket at `path`. A default group that doesn't exist changes nothing.
fn share(data: &Path, path: &Path, name: &str) -> io::Result<()> {
    let Some(id) = group(name)? else { return Ok(()) };
    chown(path, None, Some(id))?;
    fs::set_permissions(path, Permissions::from_mode(0o660))?;
    // They have to pass through the folder; all else in it is this user's alone.
    let mode = fs::metadata(data)?.permissions().mode();
    fs::set_permissions(data, Permissions::from_mode(mode | 0o011))
}

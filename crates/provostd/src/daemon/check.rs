//! `provostd check`: whether a start would work. It changes nothing, and a daemon that runs goes on.

use std::fs::{File, TryLockError};
use std::io;
use std::net::SocketAddr;
use std::path::Path;

use provost_store::location::{self, RESTORING, StoreKind};
use provost_store::{Postgres, Sqlite, StoreError};
use rustix::fs::{Access, access};

use super::Addresses;
use super::startup::{LOCK, bind};
use crate::config::Config;
use crate::error::DaemonError;
use crate::listener::socket;
use crate::listener::tls::{self, Pair};
use crate::nodes::program_file;
use crate::notify::Deliveries;

/// What a check has found.
pub(crate) struct Found {
    /// What keeps a daemon with this configuration from starting.
    pub(crate) mistakes: Vec<DaemonError>,
    /// What keeps it from answering after the start.
    pub(crate) unreachable: Option<StoreError>,
}

/// Looks for what is wrong.
pub(crate) async fn check(config: &Config) -> Found {
    match store(config).await {
        Ok(unreachable) => Found { mistakes: mistakes(config, None), unreachable },
        Err(e) => Found { mistakes: mistakes(config, Some(e)), unreachable: None },
    }
}

fn mistakes(config: &Config, store: Option<DaemonError>) -> Vec<DaemonError> {
    let data = data(&config.data).err();
    let groups = [&config.operators, &config.readers].into_iter().flatten();
    let group = |name: &String| {
        let failed = |source| DaemonError::Group { group: name.clone(), source };
        socket::group(name).err().map(failed)
    };
    let deliveries = Deliveries::new(config).err();
    let mut mistakes: Vec<DaemonError> = [data, store].into_iter().flatten().collect();
    mistakes.extend(groups.filter_map(group).chain(deliveries));
    mistakes.extend(certificates(config));
    mistakes.extend(program_file::mistakes(&config.node).into_iter().map(DaemonError::Program));
    mistakes.extend(listeners(config));
    mistakes
}

/// Whether the folder is there, or can be made, and may be written.
fn data(data: &Path) -> Result<(), DaemonError> {
    if data.join(RESTORING).exists() {
        return Err(DaemonError::HalfRestored(data.to_owned()));
    }
    if !data.exists() && data == location::default_data() {
        // Its unit makes it (StateDirectory), and the daemon's user couldn't.
        return Ok(());
    }
    let there = data.ancestors().find(|folder| folder.exists()).unwrap_or(data);
    if !there.is_dir() {
        let not_one = io::Error::from(io::ErrorKind::NotADirectory);
        return Err(DaemonError::file("creating the folder", data)(not_one));
    }
    access(there, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|e| DaemonError::file("writing to the folder", there)(e.into()))
}

async fn store(config: &Config) -> Result<Option<StoreError>, DaemonError> {
    match &config.store {
        StoreKind::Sqlite => Ok(Sqlite::check_open(&config.data).map(|()| None)?),
        StoreKind::Postgres(url) => Ok(Postgres::check_open(url, &config.postgres.files()).await?),
    }
}

fn certificates(config: &Config) -> Vec<DaemonError> {
    let has_tls = config.tls.address(config.listen).or(config.tls.admin).is_some();
    let own = has_tls.then(|| tls::check_identity(config).map_err(DaemonError::from));
    let of_xcat = config.xcat.xcatd.as_ref().map(|xcatd| {
        let pair = Pair::read(&xcatd.tls_cert, &xcatd.tls_key);
        pair.and_then(|pair| pair.acceptor()).map(drop).map_err(DaemonError::from)
    });
    [own, of_xcat].into_iter().flatten().filter_map(Result::err).collect()
}

/// The addresses that can't be listened on. A port of the daemon that has this data is free: a start is
/// one without it.
fn listeners(config: &Config) -> Vec<DaemonError> {
    let addresses = [
        ("listen", Some(config.listen)),
        ("tls.listen", config.tls.address(config.listen)),
        ("admin", config.admin),
        ("tls.admin", config.tls.admin),
        ("xcat.monitor", config.xcat.monitor),
        ("xcat.xcatd", config.xcat.xcatd.as_ref().map(|xcatd| xcatd.listen)),
    ];
    let held = held(&config.data);
    let (mut bound, mut mistakes) = (Vec::new(), Vec::new());
    for (key, address) in addresses.into_iter().filter_map(|(key, at)| Some((key, at?))) {
        let is_held = |at: &SocketAddr| at.port() == address.port();
        match bind(key, address) {
            // Kept, so that no other key has it as well.
            Ok(listener) => bound.push(listener),
            Err(DaemonError::Listen { source, .. })
                if source.kind() == io::ErrorKind::AddrInUse && held.iter().any(is_held) => {}
            Err(mistake) => mistakes.push(mistake),
        }
    }
    mistakes
}

/// Where the daemon listens that has the data now, if there is one.
fn held(data: &Path) -> Vec<SocketAddr> {
    let lock = File::open(data.join(LOCK));
    // For a moment only: a daemon that starts takes it without waiting.
    let is_locked = |lock: File| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock));
    if !lock.is_ok_and(is_locked) {
        return Vec::new();
    }
    let listen = std::fs::read(data.join("listen.json")).ok();
    let listen = listen.and_then(|json| serde_json::from_slice::<Addresses>(&json).ok());
    listen.iter().flat_map(Addresses::all).collect()
}

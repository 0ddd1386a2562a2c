//! The programs that nodes run, for each architecture. Installer files name them by digest, so each is kept
//! after the file on this machine was replaced: a printed file is good until it hasn't been used for long.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use provost_bundle::Digest;
use provost_fs::Durability;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::config::{Config, NodeConfig};
use crate::listener::Stop;
use crate::listener::refusal::Refusal;
use crate::published::serve_immutable;

/// The architecture of `[node] binary`, as uname(1) calls it.
const ARCH_OF_BINARY: &str = "x86_64";
/// How often is looked for programs that are kept no longer.
const DAY: Duration = Duration::from_secs(24 * 3600);
/// How precisely the time of a program's last request is kept.
const HOUR: Duration = Duration::from_secs(3600);

/// The files of this machine, and the copies of all that were one.
pub(crate) struct NodePrograms {
    files: NodeConfig,
    /// The copies, by their digests: `DATA/programs`. When it was asked for last is a file's time.
    kept: PathBuf,
    keep_for: Duration,
    /// The states of files that were read, and their digests.
    known: Mutex<HashMap<PathBuf, (Stamp, Digest)>>,
}

/// What distinguishes one state of a file from another.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl From<Metadata> for Stamp {
    fn from(file: Metadata) -> Self {
        let changed = (file.ctime(), file.ctime_nsec());
        Self { inode: file.ino(), size: file.size(), changed }
    }
}

impl NodePrograms {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            files: config.node.clone(),
            kept: config.data.join("programs"),
            keep_for: config.retention.programs.duration().try_into().unwrap_or_default(),
            known: Mutex::default(),
        }
    }

    /// The digest of each architecture's program as it is now. A file is read only if it has changed.
    pub(crate) async fn digests(self: &Arc<Self>) -> Result<BTreeMap<String, Digest>, Refusal> {
        let this = Arc::clone(self);
        spawn_blocking(move || this.read()).await?.map_err(|(path, e)| {
            Refusal::new(
                StatusCode::NOT_FOUND,
                format!("serving the program for nodes: reading {}: {e}", path.display()),
                "on the management node: install the static provost there, or set binary or programs \
                 under [node] in provostd.toml",
            )
        })
    }

    /// Whether the program with this digest can be served.
    pub(crate) async fn has(self: &Arc<Self>, sha256: &str) -> bool {
        self.find(sha256).await.is_some()
    }

    /// Serves the program with this digest; none if there is none.
    pub(crate) async fn serve(
        self: &Arc<Self>,
        sha256: &str,
        request: Request<Body>,
    ) -> Option<Response> {
        let path = self.find(sha256).await?;
        Some(serve_immutable(&path, sha256, request).await.ok()?.into_response())
    }

    async fn find(self: &Arc<Self>, sha256: &str) -> Option<PathBuf> {
        let (this, sha256) = (Arc::clone(self), sha256.parse::<Digest>().ok()?);
        spawn_blocking(move || {
            // Keeps what is new.
            let _ = this.read();
            let kept = this.kept(sha256);
            if note_request(&kept).is_ok() {
                return Some(kept);
            }
            // On a full disk it couldn't be kept.
            let known = this.known.lock().unwrap_or_else(PoisonError::into_inner);
            let mut files = this.files().into_values();
            files.find(|file| known.get(file).is_some_and(|(_, digest)| *digest == sha256))
        })
        .await
        .ok()?
    }

    /// The files, by architecture.
    fn files(&self) -> BTreeMap<String, PathBuf> {
        let entries = fs::read_dir(&self.files.programs).into_iter().flatten().flatten();
        let file = |entry: fs::DirEntry| {
            let file = entry.path().join("provost");
            Some((entry.file_name().into_string().ok()?, file)).filter(|(_, file)| file.is_file())
        };
        let mut files: BTreeMap<String, PathBuf> = entries.filter_map(file).collect();
        match &self.files.binary {
            Some(binary) => drop(files.insert(ARCH_OF_BINARY.to_owned(), binary.clone())),
            None => {
                let own = rustix::system::uname().machine().to_string_lossy().into_owned();
                // Where the daemon's own path is unknown, this file doesn't exist.
                let here = std::env::current_exe().unwrap_or_default().with_file_name("provost");
                files.entry(own).or_insert(here);
            }
        }
        files
    }

    /// The digest of each file that can be read. Fails where none can.
    fn read(&self) -> Result<BTreeMap<String, Digest>, (PathBuf, io::Error)> {
        // Other requests wait for these digests instead of reading the files as well.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut digests, mut failed) = (BTreeMap::new(), None);
        for (arch, path) in self.files() {
            match self.digest(&path, &mut known) {
                Ok(digest) => drop(digests.insert(arch, digest)),
                Err(e) => failed = Some((path, e)),
            }
        }
        match failed {
            Some(failed) if digests.is_empty() => Err(failed),
            _ => Ok(digests),
        }
    }

    fn digest(
        &self,
        path: &Path,
        known: &mut HashMap<PathBuf, (Stamp, Digest)>,
    ) -> io::Result<Digest> {
        let stamp = Stamp::from(fs::metadata(path)?);
        if let Some((_, digest)) = known.get(path).filter(|(known, _)| *known == stamp)
            && self.kept(*digest).exists()
        {
            return Ok(*digest);
        }
        let bytes = fs::read(path)?;
        let digest = Digest::of(&bytes);
        if let Err(e) = self.keep(digest, &bytes) {
            let hint = format!("make room on the file system of {}", self.kept.display());
            tracing::warn!(hint, "keeping {} by its digest: {e}", path.display());
        }
        known.insert(path.to_owned(), (stamp, digest));
        Ok(digest)
    }

    /// Where the copy of a program is.
    fn kept(&self, digest: Digest) -> PathBuf {
        self.kept.join(digest.to_string())
    }

    fn keep(&self, digest: Digest, bytes: &[u8]) -> io::Result<()> {
        let file = self.kept(digest);
        if file.exists() {
            return Ok(());
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.kept)?;
        provost_fs::replace(&file, bytes, Durability::PowerCut)
    }

    /// Removes programs that nobody has asked for in a long time, again and again until the daemon stops.
    pub(crate) async fn maintain(self: Arc<Self>, mut stop: Stop) {
        let maintaining = async {
            loop {
                let this = Arc::clone(&self);
                // Fails only if it panics.
                let _ = spawn_blocking(move || this.remove_old(SystemTime::now())).await;
                sleep(DAY).await;
            }
        };
        tokio::select! {
            () = maintaining => {}
            () = stop.wait() => {}
        }
    }

    fn remove_old(&self, now: SystemTime) {
        let is_old = |file: &fs::DirEntry| {
            let asked = file.metadata().and_then(|metadata| metadata.modified());
            let age = asked.ok().and_then(|asked| now.duration_since(asked).ok());
            age.is_some_and(|age| age > self.keep_for)
        };
        let files = fs::read_dir(&self.kept).into_iter().flatten().flatten();
        for file in files.filter(is_old) {
            match fs::remove_file(file.path()) {
                Ok(()) => {
                    tracing::info!("removed {}: not requested for long", file.path().display())
                }
                Err(e) => tracing::warn!("removing {}: {e}", file.path().display()),
            }
        }
    }
}

/// Sets the time of a file's last request.
fn note_request(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    let now = SystemTime::now();
    let age = now.duration_since(file.metadata()?.modified()?).unwrap_or_default();
    if age > HOUR {
        // Not on a file system that is read-only; it is served all the same.
        let _ = file.set_modified(now);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(folder: &Path) -> NodePrograms {
        let files =
            NodeConfig { binary: Some(folder.join("provost")), programs: folder.join("programs") };
        let keep_for = 365 * DAY;
        NodePrograms {
            files,
            kept: folder.join("data/programs"),
            keep_for,
            known: Mutex::default(),
        }
    }

    #[test]
    fn a_program_that_was_replaced_is_another_and_each_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let programs = programs(folder.path());
        assert!(programs.read().is_err());
        for text in ["one", "two"] {
            let next = folder.path().join("next");
            fs::write(&next, text).unwrap();
            fs::rename(&next, folder.path().join("provost")).unwrap();
            for _ in 0..2 {
                let digest = Digest::of(text.as_bytes());
                assert_eq!(programs.read().unwrap(), [("x86_64".to_owned(), digest)].into());
                assert_eq!(fs::read_to_string(programs.kept(digest)).unwrap(), text);
            }
        }
    }

    #[test]
    fn a_program_goes_a_year_after_its_last_request() {
        let folder = tempfile::tempdir().unwrap();
        let programs = programs(folder.path());
        let now = SystemTime::now();
        let kept = |text: &str| programs.kept(Digest::of(text.as_bytes()));
        for (text, days) in [("asked", 364), ("old", 366)] {
            programs.keep(Digest::of(text.as_bytes()), text.as_bytes()).unwrap();
            File::open(kept(text)).unwrap().set_modified(now - days * DAY).unwrap();
        }
        programs.remove_old(now);
        assert!(kept("asked").exists() && !kept("old").exists());
        note_request(&kept("asked")).unwrap();
        programs.remove_old(now + 30 * DAY);
        assert!(kept("asked").exists());
        // What is still this machine's is kept again.
        fs::write(folder.path().join("provost"), "asked").unwrap();
        for _ in 0..2 {
            programs.remove_old(now + 400 * DAY);
            assert!(!kept("asked").exists());
            programs.read().unwrap();
            assert!(kept("asked").exists());
        }
    }
}

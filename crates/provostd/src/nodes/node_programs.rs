//! The programs that nodes run, for each architecture. Installer files name them by digest, so each is kept
//! after the file on this machine was replaced: a printed file is good until it hasn't been used for long.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, Metadata};
use std::io;
use std::mem;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use provost_bundle::Digest;
use provost_fs::Durability;
use provost_steplog::wording::error_chain;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::program_file::{ProgramError, ProgramFile};
use crate::config::{Config, NodeConfig};
use crate::listener::Stop;
use crate::listener::refusal::Refusal;
use crate::published::serve_immutable;

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
    /// What is known of the files that were read.
    known: Mutex<HashMap<PathBuf, Known>>,
}

/// One state of a file.
#[derive(Clone)]
struct Known {
    stamp: Stamp,
    /// As uname(1) calls it.
    architecture: String,
    digest: Digest,
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
        let (digests, failed) = spawn_blocking(move || this.read()).await?;
        match failed.last() {
            Some(failed) if digests.is_empty() => {
                let error = format!("serving the program for nodes: {}", error_chain(failed));
                Err(Refusal::new(StatusCode::NOT_FOUND, error, failed.hint()))
            }
            _ => {
                for failed in &failed {
                    tracing::warn!(
                        hint = failed.hint(),
                        "serving the program for nodes: {}",
                        error_chain(failed)
                    );
                }
                Ok(digests)
            }
        }
    }

    /// What makes it serve a program for this architecture as well.
    pub(crate) fn place(&self, architecture: &str) -> String {
        let folder = self.files.programs.display();
        format!("install {folder}/{architecture}/provost ([node] programs in provostd.toml)")
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
            let mut known = known.iter();
            known.find(|(_, known)| known.digest == sha256).map(|(file, _)| file.clone())
        })
        .await
        .ok()?
    }

    /// The digest of each architecture's program, and what can't be served.
    fn read(&self) -> (BTreeMap<String, Digest>, Vec<ProgramError>) {
        // Other requests wait for these digests instead of reading the files as well.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = mem::take(&mut *known);
        let (mut digests, mut failed) = (BTreeMap::new(), Vec::new());
        for file in ProgramFile::all(&self.files) {
            match self.look(&file, before.get(&file.path)) {
                Ok(now) => {
                    digests.insert(now.architecture.clone(), now.digest);
                    known.insert(file.path, now);
                }
                Err(e) => failed.push(e),
            }
        }
        (digests, failed)
    }

    fn look(&self, file: &ProgramFile, before: Option<&Known>) -> Result<Known, ProgramError> {
        let path = &file.path;
        let stamp = Stamp::from(fs::metadata(path).map_err(file.unreadable())?);
        if let Some(known) = before.filter(|known| known.stamp == stamp)
            && self.kept(known.digest).exists()
        {
            return Ok(known.clone());
        }
        let bytes = fs::read(path).map_err(file.unreadable())?;
        let architecture = file.architecture(&bytes)?;
        let digest = Digest::of(&bytes);
        if let Err(e) = self.keep(digest, &bytes) {
            let hint = format!("make room on the file system of {}", self.kept.display());
            tracing::warn!(hint, "keeping {} by its digest: {e}", path.display());
        }
        Ok(Known { stamp, architecture, digest })
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
        let files = NodeConfig {
            binary: Some(folder.join("provost")),
            programs: folder.join("programs"),
            ..NodeConfig::default()
        };
        let keep_for = 365 * DAY;
        NodePrograms {
            files,
            kept: folder.join("data/programs"),
            keep_for,
            known: Mutex::default(),
        }
    }

    /// A program of `text` for the architecture whose ELF machine that is.
    fn program(machine: u8, text: &str) -> Vec<u8> {
        let mut head = b"\x7fELF\x02\x01".to_vec();
        head.resize(18, 0);
        [&head[..], &[machine, 0], text.as_bytes()].concat()
    }

    #[test]
    fn a_program_that_was_replaced_is_another_and_each_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let programs = programs(folder.path());
        assert!(programs.read().0.is_empty());
        for (text, machine, architecture) in
            [("one", 62, "x86_64"), ("two", 62, "x86_64"), ("one", 183, "aarch64")]
        {
            let (next, program) = (folder.path().join("next"), program(machine, text));
            fs::write(&next, &program).unwrap();
            fs::rename(&next, folder.path().join("provost")).unwrap();
            for _ in 0..2 {
                let digest = Digest::of(&program);
                assert_eq!(programs.read().0, [(architecture.to_owned(), digest)].into());
                assert_eq!(fs::read(programs.kept(digest)).unwrap(), program);
            }
        }
    }

    #[test]
    fn a_program_of_another_architecture_than_its_folder_names_is_never_served() {
        let folder = tempfile::tempdir().unwrap();
        let programs = programs(folder.path());
        let place = folder.path().join("programs/ppc64le");
        fs::create_dir_all(&place).unwrap();
        let (own, other) = (program(21, "own"), program(62, "other"));
        fs::write(folder.path().join("provost"), program(62, "")).unwrap();
        // It came while the daemon runs.
        for (program, serves) in [(&own, true), (&other, false), (&own, true)] {
            fs::remove_file(place.join("provost")).ok();
            fs::write(place.join("provost"), program).unwrap();
            let (digests, failed) = programs.read();
            assert_eq!(digests.get("ppc64le").copied(), serves.then(|| Digest::of(program)));
            assert_eq!(digests.len() + failed.len(), 2);
            assert_eq!(failed.is_empty(), serves);
            let served = programs.kept(Digest::of(&other)).exists();
            assert!(
                !served
                    && !programs
                        .known
                        .lock()
                        .unwrap()
                        .values()
                        .any(|k| k.digest == Digest::of(&other))
            );
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
        let own = program(62, "own");
        fs::write(folder.path().join("provost"), &own).unwrap();
        for _ in 0..2 {
            programs.remove_old(now + 400 * DAY);
            assert!(!programs.kept(Digest::of(&own)).exists());
            programs.read();
            assert!(programs.kept(Digest::of(&own)).exists());
        }
    }
}

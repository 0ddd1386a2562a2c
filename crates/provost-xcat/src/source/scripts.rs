//! The folder of scripts on this node: the present one, and the next one while it arrives. The
//! present one stays as it is until the next one is whole.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use provost_bundle::{Digest, FileEntry, Mode, Policy};
use provost_record::Cause;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};
use serde::{Deserialize, Serialize};

use super::complete::complete;
use super::next_folder::{NextFolder, disk, link_or_copy};
use crate::commands::install::hand_over;
use crate::handover::without_line;
use provost_fs::atomic;
use provost_node::failure::Failure;
use provost_node::fetch::FetchError;
use provost_node::fetch::server::{Server, broken};
use provost_node::fetch::version::Version;
use provost_node::settings::{Paths, Xcat};
use provost_node::state::library;

/// What scripts source, and what a program in xCAT's place adds a line to.
const LIBRARY: &str = "xcatlib.sh";
/// Longer files are no scripts, and so have no header: in bytes.
const LONGEST_SCRIPT: u64 = 1 << 20;

/// The folder, and what arrives for it.
pub(super) struct ScriptsFolder {
    folder: PathBuf,
    next: NextFolder,
    state: PathBuf,
    /// Where xCAT's programs are.
    xcat: PathBuf,
    stored: StoredFetch,
    /// What is in the next folder already, perhaps from an earlier try.
    arrived: RefCell<BTreeMap<String, Script>>,
}

/// How much may still be fetched, in bytes.
pub(super) struct Room {
    one: u64,
    all: Cell<u64>,
}

impl Room {
    pub(super) fn of(xcat: &Xcat) -> Self {
        let bytes = |mib: u32| u64::from(mib) << 20;
        Self { one: bytes(xcat.max_file_mib), all: Cell::new(bytes(xcat.max_total_mib)) }
    }

    fn of_one_file(&self) -> u64 {
        self.one.min(self.all.get())
    }

    fn take(&self, size: u64) {
        self.all.set(self.all.get().saturating_sub(size));
    }
}

/// A file of the management node's.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Script {
    url: String,
    version: Version,
    pub(super) entry: FileEntry,
}

/// What became of a request for a file.
pub(super) enum Got {
    Script(Box<Script>),
    /// The server has no such file.
    Nothing,
    /// It is over the limits, and none of it is kept.
    TooLarge,
}

/// What a node remembers of what it has fetched.
#[derive(Default, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredFetch {
    pub(super) mypostscript: String,
    pub(super) scripts: Vec<Script>,
}

impl ScriptsFolder {
    /// Opens the folder.
    pub(super) fn open(paths: &Paths) -> Result<Self, Failure> {
        // A link stays one.
        let folder = paths.xcatpost.canonicalize().unwrap_or_else(|_| paths.xcatpost.clone());
        let next =
            NextFolder::begin(&folder).map_err(|e| disk(&folder, "making a folder there", e))?;
        let stored = atomic::read(&file(&paths.state));
        let stored = stored.ok().and_then(|text| serde_json::from_slice(&text).ok());
        let (state, stored) = (paths.state.clone(), stored.unwrap_or_default());
        let xcat = paths.xcat.clone();
        Ok(Self { folder, next, state, xcat, stored, arrived: RefCell::default() })
    }

    /// Gets the file `path` into the next folder, where `room` is left, in bytes; what didn't change
    /// isn't sent again.
    pub(super) async fn get(
        &self,
        source: &Server<'_>,
        at: &str,
        path: &str,
        room: &Room,
    ) -> Result<Got, FetchError> {
        let url = source.url(at);
        let known = self.known(&url, path);
        let conditions = known.as_ref().map_or(HeaderMap::new(), |(s, _)| s.version.conditions());
        let good =
            [StatusCode::OK, StatusCode::NOT_FOUND, StatusCode::GONE, StatusCode::NOT_MODIFIED];
        let good = if conditions.is_empty() { &good[..3] } else { &good };
        let response = source.ask(at, conditions, good).await?;
        let failed =
            |e: io::Error| FetchError::abort(disk(&self.folder, "putting scripts there", e));
        let script = match (response.status(), known) {
            (StatusCode::OK, _) => {
                let limit = room.of_one_file();
                match self.take(url, path, response, limit, &failed).await? {
                    Some(script) => script,
                    None => return Ok(Got::TooLarge),
                }
            }
            (StatusCode::NOT_MODIFIED, Some((script, _)))
                if script.entry.size > room.of_one_file() =>
            {
                return Ok(Got::TooLarge);
            }
            (StatusCode::NOT_MODIFIED, Some((script, folder))) => {
                link_or_copy(&folder.join(path), &self.next.path().join(path)).map_err(failed)?;
                script
            }
            _ => return Ok(Got::Nothing),
        };
        room.take(script.entry.size);
        self.arrived.borrow_mut().insert(path.to_owned(), script.clone());
        Ok(Got::Script(Box::new(script)))
    }

    /// What is here of `url` already, whole, and in which folder.
    fn known(&self, url: &str, path: &str) -> Option<(Script, &Path)> {
        let is_it = |script: &&Script| script.entry.path == path && script.url == url;
        if let Some(script) = self.arrived.borrow().get(path).filter(is_it) {
            return Some((script.clone(), self.next.path()));
        }
        let script = self.stored.scripts.iter().find(is_it)?;
        is_whole(&self.folder, script).then(|| (script.clone(), self.folder.as_path()))
    }

    /// None where it has more than `limit` bytes.
    async fn take(
        &self,
        url: String,
        path: &str,
        mut response: Response,
        limit: u64,
        failed: &impl Fn(io::Error) -> FetchError,
    ) -> Result<Option<Script>, FetchError> {
        if response.content_length().is_some_and(|size| size > limit) {
            return Ok(None);
        }
        let version = Version::of(response.headers());
        let to = self.next.path().join(path);
        let create = || {
            std::fs::create_dir_all(to.parent().unwrap_or(&to))?;
            // It may be a second name of the present one.
            match std::fs::remove_file(&to) {
                Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
                _ => {}
            }
            File::options().write(true).create_new(true).mode(0o600).open(&to)
        };
        let mut file = create().map_err(failed)?;
        let mut size = 0;
        while let Some(bytes) = response.chunk().await.map_err(|e| broken(&url, &e))? {
            size += bytes.len() as u64;
            if size > limit {
                return std::fs::remove_file(&to).map(|()| None).map_err(failed);
            }
            file.write_all(&bytes).map_err(failed)?;
        }
        let (sha256, policy) = look(&to, size).map_err(failed)?;
        let policy = policy.map_err(|e| {
            let message = format!("reading the header of {url}: {e}");
            FetchError::give_up(Failure::new(Cause::Verify, message, e.hint()))
        })?;
        // As xCAT has it: every file can be run.
        let mode = Mode::Program;
        let permissions = PermissionsExt::from_mode(mode.bits());
        file.set_permissions(permissions).map_err(failed)?;
        let entry = FileEntry { path: path.to_owned(), mode, size, sha256, policy };
        Ok(Some(Script { url, version, entry }))
    }

    /// Makes the next folder the present one, with these scripts and no others, and remembers it.
    pub(super) fn switch(
        self,
        mypostscript: String,
        scripts: Vec<Script>,
    ) -> Result<StoredFetch, Failure> {
        let stored = StoredFetch { mypostscript, scripts };
        let next = self.next.path();
        for path in self.arrived.borrow().keys() {
            if !stored.scripts.iter().any(|script| script.entry.path == *path) {
                let removed = std::fs::remove_file(next.join(path));
                removed.map_err(|e| disk(&self.folder, "removing what is no longer served", e))?;
            }
        }
        let library = library::folder(&self.state);
        complete(next, &self.folder, Some(&stored.mypostscript), &library)
            .and_then(|()| hand_over(next, &self.xcat))
            .map_err(|e| disk(&self.folder, "completing what was fetched", e))?;
        let switched = self.next.take_place();
        switched.map_err(|e| disk(&self.folder, "switching to the new scripts", e))?;
        if stored != self.stored {
            let text = serde_json::to_vec(&stored).map_err(io::Error::other);
            let written = text.and_then(|text| atomic::write_secret(&file(&self.state), &text));
            written.map_err(|e| disk(&self.state, "remembering what was fetched", e))?;
        }
        Ok(stored)
    }

    /// Whether there is anything that was fetched last.
    pub(super) fn has_stored(&self) -> bool {
        !self.stored.scripts.is_empty()
    }

    /// What was fetched last, if all of it is still here and whole.
    pub(super) fn last_good(self) -> Result<StoredFetch, String> {
        if !self.has_stored() {
            return Err("there are none on this node yet".to_owned());
        }
        match self.stored.scripts.iter().find(|script| !is_whole(&self.folder, script)) {
            Some(script) => Err(format!("{} is damaged or missing", script.entry.path)),
            None => Ok(self.stored),
        }
    }
}

fn look(
    path: &Path,
    size: u64,
) -> io::Result<(Digest, Result<Policy, provost_bundle::HeaderError>)> {
    if size > LONGEST_SCRIPT {
        return Ok((Digest::read(provost_fs::open_to_read(path)?)?.0, Ok(Policy::default())));
    }
    let text = provost_fs::read(path, LONGEST_SCRIPT)?;
    Ok((Digest::of(&text), Policy::from_script(&text)))
}

/// Whether a script is as it was fetched, but for the line by which an `updatenode` comes here.
fn is_whole(folder: &Path, script: &Script) -> bool {
    let path = folder.join(&script.entry.path);
    let digest = provost_fs::open_to_read(&path).and_then(Digest::read).map(|(sha256, _)| sha256);
    let is_it = |sha256: Digest| sha256 == script.entry.sha256;
    let text = || std::fs::read_to_string(&path).unwrap_or_default();
    digest.is_ok_and(|sha256| {
        is_it(sha256)
            || script.entry.path == LIBRARY && is_it(Digest::of(without_line(&text()).as_bytes()))
    })
}

fn file(state: &Path) -> PathBuf {
    state.join("xcat.json")
}

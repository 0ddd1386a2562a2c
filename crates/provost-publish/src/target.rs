use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::PublishError;

/// What the published folder may hold.
const OURS: [&str; 8] = [
    "manifest.toml",
    "manifest.toml.minisig",
    "manifests",
    "objects",
    "packs",
    "plans",
    super::publication::SECRETS,
    super::history::FOLDER,
];
/// How long to wait for another publish. A big one takes seconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// The folder to publish to, locked against other publishes as long as this lives, unless it is only
/// looked at.
pub(crate) struct Target {
    path: PathBuf,
    parent: PathBuf,
    /// The folder that holds it, open and locked: the published folder itself is replaced. None if
    /// it is only looked at.
    lock: Option<File>,
    /// What the names of temporary folders next to it begin with.
    prefix: String,
}

impl Target {
    /// Finds the folder and locks it. It need not exist; if it does, it must be empty or written
    /// by an earlier publish.
    pub(crate) fn open(to: &Path, scripts: &Path) -> Result<Self, PublishError> {
        let mut target = Self::find(to, scripts)?;
        let parent = &target.parent.clone();
        let disk = |doing| move |e| PublishError::disk(doing, parent, e);
        fs::create_dir_all(parent).map_err(disk("making the folder"))?;
        target.lock = lock(parent).map_err(disk("locking"))?;
        if target.lock.is_none() {
            return Err(PublishError::Busy { path: target.path, seconds: LOCK_TIMEOUT.as_secs() });
        }
        target.sweep().map_err(disk("clearing"))?;
        target.refuse_foreign()
    }

    /// Finds the folder, and changes nothing.
    pub(crate) fn look(to: &Path, scripts: &Path) -> Result<Self, PublishError> {
        Self::find(to, scripts)?.refuse_foreign()
    }

    fn find(to: &Path, scripts: &Path) -> Result<Self, PublishError> {
        let path = resolve(to).map_err(|e| PublishError::disk("resolving", to, e))?;
        let not_ours = |what: String| PublishError::NotOurs { path: path.clone(), what };
        let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(|n| n.to_str()))
        else {
            return Err(not_ours("it can't be replaced by a new folder".to_owned()));
        };
        if let Ok(scripts) = fs::canonicalize(scripts)
            && (scripts.starts_with(&path) || path.starts_with(&scripts))
        {
            let what =
                format!("it and the scripts' folder {} are one in the other", scripts.display());
            return Err(not_ours(what));
        }
        let (parent, prefix) = (parent.to_owned(), format!(".{name}.publish-"));
        Ok(Self { path, parent, lock: None, prefix })
    }

    fn refuse_foreign(self) -> Result<Self, PublishError> {
        match self.foreign().map_err(|e| PublishError::disk("reading", &self.path, e))? {
            Some(what) => Err(PublishError::NotOurs { path: self.path, what }),
            None => Ok(self),
        }
    }

    /// The folder, without links.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that holds it.
    pub(crate) fn parent(&self) -> &Path {
        &self.parent
    }

    /// What the names of temporary folders next to it begin with.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The name of the old folder between the steps of a replacement in two steps.
    pub(crate) fn aside(&self) -> PathBuf {
        self.parent.join(format!("{}old", self.prefix))
    }

    /// Puts the folder's name on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.lock.as_ref().map_or(Ok(()), File::sync_all)
    }

    /// Removes what a killed publish has left, and moves the old folder back if it was between
    /// its two steps.
    fn sweep(&self) -> io::Result<()> {
        if !self.path.exists() && self.aside().exists() {
            fs::rename(self.aside(), &self.path)?;
        }
        for entry in fs::read_dir(&self.parent)? {
            let entry = entry?;
            let ours =
                entry.file_name().to_str().is_some_and(|name| name.starts_with(&self.prefix));
            if ours && entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }

    /// What is in the folder that publish did not write, and would remove.
    fn foreign(&self) -> io::Result<Option<String>> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries.collect::<io::Result<Vec<_>>>()?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        let names = entries.iter().map(fs::DirEntry::file_name).collect::<Vec<_>>();
        if names.is_empty() {
            return Ok(None);
        }
        if let Some(name) = names.iter().find(|name| !OURS.iter().any(|ours| *name == *ours)) {
            return Ok(Some(format!(
                "it holds {}, which isn't published by provostctl",
                name.display()
            )));
        }
        let has_manifest = names.iter().any(|name| name == OURS[0]);
        Ok((!has_manifest).then(|| "it isn't empty and has no manifest.toml".to_owned()))
    }
}

/// The folder's path without links, whether it exists or not.
fn resolve(to: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(to) {
        Err(e) if e.kind() == io::ErrorKind::NotFound && !to.is_symlink() => {}
        resolved => return resolved,
    }
    // The part that exists without links, then the rest.
    let absolute = std::path::absolute(to)?;
    for parent in absolute.ancestors().skip(1) {
        if let (Ok(resolved), Ok(rest)) = (fs::canonicalize(parent), absolute.strip_prefix(parent))
        {
            return Ok(resolved.join(rest));
        }
    }
    Ok(absolute)
}

/// Keeps every publication from the published folder `www`, as long as the answer lives: for who reads all
/// of it. The folder need not exist.
///
/// # Errors
///
/// The failed call's own, or [`TimedOut`](io::ErrorKind::TimedOut) while another publication goes on.
pub fn lock_published(www: &Path) -> io::Result<Option<File>> {
    let www = resolve(www)?;
    match www.parent().map(lock) {
        None => Ok(None),
        Some(Err(e)) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Some(locked) => locked?.map(Some).ok_or_else(|| {
            let why = format!("another publish to {} is in progress", www.display());
            io::Error::new(io::ErrorKind::TimedOut, why)
        }),
    }
}

/// Locks the folder; none if another publish keeps the lock for too long.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    let file = File::open(folder)?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if started.elapsed() > LOCK_TIMEOUT => return Ok(None),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(50)),
            Err(TryLockError::Error(e)) => return Err(e),
        }
    }
}

//! What was published before, so that it can be published again: each publication with its
//! `site.toml` and its files, signed. A web server doesn't serve the folder.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use jiff::Timestamp;
use provost_bundle::{Digest, FileEntry, Signature};
use serde::{Deserialize, Serialize};

use crate::error::PublishError;
use crate::key::SecretKey;

/// Its folder in the published one. Only the publisher may enter it: a `site.toml` may have secrets.
pub(crate) const FOLDER: &str = ".provost";
/// So many publications are kept.
pub(crate) const MOST: usize = 20;

/// Why something was published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It was changed.
    #[default]
    Publish,
    /// A channel had it before.
    Promote,
    /// It was published before, and something else since.
    Rollback,
    /// Another key signs it.
    Rotate,
    /// It says that a key counts no more.
    Revoke,
}

impl Action {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Promote => "promote",
            Self::Rollback => "rollback",
            Self::Rotate => "rotate",
            Self::Revoke => "revoke",
        }
    }
}

/// Who publishes what, for the history.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// Why.
    pub action: Action,
    /// The user.
    pub by: &'a str,
    /// The machine.
    pub host: &'a str,
    /// What changes, in a few lines.
    pub summary: &'a str,
    /// The text of `site.toml`.
    pub site: &'a str,
    /// The nodes of the groups outside `site.toml` that it names, by their names in it.
    pub groups: &'a BTreeMap<String, String>,
}

/// A publication, as the history has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Counts the publications of this folder.
    pub number: u64,
    /// When it was.
    pub at: Timestamp,
    /// Which user published it.
    pub by: String,
    /// On which machine.
    pub host: String,
    /// Why.
    pub action: Action,
    /// To which channel; none: to all nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The bundle's generation.
    pub generation: u64,
    /// Of all files and plans.
    pub content: Digest,
    /// What it changed, in a few lines.
    pub summary: String,
    /// The text of `site.toml`.
    pub site: String,
    /// The nodes of the groups outside `site.toml` that it names, by their names in it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, String>,
    /// The files.
    pub files: Vec<FileEntry>,
}

/// What was published to the folder `www`, newest first. What can't be read is left out.
pub fn history(www: &Path) -> Vec<Record> {
    let read = |number: u64| -> Option<Record> {
        let text = fs::read_to_string(www.join(file(number))).ok()?;
        toml::from_str(&text).ok().filter(|record: &Record| record.number == number)
    };
    let mut records: Vec<Record> = numbers(www).into_iter().filter_map(read).collect();
    records.sort_by_key(|record| std::cmp::Reverse(record.number));
    records
}

impl Record {
    pub(crate) fn text(&self) -> Result<String, PublishError> {
        let path = file(self.number);
        let failed = |e: toml::ser::Error| io::Error::other(e.to_string());
        toml::to_string(self)
            .map_err(|e| PublishError::disk("writing", Path::new(&path), failed(e)))
    }

    pub(crate) fn file(&self) -> String {
        file(self.number)
    }

    /// Writes its files into the folder `scripts`, once it is clear that the owner of `key` has
    /// published them.
    pub fn restore(&self, www: &Path, key: &SecretKey, scripts: &Path) -> Result<(), PublishError> {
        let path = www.join(self.file());
        verify(&path, key)?;
        // What was parsed must be what is verified.
        let text = fs::read(&path).map_err(|e| PublishError::disk("reading", &path, e))?;
        if text != self.text()?.as_bytes() {
            return Err(PublishError::Unverified { path });
        }
        for entry in &self.files {
            let (from, to) = (www.join(entry.object_path()), scripts.join(&entry.path));
            let bytes = fs::read(&from).map_err(|e| PublishError::disk("reading", &from, e))?;
            if Digest::of(&bytes) != entry.sha256 {
                return Err(PublishError::Unverified { path: from });
            }
            let write = || -> io::Result<()> {
                for folder in to.ancestors().skip(1).take_while(|at| at.starts_with(scripts)) {
                    fs::create_dir_all(folder)?;
                    fs::set_permissions(folder, PermissionsExt::from_mode(0o755))?;
                }
                fs::write(&to, &bytes)?;
                fs::set_permissions(&to, PermissionsExt::from_mode(entry.mode.bits()))
            };
            write().map_err(|e| PublishError::disk("writing", &to, e))?;
        }
        Ok(())
    }
}

/// Checks that `key` has signed the file.
pub(crate) fn verify(path: &Path, key: &SecretKey) -> Result<(), PublishError> {
    let read = |path: &Path| fs::read(path).map_err(|e| PublishError::disk("reading", path, e));
    let text = read(path)?;
    let signature = read(&path.with_added_extension("minisig")).unwrap_or_default();
    let signature = Signature::decode(&String::from_utf8_lossy(&signature));
    match signature.is_some_and(|signature| key.public().verifies(&text, &signature)) {
        true => Ok(()),
        false => Err(PublishError::Unverified { path: path.to_owned() }),
    }
}

/// The publications that there are.
pub(crate) fn numbers(www: &Path) -> Vec<u64> {
    let Ok(entries) = fs::read_dir(www.join(FOLDER)) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| name.strip_suffix(".toml")?.parse().ok()).collect()
}

pub(crate) fn file(number: u64) -> String {
    format!("{FOLDER}/{number}.toml")
}

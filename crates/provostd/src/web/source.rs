//! The text of a published script, as the manifest names it, and what changed since the generation before.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use provost_api::published::MANIFEST;
use provost_bundle::{Digest, FileEntry, Manifest};
use provost_publish::history;
use similar::{ChangeTag, TextDiff};

use crate::published::PublishedFolder;

/// The longest text that is shown, in bytes.
const MOST_BYTES: u64 = 128 * 1024;
/// How many unchanged lines stand around a change.
const CONTEXT: usize = 3;
/// Of how many scripts the text is kept.
const KEPT: usize = 16;

/// A script's text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Source {
    /// The generation that nodes get now.
    pub(super) generation: u64,
    pub(super) lines: Vec<String>,
    /// Why it isn't shown, if it isn't.
    pub(super) hidden: Option<&'static str>,
    pub(super) changed: Option<Changed>,
}

/// What changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changed {
    /// The last generation that had another text.
    pub(super) before: u64,
    /// Each line with its tone.
    pub(super) lines: Vec<(&'static str, String)>,
}

/// What says that something was published: the inode and the time of the manifest.
type Stamp = (u64, i64, i64);

/// The texts that were looked at last.
pub(crate) struct Sources {
    www: PublishedFolder,
    kept: Mutex<HashMap<String, Kept>>,
}

/// What was found for a script, if it is published.
struct Kept {
    stamp: Stamp,
    source: Option<Arc<Source>>,
}

impl Sources {
    pub(crate) fn new(www: PublishedFolder) -> Self {
        Self { www, kept: Mutex::default() }
    }

    /// The text of `script`, if it is published. It reads files.
    pub(super) fn source(&self, script: &str) -> Option<Arc<Source>> {
        let stamp = stamp(&self.www).ok()?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(script).filter(|known| known.stamp == stamp) {
            return known.source.clone();
        }
        if kept.len() >= KEPT {
            kept.clear();
        }
        let source = Source::read(&self.www, script).map(Arc::new);
        kept.insert(script.to_owned(), Kept { stamp, source: source.clone() });
        source
    }
}

fn stamp(www: &Path) -> io::Result<Stamp> {
    let found = fs::metadata(www.join(MANIFEST))?;
    Ok((found.ino(), found.mtime(), found.mtime_nsec()))
}

impl Source {
    fn read(www: &Path, script: &str) -> Option<Self> {
        let manifest = Manifest::parse(&fs::read(www.join(MANIFEST)).ok()?).ok()?;
        let entry = manifest.file(script)?;
        let source = Self { generation: manifest.generation, ..Self::default() };
        let text = match text(www, entry) {
            Ok(text) => text,
            Err(hidden) => return Some(Self { hidden: Some(hidden), ..source }),
        };
        let changed = changed(www, entry, &text);
        Some(Self { lines: text.lines().map(str::to_owned).collect(), changed, ..source })
    }
}

/// The text of a published file, or why there is none.
fn text(www: &Path, entry: &FileEntry) -> Result<String, &'static str> {
    if entry.size > MOST_BYTES {
        return Err("It is longer than 128 KiB.");
    }
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(www.join(entry.object_path()))?.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|_| "The published file can't be read.")?;
    // What nodes would refuse is no source.
    if Digest::of(&bytes) != entry.sha256 {
        return Err("The published file isn't the one that the manifest names.");
    }
    if bytes.contains(&0) {
        return Err("It is no text.");
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What changed since the last generation that had another text, where that is kept.
fn changed(www: &Path, entry: &FileEntry, text_now: &str) -> Option<Changed> {
    // The newest first.
    let before = history(www).into_iter().find_map(|record| {
        let file = record.files.into_iter().find(|file| file.path == entry.path)?;
        (file.sha256 != entry.sha256).then_some((record.generation, file))
    });
    let (before, file) = before?;
    let text_before = text(www, &file).ok()?;
    let diff = TextDiff::from_lines(&*text_before, text_now);
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        lines.push(("faint", hunk.header().to_string()));
        lines.extend(hunk.iter_changes().map(|change| {
            let (sign, tone) = match change.tag() {
                ChangeTag::Delete => ('-', "bad"),
                ChangeTag::Insert => ('+', "good"),
                ChangeTag::Equal => (' ', ""),
            };
            (tone, format!("{sign}{}", change.value().trim_end_matches('\n')))
        }));
    }
    (!lines.is_empty()).then_some(Changed { before, lines })
}

/// The line of `script` that a failure names: `88 install_all /xcatpost/otherpkgs` is one of `otherpkgs`.
pub(super) fn line_of(script: &str, error_line: &str) -> Option<usize> {
    let (number, rest) = error_line.split_once(' ')?;
    let file = rest.rsplit_once(' ').map_or(rest, |(_, file)| file);
    let is_its =
        file.strip_suffix(script).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'));
    number.parse().ok().filter(|_| is_its)
}

/// On how many nodes each line failed.
pub(super) type FailedLines = BTreeMap<usize, usize>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_a_line_of_its_script() {
        let of = |line| line_of("site/otherpkgs", line);
        assert_eq!(of("88 install_all /xcatpost/site/otherpkgs"), Some(88));
        assert_eq!(of("7 main /var/lib/provost/bundle/site/otherpkgs"), Some(7));
        for other in [
            "88 install_all /xcatpost/otherpkgs",
            "88 f /x/mysite/otherpkgs",
            "x f /site/otherpkgs",
            "",
            "12",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}

//! What has changed, by the upper layers of the overlays. A script made them: no name, link or number
//! of files in them is trusted.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::mounts;
use super::overlay::Layer;

/// The most entries that are kept; the rest is counted.
const MOST_ENTRIES: usize = 20_000;
/// The most bytes of a text of which both versions are kept.
const MOST_OF_TEXT: u64 = 256 << 10;
/// The most bytes of all texts that are kept.
const MOST_OF_ALL: u64 = 32 << 20;
/// How much is compared at once, in bytes.
const CHUNK: usize = 64 << 10;
/// The most bytes of an attribute, or of all names, that are compared.
const MOST_OF_ATTRIBUTE: usize = 4096;
/// How the overlay's own attributes begin.
const OWN: &[&str] = &["trusted.overlay.", "user.overlay."];
/// The attribute of a folder that hides the one below it.
const OPAQUE: &[&str] = &["trusted.overlay.opaque", "user.overlay.opaque"];

/// All changes.
#[derive(Debug, Default)]
pub struct Changes {
    /// By path.
    pub entries: BTreeMap<PathBuf, Entry>,
    /// How many more there are.
    pub more: usize,
    /// What couldn't be read.
    pub unreadable: Vec<PathBuf>,
    /// How many more bytes of texts may be kept.
    room: u64,
}

/// A change of one path.
#[derive(Debug)]
pub struct Entry {
    /// What happened.
    pub what: What,
    /// As it was.
    pub before: Option<Look>,
    /// As it is.
    pub after: Option<Look>,
}

/// What happened to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It wasn't there.
    Made,
    /// It was, and is another one.
    Changed,
    /// It isn't there any more, with all that was in it.
    Removed,
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// What it is.
    pub kind: Kind,
    /// Its permission bits.
    pub mode: u32,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its bytes, of a file.
    pub size: u64,
    /// Its text, if it is one and not long.
    pub text: Option<String>,
    /// Its extended attributes, such as SELinux's label, access lists and capabilities.
    pub attributes: Attributes,
}

/// Extended attributes by name.
pub type Attributes = BTreeMap<String, Vec<u8>>;

/// What a path is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, and where it leads.
    Link(PathBuf),
    /// A pipe, a socket, or a device.
    Other,
}

/// Reads all layers but for what is below `except`.
pub(super) fn read(layers: &[Layer], except: &[PathBuf]) -> Changes {
    let mut changes = Changes { room: MOST_OF_ALL, ..Changes::default() };
    for layer in layers {
        if !except.iter().any(|except| layer.point.starts_with(except)) {
            changes.read(layer, except);
        }
    }
    changes
}

impl Changes {
    fn read(&mut self, layer: &Layer, except: &[PathBuf]) {
        let lower = mounts::name(&layer.lower);
        let root = PathBuf::new();
        let mut folders = vec![root.clone()];
        // The root folder itself.
        self.compare(layer, &lower, &root);
        while let Some(folder) = folders.pop() {
            let upper = layer.upper.join(&folder);
            let Ok(entries) = fs::read_dir(&upper) else {
                self.unreadable.push(layer.point.join(folder));
                continue;
            };
            for entry in entries.flatten() {
                let path = folder.join(entry.file_name());
                if except.iter().any(|except| layer.point.join(&path).starts_with(except)) {
                    continue;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path.clone());
                }
                self.compare(layer, &lower, &path);
            }
            if is_opaque(&upper) {
                self.hidden(layer, &lower, &folder);
            }
        }
    }

    /// What was in the folder below one that hides it.
    fn hidden(&mut self, layer: &Layer, lower: &Path, folder: &Path) {
        // Not there, if it was made anew elsewhere.
        for entry in fs::read_dir(lower.join(folder)).into_iter().flatten().flatten() {
            let path = folder.join(entry.file_name());
            if fs::symlink_metadata(layer.upper.join(&path)).is_err() {
                let before = self.look(&lower.join(&path));
                self.add(layer.point.join(path), What::Removed, before, None);
            }
        }
    }

    fn compare(&mut self, layer: &Layer, lower: &Path, path: &Path) {
        let (was, is) = (lower.join(path), layer.upper.join(path));
        // The folder itself, not the name through which it is open.
        let was = if path.as_os_str().is_empty() { was.join(".") } else { was };
        let point = layer.point.join(path);
        let Ok(after) = fs::symlink_metadata(&is) else {
            self.unreadable.push(point);
            return;
        };
        let before = match fs::symlink_metadata(&was) {
            // A folder that this user may not look into: it is there, and as it was.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied && !layer.is_root => return,
            before => before.ok(),
        };
        if after.file_type().is_char_device() && after.rdev() == 0 {
            if before.is_some() {
                let before = self.look(&was);
                self.add(point, What::Removed, before, None);
            }
            return;
        }
        match before {
            None => {
                let after = self.look(&is);
                self.add(point, What::Made, None, after);
            }
            Some(before) if is_same(layer, &before, &after, &was, &is) => {}
            Some(_) => {
                let (mut before, after) = (self.look(&was), self.look(&is));
                if let (Some(before), Some(after), false) = (&mut before, &after, layer.is_root) {
                    (before.uid, before.gid) = (after.uid, after.gid);
                }
                self.add(point, What::Changed, before, after);
            }
        }
    }

    fn add(&mut self, path: PathBuf, what: What, before: Option<Look>, after: Option<Look>) {
        if self.entries.len() < MOST_ENTRIES {
            self.entries.insert(path, Entry { what, before, after });
        } else {
            self.more += 1;
        }
    }

    fn look(&mut self, path: &Path) -> Option<Look> {
        let metadata = fs::symlink_metadata(path).ok()?;
        let kind = match metadata.file_type() {
            kind if kind.is_file() => Kind::File,
            kind if kind.is_dir() => Kind::Folder,
            kind if kind.is_symlink() => Kind::Link(fs::read_link(path).ok()?),
            _ => Kind::Other,
        };
        let (uid, gid) = (metadata.uid(), metadata.gid());
        let is_file = kind == Kind::File;
        let size = if is_file { metadata.len() } else { 0 };
        let text =
            if is_file && self.entries.len() < MOST_ENTRIES { self.text(path, size) } else { None };
        let attributes = attributes(path);
        Some(Look { kind, mode: metadata.mode() & 0o7777, uid, gid, size, text, attributes })
    }

    fn text(&mut self, path: &Path, size: u64) -> Option<String> {
        if size > MOST_OF_TEXT.min(self.room) {
            return None;
        }
        let text = provost_fs::read_given(path, MOST_OF_TEXT).ok()?;
        let text = String::from_utf8(text).ok().filter(|text| !text.contains('\0'))?;
        self.room -= size;
        Some(text)
    }
}

fn is_opaque(folder: &Path) -> bool {
    OPAQUE.iter().any(|name| {
        let mut value = [0; 1];
        let read = rustix::fs::lgetxattr(folder, *name, &mut value[..]);
        read == Ok(1) && value == *b"y"
    })
}

/// Those of a path itself, but for the overlay's own.
fn attributes(path: &Path) -> Attributes {
    let mut names = [0; MOST_OF_ATTRIBUTE];
    let read = rustix::fs::llistxattr(path, &mut names[..]).unwrap_or_default();
    let names = String::from_utf8_lossy(names.get(..read).unwrap_or_default()).into_owned();
    let names = names.split('\0').filter(|name| !name.is_empty());
    let of_file = names.filter(|name| !OWN.iter().any(|own| name.starts_with(own)));
    let attribute = |name: &str| {
        let mut value = vec![0; MOST_OF_ATTRIBUTE];
        let read = rustix::fs::lgetxattr(path, name, &mut value[..]).ok()?;
        value.truncate(read);
        Some((name.to_owned(), value))
    };
    of_file.filter_map(attribute).collect()
}

/// Whether a copy in the upper layer differs in nothing from what is below it.
fn is_same(layer: &Layer, before: &Metadata, after: &Metadata, was: &Path, is: &Path) -> bool {
    // In a user's own namespace, what belongs to others is nobody's.
    let owner = |m: &Metadata| layer.is_root.then(|| (m.uid(), m.gid()));
    let of = |m: &Metadata| (m.mode(), owner(m));
    if of(before) != of(after) || attributes(was) != attributes(is) {
        return false;
    }
    let kind = after.file_type();
    if kind.is_file() {
        before.len() == after.len() && is_same_content(was, is).unwrap_or(false)
    } else if kind.is_symlink() {
        fs::read_link(was).ok() == fs::read_link(is).ok()
    } else {
        before.rdev() == after.rdev()
    }
}

fn is_same_content(was: &Path, is: &Path) -> io::Result<bool> {
    let (mut was, mut is) = (provost_fs::open_given(was)?, provost_fs::open_given(is)?);
    let (mut before, mut after) = (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
    loop {
        before.clear();
        after.clear();
        (&mut was).take(CHUNK as u64).read_to_end(&mut before)?;
        (&mut is).take(CHUNK as u64).read_to_end(&mut after)?;
        if before != after || before.is_empty() {
            return Ok(before == after);
        }
    }
}

//! The files that a script finds beside it: those of its folder, as far as they can be read. Nothing is
//! published, so that publishing's rules don't apply.

use std::collections::VecDeque;
use std::fs::{self, DirEntry, Metadata};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use provost_bundle::{Manifest, check_path};
use provost_steplog::wording;

use crate::output;

/// How many files that were left out are named.
const NAMED: usize = 3;

/// A file of the bundle.
pub(super) struct BundleFile {
    /// Its path in the bundle.
    pub(super) name: String,
    /// Where it is.
    pub(super) path: PathBuf,
    /// Whether it is executable.
    pub(super) is_program: bool,
}

/// How much is taken.
pub(super) struct Limits {
    files: usize,
    bytes: u64,
    /// How many entries of folders are looked at.
    entries: usize,
    /// Whether other file systems are left alone.
    is_within_device: bool,
}

impl Limits {
    /// Those of a folder that is only known by a script in it: it may be a home, or /usr/bin.
    pub(super) const OF_NEIGHBOURS: Self =
        Self { files: 1_000, bytes: 16 << 20, entries: 10_000, is_within_device: true };
    /// Those of a folder of scripts: what a node takes.
    pub(super) const OF_SCRIPTS: Self = Self {
        files: Manifest::MAX_FILES,
        bytes: Manifest::MAX_TOTAL,
        entries: 10 * Manifest::MAX_FILES,
        is_within_device: false,
    };
}

/// What the script won't find.
#[derive(Default)]
pub(super) struct LeftOut {
    count: usize,
    named: Vec<String>,
    /// Whether there may be more, which weren't looked at.
    is_cut: bool,
}

impl LeftOut {
    pub(super) fn add(&mut self, name: impl Into<String>) {
        self.count += 1;
        if self.named.len() < NAMED {
            self.named.push(name.into());
        }
    }

    /// Says it in one line, if it is something.
    pub(super) fn show(&self, script: &str) {
        if self.count == 0 && !self.is_cut {
            return;
        }
        let more = if self.is_cut { " or more" } else { "" };
        let dots = if self.count > self.named.len() { ", …" } else { "" };
        let names = match &*self.named.join(", ") {
            "" => String::new(),
            names => format!(" ({names}{dots})"),
        };
        let files = wording::count(self.count, "file");
        output::note(&format!(
            "note: {script} runs without {files}{more} beside it{names}: unreadable, or too many or too \
             big; --scripts DIR takes up to {} MiB",
            Manifest::MAX_TOTAL >> 20
        ));
    }
}

/// Finds the files of a folder but for `script`, the smallest of each folder first, and what is in folders
/// below after them. Links that stay inside the folder are followed.
pub(super) fn find(
    root: &Path,
    script: &str,
    limits: Limits,
    left_out: &mut LeftOut,
) -> Vec<BundleFile> {
    let (Ok(canonical), Ok(metadata)) = (fs::canonicalize(root), fs::metadata(root)) else {
        return Vec::new();
    };
    let first =
        Folder { path: root.to_owned(), prefix: String::new(), inside: vec![canonical.clone()] };
    let mut walk = Walk {
        script,
        root: canonical,
        device: metadata.dev(),
        limits,
        folders: VecDeque::from([first]),
        files: Vec::new(),
        left_out,
    };
    while let Some(folder) = walk.folders.pop_front() {
        walk.folder(&folder);
    }
    walk.files
}

struct Folder {
    path: PathBuf,
    prefix: String,
    /// This one and those that it is in, without links.
    inside: Vec<PathBuf>,
}

struct Walk<'a> {
    script: &'a str,
    root: PathBuf,
    device: u64,
    /// What is left of them.
    limits: Limits,
    folders: VecDeque<Folder>,
    files: Vec<BundleFile>,
    left_out: &'a mut LeftOut,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Folder) {
        let Ok(entries) = fs::read_dir(&folder.path) else {
            return self.left_out.add(&folder.prefix);
        };
        let mut files = Vec::new();
        for entry in entries.flatten() {
            if self.limits.entries == 0 {
                self.left_out.is_cut = true;
                break;
            }
            self.limits.entries -= 1;
            files.extend(self.entry(folder, &entry));
        }
        files.sort_by_cached_key(|(file, size)| (*size, file.name.clone()));
        for (file, size) in files {
            if self.limits.files == 0 || size > self.limits.bytes.min(Manifest::MAX_FILE) {
                self.left_out.add(file.name);
                continue;
            }
            self.limits.files -= 1;
            self.limits.bytes -= size;
            self.files.push(file);
        }
    }

    /// A regular file with its size; a folder is kept for later.
    fn entry(&mut self, folder: &Folder, entry: &DirEntry) -> Option<(BundleFile, u64)> {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // As publishing does.
        if name.starts_with('.') || name.ends_with('~') {
            return None;
        }
        let (name, path) = (format!("{}{name}", folder.prefix), entry.path());
        if name == self.script {
            return None;
        }
        let Some((metadata, canonical)) = self.inside(&path, entry) else {
            self.left_out.add(name);
            return None;
        };
        if check_path(&name).is_err() || entry.file_name().to_str().is_none() {
            self.left_out.add(name);
        } else if metadata.is_file() {
            let is_program = metadata.permissions().mode() & 0o111 != 0;
            return Some((BundleFile { name, path, is_program }, metadata.len()));
        } else if metadata.is_dir() && !folder.inside.contains(&canonical) {
            let inside = folder.inside.iter().cloned().chain([canonical]).collect();
            self.folders.push_back(Folder { path, prefix: format!("{name}/"), inside });
        }
        None
    }

    /// What it is, and its path without links, if it is in the folder.
    fn inside(&self, path: &Path, entry: &DirEntry) -> Option<(Metadata, PathBuf)> {
        let is_link = entry.file_type().ok()?.is_symlink();
        let is_folder = entry.file_type().ok()?.is_dir();
        let canonical = match is_link || is_folder {
            true => fs::canonicalize(path).ok()?,
            false => path.to_owned(),
        };
        let metadata = fs::metadata(path).ok()?;
        let is_inside = !is_link || canonical.starts_with(&self.root);
        // In an overlay, a file may have the device of its layer.
        let is_near =
            !metadata.is_dir() || !self.limits.is_within_device || metadata.dev() == self.device;
        (is_inside && is_near).then_some((metadata, canonical))
    }
}

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use provost_bundle::check_path;

use crate::error::Problem;

/// The folder of files that a synclist names by their absolute paths: `/etc/hosts` is `_sync/root/etc/hosts`.
pub(crate) const ROOT: &str = "_sync/root/";

/// A regular file in the scripts' folder.
#[derive(Debug)]
pub(crate) struct Found {
    /// Its path in the bundle.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Of the file itself, where `path` is a link.
    pub(crate) metadata: Metadata,
}

/// Finds the files under a folder. Links that stay inside it are followed.
pub(crate) fn walk(root: &Path, problems: &mut Vec<Problem>) -> Vec<Found> {
    let mut walk = Walk { root: PathBuf::new(), inside: Vec::new(), found: Vec::new(), problems };
    match fs::canonicalize(root) {
        Ok(canonical) => {
            walk.root.clone_from(&canonical);
            walk.folder(root, "", canonical);
        }
        Err(e) => walk.problem(root, e.to_string(), "name the folder that holds the scripts"),
    }
    walk.found
}

struct Walk<'p> {
    root: PathBuf,
    /// The folders that the walk is in, without links.
    inside: Vec<PathBuf>,
    found: Vec<Found>,
    problems: &'p mut Vec<Problem>,
}

impl Walk<'_> {
    fn problem(&mut self, path: &Path, what: impl Into<String>, fix: impl Into<String>) {
        self.problems.push(Problem::new(path.display(), what, fix));
    }

    fn folder(&mut self, path: &Path, prefix: &str, canonical: PathBuf) {
        let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(e) => {
                let fix = format!(
                    "make it a folder that this user can read: chmod a+rx {}",
                    path.display()
                );
                return self.problem(path, format!("it can't be listed: {e}"), fix);
            }
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        self.inside.push(canonical);
        for entry in entries {
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                self.problem(&entry.path(), "its name isn't UTF-8 text", "rename it");
                continue;
            };
            let is_named = prefix.starts_with(ROOT);
            if is_named || !name.starts_with('.') && !name.ends_with('~') {
                self.entry(&path.join(name), format!("{prefix}{name}"));
            }
        }
        self.inside.pop();
    }

    fn entry(&mut self, path: &Path, name: String) {
        if let Err(e) = check_path(&name) {
            return self.problem(path, e.to_string(), e.hint());
        }
        let canonical = match fs::canonicalize(path) {
            Ok(canonical) => canonical,
            Err(e) => return self.unreachable(path, &e),
        };
        if !canonical.starts_with(&self.root) {
            let what = format!("the link leaves the scripts' folder, to {}", canonical.display());
            return self.problem(path, what, "copy the file itself to its place");
        }
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(e) => return self.unreachable(path, &e),
        };
        if metadata.is_file() {
            self.found.push(Found { name, path: path.to_owned(), metadata });
        } else if !metadata.is_dir() {
            self.problem(
                path,
                "it isn't a regular file but a pipe, a socket or a device",
                "remove it",
            );
        } else if self.inside.contains(&canonical) {
            self.problem(path, "the link leads back to a folder that it is in", "remove the link");
        } else if metadata.permissions().mode() & 0o005 != 0o005 {
            let fix = format!("chmod a+rx {}, or remove it", path.display());
            self.problem(
                path,
                "others can't read the folder, and what is published is readable by all",
                fix,
            );
        } else {
            self.folder(path, &format!("{name}/"), canonical);
        }
    }

    fn unreachable(&mut self, path: &Path, error: &io::Error) {
        let target = fs::read_link(path).map(|target| target.display().to_string());
        match (target, error.raw_os_error().map(rustix::io::Errno::from_raw_os_error)) {
            (Ok(target), Some(rustix::io::Errno::NOENT)) => {
                let what = format!("the link leads to {target}, which isn't there");
                self.problem(path, what, "put the file there, or remove the link");
            }
            (_, Some(rustix::io::Errno::LOOP)) => {
                self.problem(path, "the link leads back to itself", "remove the link");
            }
            _ => self.problem(
                path,
                format!("it can't be read: {error}"),
                format!("chmod a+r {}", path.display()),
            ),
        }
    }
}

//! What scripts expect in /xcatpost besides the files of the management node's tree.

use std::fs::{DirEntry, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// What scripts fetch from xcatd and keep there. It is for root alone.
const CREDENTIALS: [&str; 4] = ["_xcat", "_ssh", "ca", "hostkeys"];
/// The library that scripts source.
const LIBRARY: &str = "xcatlib.sh";

/// Completes `new`, which has the files of the tree and will replace `old`: it writes `mypostscript`,
/// if there is one, and the part of it that runs after the boot; makes each script executable; keeps
/// the tree's credentials for root alone, or takes those of `old` where the tree has none; and links
/// our own library, from the folder `library`, where the tree has none.
pub(super) fn complete(
    new: &Path,
    old: &Path,
    mypostscript: Option<&str>,
    library: &Path,
) -> io::Result<()> {
    if let Some(text) = mypostscript {
        put(new, "mypostscript", text)?;
        put(new, "mypostscript.post", &after_boot(text))?;
    }
    for name in CREDENTIALS {
        match new.join(name).exists() {
            true => make_private(&new.join(name))?,
            false => copy(&old.join(name), &new.join(name))?,
        }
    }
    for entry in std::fs::read_dir(new)? {
        let entry = entry?;
        if !CREDENTIALS.iter().any(|name| entry.file_name() == *name) {
            make_executable(&entry)?;
        }
    }
    match new.join(LIBRARY).exists() {
        true => Ok(()),
        false => symlink(library.join(LIBRARY), new.join(LIBRARY)),
    }
}

/// It has the values of all tables: only root may read it.
fn put(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let mode = Permissions::from_mode(0o700);
    let mut file = tempfile::Builder::new().permissions(mode).tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(folder.join(name))?;
    Ok(())
}

/// `mypostscript` without the list of what runs before the boot.
fn after_boot(mypostscript: &str) -> String {
    let is_marker = |line: &str, name: &str| {
        line.trim().strip_prefix('#').is_some_and(|text| text.trim_start() == name)
    };
    let mut inside = false;
    let mut kept = String::new();
    for line in mypostscript.lines() {
        inside |= is_marker(line, "postscripts-start-here");
        if !inside {
            kept += line;
            kept.push('\n');
        }
        inside &= !is_marker(line, "postscripts-end-here");
    }
    kept
}

fn make_executable(entry: &DirEntry) -> io::Result<()> {
    let meta = entry.metadata()?;
    if meta.is_dir() {
        return std::fs::read_dir(entry.path())?.try_for_each(|entry| make_executable(&entry?));
    }
    let mode = meta.permissions().mode() & 0o7777;
    if !meta.is_file() || mode & 0o111 == 0o111 {
        return Ok(());
    }
    let is_private = mode & 0o077 == 0;
    let mode = if is_private { mode | 0o100 } else { mode | 0o111 };
    std::fs::set_permissions(entry.path(), Permissions::from_mode(mode))
}

fn make_private(path: &Path) -> io::Result<()> {
    let meta = std::fs::symlink_metadata(path)?;
    if meta.is_dir() {
        return std::fs::read_dir(path)?.try_for_each(|entry| make_private(&entry?.path()));
    }
    match meta.is_file() {
        true => std::fs::set_permissions(path, Permissions::from_mode(0o600)),
        false => Ok(()),
    }
}

/// Copies a file, or a folder with all that is in it, with its mode, if it is there. Links and the like
/// aren't credentials.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(meta) = std::fs::symlink_metadata(from) else { return Ok(()) };
    if meta.is_file() {
        return std::fs::copy(from, to).map(drop);
    }
    if !meta.is_dir() {
        return Ok(());
    }
    std::fs::create_dir(to)?;
    for entry in std::fs::read_dir(from)? {
        let name = entry?.file_name();
        copy(&from.join(&name), &to.join(&name))?;
    }
    std::fs::set_permissions(to, meta.permissions())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn what_runs_after_the_boot_is_left_and_the_environment() {
        let text = "A='1'\n# postscripts-start-here\nsyslog\n#postscripts-end-here\n\
                    # postbootscripts-start-here\notherpkgs\n# postbootscripts-end-here\n";
        assert_eq!(
            after_boot(text),
            "A='1'\n# postbootscripts-start-here\notherpkgs\n# postbootscripts-end-here\n"
        );
    }

    #[test]
    fn the_folder_is_as_scripts_expect_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, text, mode) in [
            ("new/syslog", "", 0o644),
            ("new/sub/configure", "", 0o600),
            ("new/hostkeys/key", "the tree's", 0o755),
            ("old/_ssh/authorized_keys", "mine", 0o600),
            ("old/ca", "ours", 0o644),
            ("old/hostkeys/key", "the old one", 0o600),
            ("old/gone", "", 0o755),
        ] {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), text).unwrap();
            std::fs::set_permissions(at(name), Permissions::from_mode(mode)).unwrap();
        }
        symlink("/etc", at("old/_xcat")).unwrap();
        let library = at("lib");
        complete(&at("new"), &at("old"), Some("A=1\n"), &library).unwrap();
        assert_eq!(mode(&at("new/syslog")), 0o755);
        assert_eq!(mode(&at("new/sub/configure")), 0o700);
        assert_eq!((mode(&at("new/mypostscript")), mode(&at("new/hostkeys/key"))), (0o700, 0o600));
        let text = |name: &str| std::fs::read_to_string(at(name)).unwrap();
        assert_eq!(
            (text("new/_ssh/authorized_keys"), text("new/ca")),
            ("mine".into(), "ours".into())
        );
        assert_eq!(mode(&at("new/_ssh/authorized_keys")), 0o600);
        assert_eq!(
            (text("new/hostkeys/key"), text("new/mypostscript.post")),
            ("the tree's".into(), "A=1\n".into())
        );
        assert!(!at("new/gone").exists() && !at("new/_xcat").exists());
        assert_eq!(std::fs::read_link(at("new/xcatlib.sh")).unwrap(), library.join("xcatlib.sh"));
    }
}

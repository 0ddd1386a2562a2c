//! What a kickstart installs for the boots of the new root: this program, its configuration and the
//! units. It writes files and links only, because systemctl does nothing in an installer's chroot.

use std::fs::File;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use provost_fs::Durability;
use toml::Table;

use crate::failure::Failure;
use crate::settings::{Input, Origin, Settings};

/// The path of this program in the units …
const PROGRAM: &str = "/usr/bin/provost";
/// … and where /usr is read-only.
const PROGRAM_BESIDE_USR: &str = "/opt/bin/provost";
/// The unit that runs what a boot needs.
const BOOT: &str = "provost-boot.service";
/// The names and texts of the units; the first is the boot's.
pub const UNITS: [(&str, &str); 5] = [
    (BOOT, include_str!("../../../units/provost-boot.service")),
    ("provost-boot-retry.timer", include_str!("../../../units/provost-boot-retry.timer")),
    ("provost-report.service", include_str!("../../../units/provost-report.service")),
    ("provost-report.timer", include_str!("../../../units/provost-report.timer")),
    ("provost-renew.timer", include_str!("../../../units/provost-renew.timer")),
];
/// The most bytes that are read of it.
const MOST: u64 = 64 << 10;
/// Where a package installs its units.
const PACKAGED: [&str; 2] = ["/usr/lib/systemd/system", "/lib/systemd/system"];
/// The first line of a configuration that may be overwritten.
const HEAD: &str = "# Written by provost kickstart: the installer's settings.\n";

/// The installation into the root that this process sees.
pub struct Install<'a> {
    input: &'a Input,
    /// Where this root's own units are.
    units: PathBuf,
}

impl<'a> Install<'a> {
    /// None for a configuration file elsewhere, which no boot would read, and without root rights.
    pub fn of(input: &'a Input) -> Option<Self> {
        let usual = input.config().1 == Origin::Default && rustix::process::geteuid().is_root();
        let units = input.paths().etc.join("systemd/system");
        usual.then_some(Self { input, units })
    }

    /// Writes the files, unless they are there and right. [`Self::enable`] enables the boot unit.
    pub fn put(&self, settings: &Settings) -> Result<(), Failure> {
        let program = program();
        self.put_program(program).map_err(|e| failed(program, e))?;
        self.put_settings(settings)?;
        for (name, text) in UNITS {
            let path = self.units.join(name);
            if packaged(name).is_none() {
                let text = text.replace(PROGRAM, &program.display().to_string());
                put(&path, text.as_bytes(), 0o644).map_err(|e| failed(&path, e))?;
            }
        }
        Ok(())
    }

    /// Enables the boot unit.
    pub fn enable(&self) -> Result<(), Failure> {
        let unit = packaged(BOOT).unwrap_or_else(|| self.units.join(BOOT));
        let text = std::fs::read_to_string(&unit).map_err(|e| failed(&unit, e))?;
        let targets = text.lines().filter_map(|line| line.strip_prefix("WantedBy="));
        for target in targets.flat_map(str::split_ascii_whitespace) {
            let link = self.units.join(format!("{target}.wants")).join(BOOT);
            put_link(&unit, &link).map_err(|e| failed(&link, e))?;
        }
        Ok(())
    }

    /// A package's program stays.
    fn put_program(&self, there: &Path) -> io::Result<()> {
        let this = this_program()?;
        if this == there || (there.exists() && packaged(BOOT).is_some()) {
            return Ok(());
        }
        let mut this = File::open(this)?;
        provost_fs::create_folder_of(there)?;
        provost_fs::replace_with(there, Durability::PowerCut, |file| {
            file.set_mode(0o755)?;
            io::copy(&mut this, file.as_file_mut()).map(drop)
        })
    }

    /// Writes the settings that only the installer knows: from the environment, its kernel's command
    /// line, its host's name. A file of the admin's is left as it is; a drop-in next to it gets them.
    /// Those in xcatinfo are in the new root already, where `updatenode -M` changes them.
    fn put_settings(&self, settings: &Settings) -> Result<(), Failure> {
        let (main, _) = self.input.config();
        let old = provost_fs::read_given_text(main, MOST).unwrap_or_default();
        let is_ours = !main.exists() || old.starts_with(HEAD);
        let drop_in = main.with_extension("d").join("00-kickstart.toml");
        let path = if is_ours { main } else { &drop_in };

        let mut table = Table::new();
        let mut is_new = false;
        let stays = |key: &str| {
            matches!(self.input.values().find(|v| v.0 == key), Some((.., Origin::XcatInfo(_))))
        };
        for (key, value, origin) in self.input.values() {
            match origin {
                Origin::Default | Origin::XcatInfo(_) => continue,
                Origin::Inferred(from) if stays(from) => continue,
                Origin::File(file) if file == path => {}
                Origin::File(_) => continue,
                _ => is_new = true,
            }
            match key.split_once('.') {
                None => drop(table.insert(key.to_owned(), value.clone())),
                Some((section, key)) => {
                    let section = table.entry(section).or_insert_with(|| Table::new().into());
                    section
                        .as_table_mut()
                        .map(|section| section.insert(key.to_owned(), value.clone()));
                }
            }
        }
        if let (Some(_), Some(token)) = (self.input.token_origin(), &settings.token) {
            let file = main.with_file_name("token");
            let line = format!("{}\n", token.0);
            put(&file, line.as_bytes(), 0o600).map_err(|e| failed(&file, e))?;
            table.insert("token_file".to_owned(), file.display().to_string().into());
            is_new = true;
        }
        if is_new {
            put(path, format!("{HEAD}\n{table}").as_bytes(), 0o644).map_err(|e| failed(path, e))?;
        }
        Ok(())
    }
}

/// Where the units find this program.
fn program() -> &'static Path {
    let usual = Path::new(PROGRAM);
    let is_read_only = usual.parent().is_some_and(|folder| {
        rustix::fs::access(folder, rustix::fs::Access::WRITE_OK) == Err(rustix::io::Errno::ROFS)
    });
    if is_read_only && !usual.exists() { Path::new(PROGRAM_BESIDE_USR) } else { usual }
}

/// The file of this program. In an image's root without /proc it is where the shell found it.
pub fn this_program() -> io::Result<PathBuf> {
    std::env::current_exe().or_else(|e| {
        let name = PathBuf::from(std::env::args_os().next().unwrap_or_default());
        if name.components().count() > 1 {
            return std::path::absolute(name);
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path).map(|folder| folder.join(&name));
        found.into_iter().find(|path| path.is_file()).ok_or(e)
    })
}

/// Where a package installed the unit, if one did.
fn packaged(unit: &str) -> Option<PathBuf> {
    PACKAGED.iter().map(|folder| Path::new(folder).join(unit)).find(|path| path.exists())
}

/// Writes a file, unless it is there with these bytes and this mode.
pub fn put(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let same = std::fs::symlink_metadata(path)
        .is_ok_and(|there| there.is_file() && there.permissions().mode() & 0o7777 == mode)
        && std::fs::read(path).is_ok_and(|old| old == bytes);
    if same {
        return Ok(());
    }
    provost_fs::create_folder_of(path)?;
    provost_fs::replace_with_mode(path, bytes, mode, Durability::PowerCut)
}

/// Creates a symbolic link, in place of what is there.
pub fn put_link(to: &Path, link: &Path) -> io::Result<()> {
    if std::fs::read_link(link).is_ok_and(|there| there == to) {
        return Ok(());
    }
    let folder = link.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(folder)?;
    provost_fs::remove(link, Durability::Crash)?;
    symlink(to, link)?;
    provost_fs::sync_folder(folder)
}

fn failed(path: &Path, e: io::Error) -> Failure {
    let message = format!("installing {} for this node's boots", path.display());
    let hint = "check that the new root is writable and /proc is mounted in it";
    Failure::local(message, hint).caused_by(e)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boot_unit_has_a_target_and_the_path_of_the_program() {
        let (_, boot) = UNITS[0];
        assert!(boot.lines().any(|line| line.starts_with("WantedBy=")));
        assert!(boot.contains(&format!("ExecStart={PROGRAM} boot\n")));
    }

    #[test]
    fn a_file_gets_its_mode_and_is_not_written_twice() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/token");
        let meta = || std::fs::metadata(&file).unwrap();
        let inode = |m: &std::fs::Metadata| std::os::unix::fs::MetadataExt::ino(m);
        put(&file, b"one", 0o600).unwrap();
        let first = meta();
        assert_eq!(first.permissions().mode() & 0o7777, 0o600);
        put(&file, b"one", 0o600).unwrap();
        assert_eq!(inode(&meta()), inode(&first));
        put(&file, b"one", 0o755).unwrap();
        assert_eq!(meta().permissions().mode() & 0o7777, 0o755);
        put(&file, b"two", 0o755).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"two");

        let link = folder.path().join("b/link");
        for to in ["/x", "/x", "/y"] {
            put_link(to.as_ref(), &link).unwrap();
            assert_eq!(std::fs::read_link(&link).unwrap(), Path::new(to));
        }
    }
}

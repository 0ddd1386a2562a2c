//! The programs for nodes that `[node]` of provostd.toml names, and what each was built for.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use provost_exec::architecture::{Elf, HEADER_LEN};

use crate::config::NodeConfig;

/// A file that may be the program for one architecture.
pub(crate) struct ProgramFile {
    pub(crate) path: PathBuf,
    /// The architecture that it is to be for, as uname(1) calls it; none if the file itself says it.
    wanted: Option<String>,
    /// Whether provostd.toml names it, or its folder.
    is_configured: bool,
}

/// Why a file isn't served to nodes.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It can't be read.
    #[error("reading {}", path.display())]
    Unreadable {
        /// Where it is.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Nothing says what it is for.
    #[error("{} isn't a program: it has no ELF header", .0.display())]
    NotAProgram(PathBuf),
    /// Nodes of that architecture can't run it.
    #[error("{} is a program for {actual}, not for {wanted}", path.display())]
    Foreign {
        /// Where it is.
        path: PathBuf,
        /// The architecture that its folder names.
        wanted: String,
        /// That of its ELF header.
        actual: String,
    },
}

impl ProgramError {
    /// What an admin can do about it.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Unreadable { .. } | Self::NotAProgram(_) => {
                "on the management node: install the static provost there, or set binary or programs under \
                 [node] in provostd.toml"
                    .to_owned()
            }
            Self::Foreign { path, wanted, actual } => format!(
                "put the static provost for {wanted} there, or, if nodes of {actual} are meant, move it: \
                 mv {} {}",
                folder(path).display(),
                folder(path).with_file_name(actual).display()
            ),
        }
    }
}

/// `ARCH` of `ARCH/provost`.
fn folder(program: &Path) -> &Path {
    program.parent().unwrap_or(program)
}

impl ProgramFile {
    /// All that there may be. Of two for one architecture the last counts.
    pub(crate) fn all(config: &NodeConfig) -> Vec<Self> {
        let own = rustix::system::uname().machine().to_string_lossy().into_owned();
        // Where the daemon's own path is unknown, this file doesn't exist.
        let here = std::env::current_exe().unwrap_or_default().with_file_name("provost");
        let beside = Self { path: here, wanted: Some(own), is_configured: false };
        let entries = fs::read_dir(&config.programs).into_iter().flatten().flatten();
        let named = entries.filter_map(|entry: fs::DirEntry| {
            let path = entry.path().join("provost");
            let wanted = Some(entry.file_name().into_string().ok()?);
            path.is_file().then_some(Self { path, wanted, is_configured: true })
        });
        let mut all: Vec<Self> = named.collect();
        let binary = config.binary.clone();
        // The daemon's package has one for its own architecture in `programs`: then none has to be beside it.
        let has_own = all.iter().any(|file| file.wanted == beside.wanted);
        if binary.is_none() && (!has_own || beside.path.is_file()) {
            all.insert(0, beside);
        }
        all.extend(binary.map(|path| Self { path, wanted: None, is_configured: true }));
        all
    }

    /// The architecture that its first bytes name, if it is the one that is wanted.
    pub(crate) fn architecture(&self, head: &[u8]) -> Result<String, ProgramError> {
        let path = self.path.clone();
        let Some(elf) = Elf::parse(head) else { return Err(ProgramError::NotAProgram(path)) };
        let actual = elf.to_string();
        match &self.wanted {
            Some(wanted) if *wanted != actual => {
                Err(ProgramError::Foreign { path, wanted: wanted.clone(), actual })
            }
            _ => Ok(actual),
        }
    }

    /// Why it can't be read.
    pub(crate) fn unreadable(&self) -> impl Fn(io::Error) -> ProgramError {
        |source| ProgramError::Unreadable { path: self.path.clone(), source }
    }
}

/// What provostd.toml names and nodes could not run. A file that isn't there may come.
pub(crate) fn mistakes(config: &NodeConfig) -> Vec<ProgramError> {
    let files = ProgramFile::all(config).into_iter().filter(|file| file.is_configured);
    files.filter_map(|file| file.architecture(&head(&file.path).ok()?).err()).collect()
}

fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(HEADER_LEN as u64).read_to_end(&mut head)?;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_program_is_missed_beside_the_daemon_where_the_folder_has_one_for_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        let config = NodeConfig { programs: folder.path().to_owned(), ..NodeConfig::default() };
        let own = rustix::system::uname().machine().to_string_lossy().into_owned();
        for (architecture, expected) in [("s390x", 2), (&*own, 2)] {
            fs::create_dir(folder.path().join(architecture)).unwrap();
            fs::write(folder.path().join(architecture).join("provost"), "").unwrap();
            assert_eq!(ProgramFile::all(&config).len(), expected, "with {architecture}");
        }
    }
}

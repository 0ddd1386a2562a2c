//! The shell library, which this binary carries for the scripts.

use std::io;
use std::path::{Path, PathBuf};

use provost_fs::Durability;

macro_rules! files {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../../../lib-sh/", $name)))),*]
    };
}

const FILES: [(&str, &str); 10] = files!(
    "provost.sh" "log.sh" "command.sh" "os.sh" "file.sh" "package.sh" "service.sh" "net.sh"
    "bootstrap-service-record.sh" "xcatlib.sh"
);

/// Where the library is.
pub fn folder(state: &Path) -> PathBuf {
    state.join("lib")
}

/// Writes the files of the library that are missing or differ. A script that is left from an
/// earlier run may be reading the old ones, so each is replaced as a whole. Every run does this,
/// so nothing is synced.
pub fn install(state: &Path) -> io::Result<()> {
    let folder = folder(state);
    provost_fs::create_private_folder(&folder)?;
    for (name, text) in FILES {
        let path = folder.join(name);
        let there = provost_fs::read(&path, text.len() as u64);
        if there.ok().as_deref() == Some(text.as_bytes()) {
            continue;
        }
        provost_fs::replace_with(&path, Durability::Crash, |file| {
            file.share()?;
            file.write(text.as_bytes())
        })?;
    }
    Ok(())
}

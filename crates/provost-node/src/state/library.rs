//! The shell library, which this binary carries for the scripts.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

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

/// Writes the library's files that aren't there as this binary has them. A script that is left
/// from an earlier run may be reading the old ones.
pub fn install(state: &Path) -> io::Result<()> {
    let folder = folder(state);
    std::fs::create_dir_all(&folder)?;
    for (name, text) in FILES {
        let path = folder.join(name);
        if std::fs::read(&path).ok().as_deref() == Some(text.as_bytes()) {
            continue;
        }
        let mut file = tempfile::Builder::new()
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
            .tempfile_in(&folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(&path)?;
    }
    Ok(())
}

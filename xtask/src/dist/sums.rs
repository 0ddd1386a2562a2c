//! `SHA256SUMS` of what is given away, and its signature.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::package::list;
use crate::cargo;

/// The file, beside what it is about.
const NAME: &str = "SHA256SUMS";

/// Writes it into the folder of the packages and tar balls, in the form of sha256sum(1), and signs it with the
/// minisign key in the file `key`.
pub(super) fn write(folder: &Path, key: Option<&Path>) -> Result<()> {
    let mut names = Vec::new();
    for path in list(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if [".deb", ".rpm", ".tar.gz"].iter().any(|end| name.ends_with(end)) {
            names.push(name);
        }
    }
    let out = cargo::command("sha256sum").current_dir(folder).arg("--").args(&names).output();
    let out = out.context("starting sha256sum")?;
    if !out.status.success() {
        bail!("sha256sum: {}", String::from_utf8_lossy(&out.stderr).trim());
    }
    let file = folder.join(NAME);
    // In one step: somebody may be reading it.
    let new = tempfile::NamedTempFile::new_in(folder)?;
    fs::write(new.path(), out.stdout)?;
    fs::set_permissions(new.path(), PermissionsExt::from_mode(0o644))?;
    new.persist(&file).with_context(|| format!("writing {}", file.display()))?;
    println!("{}", file.display());
    let Some(key) = key else { return Ok(()) };
    // It asks for the key's password, or reads it from its standard input.
    let status =
        cargo::command("minisign").arg("-S").arg("-s").arg(key).arg("-m").arg(&file).status();
    let status = status.context("starting minisign")?;
    if !status.success() {
        bail!("minisign: {status}");
    }
    Ok(())
}

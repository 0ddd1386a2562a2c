//! Repositories of packages, for apt and for dnf: `cargo xtask dist --repo DIR`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::package::list;
use crate::cargo;

/// What apt calls the one distribution that there is: any that has dpkg.
const SUITE: &str = "stable";
const COMPONENT: &str = "main";
/// Debian's names of the architectures.
const ARCHITECTURES: [&str; 3] = ["amd64", "arm64", "ppc64el"];
/// The public key, as apt and dnf take it.
const KEY: &str = "provost.asc";

/// Makes both in `to`, of the packages in the folder `packages` and in those below it. They are signed with the
/// OpenPGP key that gpg knows by the name `key`; without one, clients have to be told to trust them.
pub(super) fn make(packages: &Path, to: &Path, key: Option<&str>) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("making {}", to.display()))?;
    if let Some(key) = key {
        let public = output(cargo::command("gpg").args(["--armor", "--export", key]))?;
        ensure!(!public.is_empty(), "gpg knows no key {key:?}");
        fs::write(to.join(KEY), public)?;
    }
    apt(&found(packages, "deb")?, &to.join("apt"), key)?;
    dnf(&found(packages, "rpm")?, &to.join("dnf"), key)?;
    println!("{}", to.display());
    Ok(())
}

/// The packages of one kind.
fn found(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut packages = Vec::new();
    for path in list(folder)? {
        if path.is_dir() {
            packages.extend(found(&path, extension)?);
        } else if path.extension() == Some(OsStr::new(extension)) {
            packages.push(path);
        }
    }
    Ok(packages)
}

fn apt(packages: &[PathBuf], folder: &Path, key: Option<&str>) -> Result<()> {
    let pool = format!("pool/{COMPONENT}");
    copy(packages, &folder.join(&pool))?;
    let suite = folder.join("dists").join(SUITE);
    for architecture in ARCHITECTURES {
        let index = suite.join(COMPONENT).join(format!("binary-{architecture}"));
        fs::create_dir_all(&index)?;
        let mut command = archive(folder);
        let text = output(command.args(["--arch", architecture, "packages", &pool]))?;
        fs::write(index.join("Packages"), text)?;
        let file = index.join("Packages");
        done(cargo::command("gzip").args(["-9nkf"]).arg(file))?;
    }
    let release = output(
        archive(&suite)
            .args(["-o", "APT::FTPArchive::Release::Origin=Provost"])
            .args(["-o", "APT::FTPArchive::Release::Label=Provost"])
            .args(["-o", &format!("APT::FTPArchive::Release::Suite={SUITE}")])
            .args(["-o", &format!("APT::FTPArchive::Release::Codename={SUITE}")])
            .args(["-o", &format!("APT::FTPArchive::Release::Components={COMPONENT}")])
            .args([
                "-o",
                &format!("APT::FTPArchive::Release::Architectures={}", ARCHITECTURES.join(" ")),
            ])
            .args(["release", "."]),
    )?;
    let file = suite.join("Release");
    fs::write(&file, release)?;
    let Some(key) = key else { return Ok(()) };
    done(gpg(key).arg("--clearsign").arg("--output").arg(suite.join("InRelease")).arg(&file))?;
    let detached = suite.join("Release.gpg");
    done(gpg(key).args(["--armor", "--detach-sign", "--output"]).arg(detached).arg(&file))
}

/// Only the index is signed: it has the digest of each package, as apt's has.
fn dnf(packages: &[PathBuf], folder: &Path, key: Option<&str>) -> Result<()> {
    copy(packages, folder)?;
    done(cargo::command("createrepo_c").arg("--quiet").arg(folder))?;
    let Some(key) = key else { return Ok(()) };
    let index = folder.join("repodata/repomd.xml");
    let signature = folder.join("repodata/repomd.xml.asc");
    done(gpg(key).args(["--armor", "--detach-sign", "--output"]).arg(signature).arg(index))
}

fn copy(packages: &[PathBuf], folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for package in packages {
        let to = folder.join(package.file_name().unwrap_or_default());
        fs::copy(package, to).with_context(|| format!("copying {}", package.display()))?;
    }
    Ok(())
}

fn archive(folder: &Path) -> Command {
    let mut command = cargo::command("apt-ftparchive");
    command.current_dir(folder);
    command
}

fn gpg(key: &str) -> Command {
    let mut command = cargo::command("gpg");
    command.args(["--batch", "--yes", "--local-user", key]);
    command
}

fn output(command: &mut Command) -> Result<Vec<u8>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out = command.output().with_context(|| format!("starting {name}"))?;
    if !out.status.success() {
        bail!("{name}: {}", String::from_utf8_lossy(&out.stderr).trim());
    }
    Ok(out.stdout)
}

fn done(command: &mut Command) -> Result<()> {
    output(command).map(drop)
}

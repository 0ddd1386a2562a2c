//! `cargo xtask dist`: what is given away.

mod deb;
mod links;
mod package;
mod programs;
mod repository;
mod rpm;
mod sbom;
mod stage;
mod sums;
mod target;

use std::fs;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, Result, ensure};

use crate::cargo;
use package::{Package, Place};
pub(crate) use programs::node;
pub(crate) use target::{NoTarget, Target};

/// Makes a Debian package, an RPM package and a tar ball each for the node and for the management
/// node: of static programs that it builds, or of those in the folder `given`. They go to the folder
/// `to`, `dist/` by default. With a `version`, they have that in place of the workspace's; with a `target`,
/// they are for that one, in `dist/ARCH/` by default. Returns the folder of the packages.
pub(crate) fn run(
    given: Option<&Path>,
    to: Option<&Path>,
    version: Option<&str>,
    target: Option<&str>,
) -> Result<PathBuf> {
    let target = target.map_or_else(Target::host, Target::named)?;
    check_version(version)?;
    let dist = target.folder();
    if given.is_none() {
        node(&target, version)?;
        programs::management_node(&target, version)?;
    }
    let place = Place {
        programs: absolute(given.unwrap_or(&dist))?,
        is_release: given.is_none(),
        to: absolute(to.unwrap_or(&dist))?,
        version: version.unwrap_or(env!("CARGO_PKG_VERSION")).to_owned(),
        target,
    };
    fs::create_dir_all(&place.to).with_context(|| format!("making {}", place.to.display()))?;
    for package in Package::all(&place)? {
        package.stage()?;
        package.tar()?;
        for (tool, build) in
            [("dpkg-deb", deb::build as fn(&Package) -> Result<()>), ("rpmbuild", rpm::build)]
        {
            if cargo::is_there(tool) {
                build(&package)?;
            } else {
                println!("SKIPPED: {tool} isn't here, so there is no package by it");
            }
        }
    }
    Ok(place.to)
}

/// Builds the node's program alone: `dist/provost`, or `dist/ARCH/provost` of a `target`.
pub(crate) fn node_alone(version: Option<&str>, target: Option<&str>) -> Result<()> {
    let target = target.map_or_else(Target::host, Target::named)?;
    check_version(version)?;
    node(&target, version)
}

/// A version is what both formats of packages take, and programs compare.
fn check_version(version: Option<&str>) -> Result<()> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_version = |text: &str| text.split('.').count() == 3 && text.split('.').all(is_number);
    if let Some(version) = version {
        ensure!(
            is_version(version),
            "{version:?} isn't a version of three numbers, such as 0.1.90"
        );
    }
    Ok(())
}

/// Writes SHA256SUMS of the packages and tar balls in `folder`, signed with the minisign key in `key`.
pub(crate) fn sum(folder: &Path, key: Option<&Path>) -> Result<()> {
    let key = key.map(absolute).transpose()?;
    sums::write(&absolute(folder)?, key.as_deref())
}

/// Makes an apt and a dnf repository in `to` of the packages in `folder`, signed with the OpenPGP key `key`.
pub(crate) fn repository(folder: &Path, to: &Path, key: Option<&str>) -> Result<()> {
    repository::make(&absolute(folder)?, &absolute(to)?, key)
}

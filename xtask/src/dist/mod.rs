//! `cargo xtask dist`: what is given away.

mod deb;
mod package;
mod programs;
mod rpm;
mod stage;

use std::fs;
use std::path::{Path, absolute};

use anyhow::{Context, Result};

use crate::cargo;
use package::{Package, Place};
pub(crate) use programs::node;

/// Makes a Debian package, an RPM package and a tar ball each for the node and for the management
/// node: of static programs that it builds, or of those in the folder `given`. They go to the folder
/// `to`, `dist/` by default.
pub(crate) fn run(given: Option<&Path>, to: Option<&Path>) -> Result<()> {
    let dist = cargo::root().join("dist");
    if given.is_none() {
        node()?;
        programs::management_node()?;
    }
    let place = Place {
        programs: absolute(given.unwrap_or(&dist))?,
        is_release: given.is_none(),
        to: absolute(to.unwrap_or(&dist))?,
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
    Ok(())
}

//! `cargo xtask dist`: what is given away.

mod deb;
mod package;
mod programs;
mod rpm;

use anyhow::Result;

use crate::cargo;
use package::Package;
pub(crate) use programs::node;

/// Builds the static programs, and a Debian package, an RPM package and a tar ball each for the
/// node and for the management node, into `dist/`.
pub(crate) fn run() -> Result<()> {
    node()?;
    programs::management_node()?;
    for package in Package::all()? {
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

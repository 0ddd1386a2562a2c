//! `/xcatpost` with the scripts of a bundle.

use std::path::Path;

use provost_bundle::Manifest;
use provost_node::failure::Failure;
use provost_node::settings::Paths;
use provost_node::state::library;

use super::complete::complete;
use super::next_folder::{NextFolder, disk, link_or_copy};

/// Puts the files of `manifest`, which are in `from`, into `/xcatpost`, in place of what it has.
pub(super) fn mirror(manifest: &Manifest, from: &Path, paths: &Paths) -> Result<(), Failure> {
    let folder = paths.xcatpost.canonicalize().unwrap_or_else(|_| paths.xcatpost.clone());
    let make = || {
        let next = NextFolder::begin(&folder)?;
        for entry in &manifest.files {
            link_or_copy(&from.join(&entry.path), &next.path().join(&entry.path))?;
        }
        complete(next.path(), &folder, None, &library::folder(&paths.state))?;
        next.take_place()
    };
    make().map_err(|e| disk(&folder, "putting the scripts there, too", e))
}

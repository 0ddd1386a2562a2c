//! A gathered bundle on its way to its name.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek};
use std::path::{Path, PathBuf};

use provost_fs::{Durability, NewFile};

/// The longest name of a bundle, in bytes.
const LONGEST_NAME: usize = 300;

/// Gives the bundle in `sent` its name: its first line is that, the bundle follows.
pub(super) fn keep(mut sent: File, node: &str, folder: &Path) -> io::Result<PathBuf> {
    sent.rewind()?;
    let mut sent = BufReader::new(sent);
    let mut name = Vec::new();
    let mut head = io::Read::take(&mut sent, LONGEST_NAME as u64);
    head.read_until(b'\n', &mut name)?;
    let name = String::from_utf8(name).unwrap_or_default();
    let name = name.trim_end();
    let is_bundle = name.starts_with("log-bundle-")
        && name.ends_with(".tar.gz")
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    if !is_bundle {
        return Err(io::Error::other("the node sent something else than a bundle"));
    }
    let mut bundle = create(node, folder, name)?;
    io::copy(&mut sent, bundle.as_file_mut())?;
    finish(bundle)
}

/// A new bundle of `node`, whichever node its name says.
pub(super) fn create(node: &str, folder: &Path, name: &str) -> io::Result<NewFile> {
    // Bundles of two nodes can have the same name.
    NewFile::at(match name.contains(node) {
        true => folder.join(name),
        false => folder.join(format!("{node}-{name}")),
    })
}

/// Gives the bundle its name. A bundle that is there already stays, and is an error.
pub(super) fn finish(bundle: NewFile) -> io::Result<PathBuf> {
    let path = bundle.path().to_owned();
    bundle.create(Durability::PowerCut)?;
    Ok(path)
}

use std::path::Path;

use provost_plan::{Groups, Site};

use crate::failure::Failure;

/// The most bytes of a `site.toml`: some 100,000 nodes with a section each.
const MOST: u64 = 32 << 20;

/// Reads a `site.toml` that the command line names. It may name ClusterShell's groups.
pub(crate) fn read(path: &Path) -> Result<Site, Failure> {
    parse(&text(path)?, path, Groups::of_clustershell())
}

/// Its text.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    provost_fs::read_input(path, MOST).map_err(|e| {
        let error = format!("reading {}: {e}", path.display());
        Failure::new(error, "name a readable site.toml: --site FILE")
    })
}

/// What the text says; it may name groups that are `outside`.
pub(crate) fn parse(text: &str, path: &Path, outside: Groups) -> Result<Site, Failure> {
    Site::parse_with(text, path, outside).map_err(|e| Failure::of(&e, e.hint()))
}

use std::path::Path;

use provost_plan::{Groups, Site};

use crate::failure::Failure;

/// Reads a `site.toml` that the command line names. It may name ClusterShell's groups.
pub(crate) fn read(path: &Path) -> Result<Site, Failure> {
    parse(&text(path)?, path, Groups::of_clustershell())
}

/// Its text.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|e| {
        let error = format!("reading {}: {e}", path.display());
        Failure::new(error, "name a readable site.toml: --site FILE")
    })
}

/// What the text says; it may name groups that are `outside`.
pub(crate) fn parse(text: &str, path: &Path, outside: Groups) -> Result<Site, Failure> {
    Site::parse_with(text, path, outside).map_err(|e| Failure::of(&e, e.hint()))
}

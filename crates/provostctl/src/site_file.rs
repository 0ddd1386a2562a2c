use std::path::Path;

use provost_plan::Site;

use crate::failure::Failure;

/// Reads a `site.toml` that the command line names.
pub(crate) fn read(path: &Path) -> Result<Site, Failure> {
    parse(&text(path)?, path)
}

/// Its text.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|e| {
        let error = format!("reading {}: {e}", path.display());
        Failure::new(error, "name a readable site.toml: --site FILE")
    })
}

/// What the text says.
pub(crate) fn parse(text: &str, path: &Path) -> Result<Site, Failure> {
    Site::parse(text, path).map_err(|e| Failure::of(&e, e.hint()))
}

//! `provostctl import`: what another system knows of its nodes, as a `site.toml`.

mod environment;
mod site;
mod xcat;

use std::path::{Path, PathBuf};

use provost_plan::Site;

use crate::failure::Failure;
use crate::output;

/// `provostctl import xcat`.
#[derive(clap::Args)]
pub(crate) struct Xcat {
    /// What an xCAT management node prints, a file each: `lsdef -t node -l -z`, `lsdef -t osimage -l
    /// -z`, and `tabdump` of site, postscripts, nodelist, groups, nodetype and noderes
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Where to write it; without this it is printed
    #[arg(long, value_name = "SITE")]
    to: Option<PathBuf>,
}

impl Xcat {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let mut xcat = xcat::Xcat::default();
        for path in &self.files {
            let text = std::fs::read_to_string(path).map_err(|e| {
                let error = format!("reading {}: {e}", path.display());
                Failure::new(error, "give files that hold what tabdump and lsdef have printed")
            })?;
            xcat.read(&text).map_err(|e| {
                Failure::new(
                    format!("{}:{}: {}", path.display(), e.line, e.what),
                    "give what `tabdump TABLE` or `lsdef -t node -l -z` prints, unchanged",
                )
            })?;
        }
        if xcat.nodes().is_empty() {
            return Err(Failure::new(
                "none of these files tells which nodes there are",
                "add what `tabdump nodelist` or `lsdef -t node -l -z` prints",
            ));
        }
        let (text, notes) = site::write(&xcat);
        Site::parse(&text, Path::new("site.toml"))
            .map_err(|e| Failure::new(format!("what was made of it isn't sound: {e}"), e.hint()))?;
        match &self.to {
            None => output::print(text.as_bytes())?,
            Some(path) => save(path, &text)?,
        }
        for note in &notes {
            output::say(&format!("not carried over: {note}"));
        }
        let (nodes, notes) = (xcat.nodes().len(), notes.len());
        output::say(&format!("{nodes} nodes; {notes} things couldn't be carried over"));
        Ok(())
    }
}

/// Writes a file that isn't there yet: an admin may have worked on one that is.
fn save(path: &Path, text: &str) -> Result<(), Failure> {
    use std::io::Write;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path).map_err(|e| e.error)
    });
    written.map(drop).map_err(|e| {
        let error = format!("writing {}: {e}", path.display());
        Failure::new(error, "name a new file in a folder that you can write to")
    })
}

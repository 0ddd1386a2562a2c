//! `provostctl import`: another system's tables as a `site.toml`.

mod environment;
mod notes;
mod site;
mod xcat;

use provost_record::wording;
use std::io;
use std::path::{Path, PathBuf};

use provost_fs::{Durability, NewFile};
use provost_plan::Site;

use crate::failure::Failure;
use crate::output;

/// `provostctl import xcat`.
#[derive(clap::Args)]
pub(crate) struct Xcat {
    /// The output of these commands on an xCAT management node, one file each: `lsdef -t node -l -z`,
    /// `lsdef -t osimage -l -z`, and `tabdump` of site, postscripts, nodelist, groups, nodetype and
    /// noderes
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The file to write; without this, standard output
    #[arg(long, value_name = "SITE")]
    to: Option<PathBuf>,
}

impl Xcat {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let mut xcat = xcat::Xcat::default();
        for path in &self.files {
            let text = std::fs::read_to_string(path).map_err(|e| {
                let error = format!("reading {}: {e}", path.display());
                Failure::new(error, "name readable files with the output of tabdump and lsdef")
            })?;
            xcat.read(&text).map_err(|e| {
                Failure::new(
                    format!("{}:{}: {}", path.display(), e.line, e.what),
                    "use the unchanged output of `tabdump TABLE` or `lsdef -t node -l -z`",
                )
            })?;
        }
        if xcat.nodes().is_empty() {
            return Err(Failure::new(
                "none of these files names a node",
                "add the output of `tabdump nodelist` or `lsdef -t node -l -z`",
            ));
        }
        let site::Imported { text, notes } = site::write(&xcat);
        Site::parse(&text, Path::new("site.toml"))
            .map_err(|e| Failure::new(format!("checking the result: {e}"), e.hint()))?;
        match &self.to {
            None => output::print(text.as_bytes())?,
            Some(path) => save(path, &text)?,
        }
        for note in notes.iter() {
            output::note(&format!("not carried over: {note}"));
        }
        let (nodes, notes) = (xcat.nodes().len(), notes.iter().len());
        output::note(&format!("{}; {notes} not carried over", wording::count(nodes, "node")));
        Ok(())
    }
}

/// Writes a new file. One that exists is not replaced: an admin may have edited it.
fn save(path: &Path, text: &str) -> Result<(), Failure> {
    let write = || -> io::Result<()> {
        let mut file = NewFile::at(path)?;
        file.write(text.as_bytes())?;
        file.create(Durability::PowerCut)
    };
    write().map_err(|e| {
        let error = format!("writing {}: {e}", path.display());
        Failure::new(error, "name a new file in a folder that you can write to")
    })
}

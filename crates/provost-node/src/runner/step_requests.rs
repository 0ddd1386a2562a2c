//! What a step says to its runner besides its exit status: a file for each wish, whose name it is
//! given in its environment.

use std::io::Read;
use std::path::{Path, PathBuf};

use provost_record::Record;

use crate::state::own_stages;

/// How much of a wish is read, in bytes.
const MOST: u64 = 1000;

/// The requests of one step.
pub(crate) struct StepRequests {
    skip: PathBuf,
    pub(crate) reboot: PathBuf,
    records: PathBuf,
}

impl StepRequests {
    /// Of the step whose log is `log`; the files are next to it.
    pub(crate) fn beside(log: &Path) -> Self {
        Self {
            skip: log.with_extension("skip"),
            reboot: log.with_extension("reboot"),
            records: own_stages::file(log),
        }
    }

    /// What tells the step about them.
    pub(crate) fn environment(&self) -> [(String, String); 3] {
        let text = |path: &Path| path.display().to_string();
        [
            ("PROVOST_SKIP".to_owned(), text(&self.skip)),
            ("PROVOST_REBOOT".to_owned(), text(&self.reboot)),
            ("PROVOST_RECORDS".to_owned(), text(&self.records)),
        ]
    }

    /// Why the step didn't need to do anything, if it says so.
    pub(crate) fn skip(&self) -> Option<String> {
        take(&self.skip, "it had nothing to do")
    }

    /// What it recorded of its own stages. The file stays beside the log.
    pub(crate) fn records(&self) -> Vec<Record> {
        own_stages::records(&self.records)
    }

    /// Why the step wants a reboot, if it does.
    pub(crate) fn reboot(&self) -> Option<String> {
        take(&self.reboot, "it gave no reason")
    }
}

/// Takes the file's first line.
fn take(path: &Path, otherwise: &str) -> Option<String> {
    let mut text = Vec::new();
    let file = provost_fs::open_to_read(path).ok()?;
    // A wish that can't be read is one all the same.
    let _ = file.take(MOST).read_to_end(&mut text);
    let _ = std::fs::remove_file(path);
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next().unwrap_or_default().trim();
    Some(if line.is_empty() { otherwise } else { line }.to_owned())
}

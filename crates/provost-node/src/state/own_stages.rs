//! What steps record of their own stages, in a file beside the log of each.

use std::path::{Path, PathBuf};

use provost_api::InnerStage;
use provost_exec::Secrets;
use provost_record::{Inner, Record, Stage, open_stage};

use crate::settings::Paths;

/// The most bytes of a step's own records.
const MOST: u64 = 16 << 20;
/// The longest name of a stage that is running, in characters.
const MOST_NAME: usize = 200;

/// The file of the step whose log is `log`.
pub(crate) fn file(log: &Path) -> PathBuf {
    log.with_extension("records")
}

/// The records in such a file, one a line, as `provost record` and the shell library write them.
pub(crate) fn records(file: &Path) -> Vec<Record> {
    let Ok(text) = provost_fs::read(file, MOST) else { return Vec::new() };
    text.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// The stages so far of a step that has no end. Texts of the script are left out, because it isn't
/// known here which of them are secret.
pub fn so_far(log: &Path) -> Vec<Inner> {
    let without_texts = |inner: Inner| Inner {
        error_line: None,
        error_message: None,
        command: None,
        called_from: None,
        ..inner
    };
    Inner::of(&records(&file(log))).into_iter().map(without_texts).collect()
}

/// The stage that a running step is in, without `secrets`.
pub(crate) fn current(log: &Path, secrets: &Secrets) -> Option<InnerStage> {
    let records = records(&file(log));
    let start = open_stage(&records)?;
    let name = |text: &str| secrets.hide(text).chars().take(MOST_NAME).collect();
    let (service, stage) = (name(&start.service), name(start.stage.as_deref()?));
    Some(InnerStage { service, stage, since: start.timestamp })
}

/// The stages so far of the open step of a run that was cut off, by the run's records.
pub(super) fn of_cut_off(paths: &Paths, run: &[Record]) -> Vec<Inner> {
    let runs = provost_record::runs(run);
    let Some(run) = runs.last() else { return Vec::new() };
    let open = run.stages.iter().enumerate().rfind(|(_, stage)| stage.result.is_none());
    open.map_or_else(Vec::new, |(index, stage)| {
        let name = Stage::log_name(index, &stage.stage, stage.attempt);
        so_far(&paths.scripts(&run.run).join(format!("{name}.log")))
    })
}

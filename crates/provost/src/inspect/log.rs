use provost_record::ExitCode;
use provost_record::step_log::view::{ShowError, View};

use super::{log_of, runs};
use provost_node::failure::Failure;
use provost_node::observe::console::{exit, printed};
use provost_node::settings::{Input, Paths};

/// Shows the newest log of `script`; without a name, of the script that failed or ran last.
pub(crate) fn log(input: &Input, script: Option<&str>, view: View) -> ExitCode {
    exit(find(&input.paths(), script).and_then(|path| show(&path, view)))
}

fn find(paths: &Paths, script: Option<&str>) -> Result<std::path::PathBuf, Failure> {
    for (run, _) in runs(paths)?.iter().rev() {
        let logs = run.stages.iter().enumerate().rev();
        let mut logs = logs.filter_map(|(i, s)| Some((s, log_of(paths, run, i, s)?)));
        let found = match script {
            Some(script) => logs.find(|(stage, _)| stage.stage == script),
            None => {
                let logs: Vec<_> = logs.collect();
                let failed =
                    logs.iter().rfind(|(s, _)| s.result == Some(provost_record::Outcome::Failure));
                failed.or(logs.first()).cloned()
            }
        };
        if let Some((_, path)) = found {
            return Ok(path);
        }
    }
    let what = script.map_or("any script".to_owned(), |s| format!("{s:?}"));
    let folder = paths.log.join("scripts");
    let message = format!("looking for a log of {what} in {}: there is none", folder.display());
    Err(Failure::config(message, "see `provost status` for what has run"))
}

fn show(path: &std::path::Path, view: View) -> Result<(), Failure> {
    let unreadable = |e: std::io::Error| {
        let message = format!("reading {}: {e}", path.display());
        Failure::config(message, "run as a user who may read the logs")
    };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    match view.show(file, std::io::stdout().lock()) {
        Err(ShowError::Read(e)) => Err(unreadable(e)),
        Err(ShowError::Write(e)) => printed(Err(e)),
        Ok(()) => Ok(()),
    }
}

use std::fs::File;
use std::path::{Path, PathBuf};

use provost_fs::Storage;
use provost_record::{ExitCode, Outcome, Run};
use provost_steplog::view::{ShowError, View};

use super::follow::Follow;
use super::status::is_of_this_script;
use super::{MOST_LOG, log_of, rights, runs};
use provost_node::failure::Failure;
use provost_node::observe::console::{exit, printed};
use provost_node::settings::{Input, Paths};

/// Shows the newest log of `script`; without a name, of the script that failed or ran last. With
/// `follow` it goes on until the script ends; without a name, that is the script that runs.
pub(crate) fn log(input: &Input, script: Option<&str>, view: View, follow: bool) -> ExitCode {
    let paths = input.paths();
    exit(find(input, &paths, script, follow).and_then(|found| match follow {
        true => show_growing(&paths, &found, view),
        false => show(&found.path, view),
    }))
}

/// A step's log.
struct Found {
    run: Run,
    index: usize,
    path: PathBuf,
}

fn find(
    input: &Input,
    paths: &Paths,
    script: Option<&str>,
    follow: bool,
) -> Result<Found, Failure> {
    rights::of_journals(paths)?;
    for (run, _) in runs(paths)?.into_iter().rev() {
        rights::of_logs(paths, &run)?;
        let logs = run.stages.iter().enumerate().rev();
        let mut logs = logs.filter_map(|(i, s)| Some((i, s, log_of(paths, &run, i, s)?)));
        let found = match script {
            Some(script) => logs.find(|(_, stage, _)| stage.stage == script),
            None => {
                let logs: Vec<_> = logs.collect();
                let failed = logs.iter().rfind(|(_, s, _)| s.result == Some(Outcome::Failure));
                let running = logs.first().filter(|(_, s, _)| follow && s.result.is_none());
                running.or(failed).or(logs.first()).cloned()
            }
        };
        if let Some((index, _, path)) = found {
            return Ok(Found { run, index, path });
        }
    }
    let what = script.map_or("any script".to_owned(), |s| format!("{s:?}"));
    let folder = paths.log.join("scripts");
    let message = format!("looking for a log of {what} in {}: there is none", folder.display());
    let hint = match Storage::of(&paths.log) {
        Ok(Storage::Memory(_)) => {
            let (node, script) = (input.node(), script.unwrap_or("SCRIPT"));
            format!(
                "a reboot has emptied it; on the management node: provostctl log {node} {script}"
            )
        }
        _ => "list what has run: provost status".to_owned(),
    };
    Err(Failure::config(message, hint))
}

fn show(path: &Path, view: View) -> Result<(), Failure> {
    let file = open(path)?;
    shown(path, view.show(file, std::io::stdout().lock()))
}

fn show_growing(paths: &Paths, found: &Found, view: View) -> Result<(), Failure> {
    let Found { run, index, path } = found;
    let log = open(path)?;
    let stage = &run.stages[*index];
    if stage.result.is_none() && is_of_this_script(run) {
        let message = "following the log of a script in that script, which adds to it";
        return Err(Failure::config(message, "leave out --follow"));
    }
    let follow = Follow::new(paths, run, *index, stage, log, path);
    let follow = follow.map_err(|e| unreadable(path, e))?;
    shown(path, view.follow(follow, std::io::stdout().lock()))
}

fn open(path: &Path) -> Result<File, Failure> {
    provost_fs::open_bounded(path, MOST_LOG).map_err(|e| unreadable(path, e))
}

fn shown(path: &Path, result: Result<(), ShowError>) -> Result<(), Failure> {
    match result {
        Err(ShowError::Read(e)) => Err(unreadable(path, e)),
        Err(ShowError::Write(e)) => printed(Err(e)),
        Ok(()) => Ok(()),
    }
}

fn unreadable(path: &Path, e: std::io::Error) -> Failure {
    let message = format!("reading {}", path.display());
    let hint = match provost_fs::refusal(&e) {
        Some(_) => format!("use another program: tail -c 1M {}", path.display()),
        None => "run as a user who may read the logs".to_owned(),
    };
    Failure::unreadable(message, hint, e)
}

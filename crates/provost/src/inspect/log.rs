use std::io::{BufRead, BufWriter, IsTerminal, Write};

use provost_record::ExitCode;

use super::{log_of, runs};
use provost_node::failure::Failure;
use provost_node::observe::console::{exit, harmless, printed};
use provost_node::settings::{Input, Paths};

/// Prints the newest log of `script`; without a name, of the script that failed or ran last.
pub(crate) fn log(input: &Input, script: Option<&str>, json: bool) -> ExitCode {
    exit(find(&input.paths(), script).and_then(|path| show(&path, json)))
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

fn show(path: &std::path::Path, json: bool) -> Result<(), Failure> {
    let failed = |e: std::io::Error| {
        let message = format!("reading {}: {e}", path.display());
        Failure::config(message, "run as a user who may read the logs")
    };
    let mut file = std::io::BufReader::new(std::fs::File::open(path).map_err(failed)?);
    let mut stdout = BufWriter::new(std::io::stdout().lock());
    if json {
        return json_lines(file, stdout, failed);
    }
    let for_people = std::io::stdout().is_terminal();
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line).map_err(failed)? > 0 {
        let shown = match for_people {
            true => {
                format!("{}\n", harmless(String::from_utf8_lossy(&line).trim_end_matches('\n')))
            }
            false => String::new(),
        };
        let bytes = if for_people { shown.as_bytes() } else { &line };
        if let Err(e) = stdout.write_all(bytes) {
            return printed(Err(e));
        }
        line.clear();
    }
    printed(stdout.flush())
}

/// One document: an array of `{"time", "stream", "text"}`.
fn json_lines(
    file: impl BufRead,
    mut stdout: impl Write,
    failed: impl Fn(std::io::Error) -> Failure,
) -> Result<(), Failure> {
    let mut separator = "[\n";
    for line in file.split(b'\n') {
        let line = line.map_err(&failed)?;
        let line = String::from_utf8_lossy(&line);
        let mut words = line.splitn(4, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (time, stream, tag, text) = (word(), word(), word(), word());
        let partial = tag == "P";
        let entry =
            serde_json::json!({"time": time, "stream": stream, "text": text, "partial": partial});
        if let Err(e) = write!(stdout, "{separator}{entry}") {
            return printed(Err(e));
        }
        separator = ",\n";
    }
    let end = if separator == "[\n" { "[]\n" } else { "\n]\n" };
    printed(stdout.write_all(end.as_bytes()).and_then(|()| stdout.flush()))
}

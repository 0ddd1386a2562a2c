//! The services whose records are on this node or in a bundle: ours, those of scripts that source
//! the shell library, and others' in OpenShift's format. Each is judged by itself.

use std::path::{Path, PathBuf};

use provost_record::{Inner, Journal, Record, State, Verdict, service_records};
use provost_steplog::wording;
use serde::Serialize;

use provost_node::observe::console::harmless;
use provost_node::settings::Paths;

/// The variable that names the folder of such records, and its default.
const FOLDER: (&str, &str) = ("SERVICE_RECORDS_DIR", "/var/log/openshift");
/// How many files of a folder are read at most.
const MOST_FILES: usize = 256;

/// A service and what its file says.
pub(super) struct Service {
    pub(super) name: String,
    /// Its verdict, or why its file can't be judged and what to do about it.
    pub(super) found: Result<Verdict, Problem>,
    /// Its records; of a damaged file those before the damage.
    pub(super) records: Vec<Record>,
}

/// Why a file can't be judged, and what to do about it.
pub(super) struct Problem {
    why: String,
    hint: String,
}

/// The same for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ServiceDocument<'a> {
    service: &'a str,
    /// A [`State`], or `unreadable`.
    state: String,
    starts: usize,
    /// What is wrong with the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failing_stage: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Record>,
}

impl Service {
    /// Judges the file `name`.json by its text.
    pub(super) fn read(name: &str, text: &[u8]) -> Self {
        let name = name.to_owned();
        match service_records(text) {
            Ok(records) => Self { name, found: Ok(Verdict::of(&records)), records },
            Err(unreadable) => {
                let hint = format!("look into {name}.json; the service's next record repairs it");
                let problem = Problem { why: unreadable.to_string(), hint };
                Self { name, records: unreadable.before().to_vec(), found: Err(problem) }
            }
        }
    }

    /// The same of the file at `path` on this node.
    fn open(path: &Path) -> Option<Self> {
        let name = name(path)?;
        Some(match Journal::text(path) {
            Ok(text) => Self::read(name, &text?),
            Err(e) => Self {
                name: name.to_owned(),
                found: Err(Problem { why: wording::error_chain(&e), hint: e.hint() }),
                records: Vec::new(),
            },
        })
    }

    /// Whether its records are of runs of provost.
    pub(super) fn is_ours(&self) -> bool {
        provost_record::Service::ALL.iter().any(|service| service.as_str() == self.name)
    }

    /// Whether something is wrong with it.
    pub(super) fn is_bad(&self) -> bool {
        self.found.as_ref().map_or(true, Verdict::is_bad)
    }

    /// Takes its failure for a stop where the end of a run shows that, because the script itself
    /// can't know who sent the signal.
    pub(super) fn stopped_in(&mut self, stage: &Inner) {
        let Ok(Verdict { state: state @ State::Failed, failure: Some(failure), .. }) =
            &mut self.found
        else {
            return;
        };
        if (&self.name, &failure.stage, &failure.signal)
            == (&stage.service, &stage.stage, &stage.signal)
        {
            failure.cause = stage.cause;
            *state = State::Stopped;
        }
    }

    /// The stage that failed, where it did.
    fn failing_stage(&self) -> Option<&str> {
        self.found.as_ref().ok()?.failure.as_ref()?.stage.as_deref()
    }

    pub(super) fn document(&self) -> ServiceDocument<'_> {
        let found = self.found.as_ref().ok().cloned();
        let verdict = found.unwrap_or_else(|| Verdict::of(&self.records));
        let word = |state| serde_json::to_value(state).ok()?.as_str().map(str::to_owned);
        let state = self.found.as_ref().ok().and_then(|found| word(found.state));
        ServiceDocument {
            service: &self.name,
            state: state.unwrap_or_else(|| "unreadable".to_owned()),
            starts: verdict.judgement.starts,
            problem: self.found.as_ref().err().map(|problem| problem.why.as_str()),
            failing_stage: self.failing_stage(),
            failure: verdict.failure,
        }
    }

    /// A line with what became of it, and below it what is known of its failure.
    pub(super) fn text(&self) -> String {
        let mut text = format!("  {:<24} {}\n", harmless(&self.name), harmless(&self.words()));
        let mut fact = |name: &str, value: &str| {
            text += &format!("    {name:<8} {}\n", harmless(value));
        };
        let failure = match &self.found {
            Ok(Verdict { failure: Some(failure), .. }) if !self.is_ours() => failure,
            Ok(_) => return text,
            Err(problem) => {
                fact("hint:", &problem.hint);
                return text;
            }
        };
        if let Some(line) = &failure.called_from {
            fact("caller", line);
        }
        if let Some(line) = &failure.error_line {
            fact("line", line);
        }
        if let Some(command) = &failure.command {
            fact("command", &command.replace('\n', " "));
        }
        for (at, line) in failure.error_message.iter().flat_map(|m| m.lines()).enumerate() {
            fact(if at == 0 { "output" } else { "" }, line);
        }
        if let Some(hint) = &failure.hint {
            fact("hint", hint);
        }
        text
    }

    /// What became of it, in a line.
    fn words(&self) -> String {
        let verdict = match &self.found {
            Err(problem) => return format!("unreadable: {}", problem.why),
            Ok(verdict) => verdict,
        };
        let starts = match verdict.judgement.starts {
            0 | 1 => String::new(),
            starts => format!(" ({starts} starts)"),
        };
        let failed = verdict.failure.as_ref().map(how_it_failed).unwrap_or_default();
        match verdict.state {
            State::NotExecuted => "not executed: it has no service start".to_owned(),
            State::Succeeded => format!("succeeded{starts}"),
            State::Stopped => format!("stopped{starts}: {failed}"),
            State::Failed => format!("FAILED{starts}: {failed}"),
            State::InProgress => {
                let stage = self.records.last().and_then(|last| last.stage.as_deref());
                let now = stage.map_or_else(String::new, |stage| format!(" in the stage {stage}"));
                let before = match &verdict.failure {
                    Some(_) => format!("; it failed before: {failed}"),
                    None => String::new(),
                };
                format!("in progress{now}{starts}{before}")
            }
        }
    }
}

/// `the stage etcd: exit status 1`.
fn how_it_failed(failure: &Record) -> String {
    let outcome = wording::outcome(failure.cause, failure.exit_code, failure.signal.as_deref());
    let of = match (&failure.stage, &failure.pre_command, &failure.post_command) {
        (Some(stage), ..) => format!("the stage {stage}: "),
        (None, Some(name), _) => format!("the pre-command {name}: "),
        (None, None, Some(name)) => format!("the post-command {name}: "),
        (None, None, None) => String::new(),
    };
    format!("{of}{outcome}")
}

/// The services of this node: first ours, then others' by name.
pub(super) fn on_this_node(paths: &Paths) -> Vec<Service> {
    let ours = provost_record::Service::ALL.map(|service| paths.journal(service));
    ours.into_iter().chain(others(paths)).filter_map(|path| Service::open(&path)).collect()
}

/// The record files of services that aren't ours.
pub(super) fn others(paths: &Paths) -> Vec<PathBuf> {
    let folder = std::env::var_os(FOLDER.0).filter(|folder| !folder.is_empty());
    let folder = folder.map_or_else(|| PathBuf::from(FOLDER.1), PathBuf::from);
    let ours = paths.journal(provost_record::Service::Boot);
    let beside_ours = ours.parent().map(Path::to_owned);
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in beside_ours.into_iter().chain([folder]) {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        files.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    let is_ours = |path: &PathBuf| {
        provost_record::Service::ALL.iter().any(|service| *path == paths.journal(*service))
    };
    files.retain(|path| name(path).is_some() && path.is_file() && !is_ours(path));
    files.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    files.truncate(MOST_FILES);
    files
}

/// The name of a service by the path of its file; OpenShift's reader takes none with a dot.
pub(super) fn name(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?.strip_suffix(".json")?;
    (!name.is_empty() && !name.contains('.')).then_some(name)
}

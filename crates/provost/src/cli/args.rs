//! The arguments of the commands that have some.

use std::ffi::OsString;
use std::fs::canonicalize;
use std::path::{PathBuf, absolute};

use clap::{Args, ValueEnum};
use provost_node::failure::Failure;
use provost_node::runner::RunRequest;
use provost_plan::Step;
use provost_steplog::view::{Part, Reader, View};

use crate::dry_run;

#[derive(Args)]
pub(super) struct Continue {
    /// Run what the last one left unfinished: the step that failed, and those after it
    #[arg(long = "continue")]
    is_rest: bool,
}

impl Continue {
    /// All of `request`, or what is left of it.
    pub(super) fn of(&self, request: RunRequest) -> RunRequest {
        if self.is_rest { RunRequest::Continue(Box::new(request)) } else { request }
    }
}

#[derive(Args)]
pub(super) struct LogArgs {
    pub(super) script: Option<String>,
    /// Follow the log of a running script until the script ends; by default of the one that runs
    #[arg(long, short, conflicts_with_all = ["commands", "failed", "format"])]
    pub(super) follow: bool,
    /// Show the output only, each line with its time and stream
    #[arg(long, conflicts_with_all = ["commands", "failed"])]
    pub(super) output: bool,
    /// List the commands: start (UTC), duration, exit status, command
    #[arg(long)]
    pub(super) commands: bool,
    /// Show only the commands that failed, each with the end of its output
    #[arg(long)]
    pub(super) failed: bool,
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

impl LogArgs {
    pub(super) fn view(&self) -> View {
        let part = Part::of_flags(self.output, self.commands);
        let json = self.format == Format::Json;
        View { part, failed: self.failed, json, reader: Reader::of_stdout() }
    }
}

#[derive(Args)]
pub(super) struct StampArgs {
    /// Root folder of the image
    #[arg(long, value_name = "FOLDER")]
    pub(super) root: PathBuf,
    /// Scripts with their arguments, such as "s1 p1 p2,s2"
    #[arg(short = 'P', value_name = "LIST", conflicts_with = "script")]
    pub(super) list: Option<String>,
    /// A script and its arguments
    #[arg(value_name = "SCRIPT [ARGS]…", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(super) script: Vec<String>,
}

#[derive(Args)]
pub(super) struct RunArgs {
    /// Also log each line that bash runs, builtins and functions too
    #[arg(long, short = 'x')]
    pub(super) trace_lines: bool,
    #[command(flatten)]
    pub(super) dry_run: DryRunArgs,
    #[command(flatten)]
    pub(super) scripts: Scripts,
}

impl RunArgs {
    /// Takes `--dry-run` from behind SCRIPT: whoever writes it there wants nothing to change. A script's
    /// own stands in a LIST, or after `--`.
    pub(super) fn take_dry_run(&mut self) {
        let words = &mut self.scripts.script;
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        if let Some(at) = words[..end].iter().position(|word| word == "--dry-run") {
            words.remove(at);
            self.dry_run.is_wanted = true;
        }
    }
}

#[derive(Args)]
pub(super) struct DryRunArgs {
    /// Run it for real where it can't change this machine, and show what it would have changed
    #[arg(long = "dry-run")]
    pub(super) is_wanted: bool,
    /// With --dry-run: the network that it has, the machine's own or none
    #[arg(long, value_enum, default_value_t, value_name = "NETWORK", requires = "is_wanted")]
    network: NetworkArg,
    /// With --dry-run: keep what changes on this disk meanwhile, not in memory
    #[arg(long, value_name = "DIR", requires = "is_wanted")]
    scratch: Option<PathBuf>,
    /// With --dry-run: how what changed is printed
    #[arg(long, value_enum, default_value_t, requires = "is_wanted")]
    format: Format,
    /// With --dry-run: run what this folder has, as provostctl publish --rehearse sends it
    #[arg(long, value_name = "DIR", requires = "is_wanted")]
    bundle: Option<PathBuf>,
    /// The folder of `provost try`, which gets the logs
    #[arg(long, hide = true, requires = "is_wanted")]
    try_folder: Option<PathBuf>,
    /// The root of `provost try --root`, which is there even in /tmp
    #[arg(long, hide = true)]
    pub(super) shown: Option<PathBuf>,
    /// This is the program in the sandbox
    #[arg(long, hide = true, conflicts_with = "is_wanted")]
    pub(super) in_sandbox: bool,
    /// The sandbox has a rehearsal
    #[arg(long, hide = true, requires = "in_sandbox")]
    pub(super) rehearsal: bool,
    /// The sandbox has no network
    #[arg(long, hide = true, requires = "in_sandbox")]
    pub(super) offline: bool,
}

impl DryRunArgs {
    pub(super) fn options(&self) -> dry_run::Options {
        dry_run::Options {
            no_network: self.network == NetworkArg::None,
            scratch: self.scratch.clone(),
            json: self.format == Format::Json,
            bundle: self.bundle.clone(),
            folder: self.try_folder.clone(),
            shown: self.shown.clone(),
        }
    }

    /// The command line in the sandbox.
    pub(super) fn inner(config: Option<&PathBuf>, run: &RunArgs) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        if let Some(config) = config {
            // The sandbox has another working folder.
            let config = absolute(config).unwrap_or_else(|_| config.clone());
            words.extend(["--config".into(), config.into()]);
        }
        words.extend(["run".into(), "--in-sandbox".into()]);
        words.extend(run.dry_run.bundle.as_ref().map(|_| "--rehearsal".into()));
        words.extend((run.dry_run.network == NetworkArg::None).then(|| "--offline".into()));
        if let Some(root) = run.dry_run.shown.as_ref().and_then(|root| canonicalize(root).ok()) {
            words.extend(["--shown".into(), root.into()]);
        }
        words.extend(run.trace_lines.then(|| "--trace-lines".into()));
        match &run.scripts.list {
            Some(list) => words.extend(["-P".into(), list.into()]),
            None => {
                words.push("--".into());
                words.extend(run.scripts.script.iter().map(OsString::from));
            }
        }
        words
    }
}

#[derive(Clone, Copy, Default, PartialEq, ValueEnum)]
enum NetworkArg {
    /// That of this machine, which it can use and not change
    #[default]
    Host,
    /// None
    None,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub(super) struct Scripts {
    /// Scripts with their arguments, such as "s1 p1 p2,s2"
    #[arg(short = 'P', value_name = "LIST")]
    pub(super) list: Option<String>,
    /// A script and its arguments
    #[arg(value_name = "SCRIPT [ARGS]…", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(super) script: Vec<String>,
}

#[derive(Clone, Copy, Default, PartialEq, ValueEnum)]
pub(super) enum Format {
    #[default]
    Text,
    Json,
}

/// The steps of a list, or the one that the words of `script` name.
pub(super) fn steps(list: Option<String>, script: Vec<String>) -> Result<Vec<Step>, Failure> {
    let Some(list) = list else {
        let mut words = script.into_iter();
        let script = words.next().unwrap_or_default();
        // What can't be published can't be run, and a path may lead out of what was verified.
        provost_bundle::check_path(&script)
            .map_err(|e| Failure::config(e, "name a script as it is in the published folder"))?;
        return Ok(vec![Step { script, args: words.collect() }]);
    };
    Step::parse_list(&list).map_err(|e| Failure::config(&e, e.hint()))
}

//! `provostctl try`: one script as a node would run it, on this machine, without a management node.

mod bundle_files;
mod live;
mod node_folder;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use provost_bundle::check_path;
use provost_plan::{Explained, Plan, Site, Step};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

use self::bundle_files::{LeftOut, Limits};
use self::live::Live;
use self::node_folder::Bundle;
use crate::failure::{Failure, WRONG};
use crate::format::Format;
use crate::node_set::NodeName;
use crate::plan::explain;
use crate::temporary::disk;
use crate::{output, site_file};

/// The run's last message before it starts the script begins so.
const FETCHED: &str = "provost: fetch: ";
/// The name of a node that isn't named.
const NAMELESS: &str = "try";
/// Exit status of `provost run`: the script has failed.
const POSTSCRIPT_FAILED: u8 = 1;

/// `provostctl try`.
#[derive(clap::Args)]
pub(crate) struct Try {
    /// The script. It finds the other files of its folder, as on a node
    script: PathBuf,
    /// Site file: which nodes run what; without one, the plan is empty
    #[arg(long, value_name = "FILE")]
    site: Option<PathBuf>,
    /// Node that it runs as; by default a node named try, with the plan of [defaults]
    #[arg(long, value_name = "NODE")]
    node: Option<NodeName>,
    /// Folder of scripts; that of the script by default
    #[arg(long, value_name = "DIR")]
    scripts: Option<PathBuf>,
    /// Change this machine itself, or the system in --root; without it, show what would change, and change nothing
    #[arg(long, conflicts_with_all = ["network", "scratch", "format"])]
    here: bool,
    /// Root folder of the system that the script changes (PROVOST_ROOT), in place of this machine
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Network that the script has: this machine's, or none. Requests to other machines do happen
    #[arg(long, value_enum, default_value_t)]
    network: Network,
    /// Keep what changes meanwhile on this disk, not in memory
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// How to print what changed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Keep the temporary folder with its logs, also after a success
    #[arg(long)]
    keep: bool,
    /// Arguments of the script; those in the node's plan by default
    #[arg(last = true)]
    args: Vec<String>,
}

/// The network of a script that is tried.
#[derive(Clone, Copy, Default, PartialEq, clap::ValueEnum)]
enum Network {
    /// That of this machine, which the script can use and not change
    #[default]
    Host,
    /// None
    None,
}

impl Try {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        self.check_script()?;
        if !self.here {
            self.announce();
        }
        let prepared = self.prepare().map_err(|failure| failure.with_code(WRONG))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| Failure::of(&e, "check the limits of this process (ulimit -n)"))?;
        if self.here && self.root.is_none() && rustix::process::geteuid().is_root() {
            output::note(&format!(
                "note: {} runs on this machine itself and may change it\n  hint: leave out --here, \
                 or let it work on another system: --root DIR",
                prepared.step.script
            ));
        }
        let status = match self.here {
            true => runtime.block_on(prepared.run()),
            false => runtime.block_on(prepared.dry_run(self.sandbox())),
        }?;
        self.end(prepared, status)
    }

    /// A folder isn't read through to find that out.
    fn check_script(&self) -> Result<(), Failure> {
        let (folder, name) = self.place();
        let path = folder.join(name);
        if !path.is_dir() {
            return Ok(());
        }
        let shown = self.script.display();
        let hint =
            format!("name a script in it: provost try {}", self.script.join("SCRIPT").display());
        Err(Failure::new(format!("{shown} is a folder, not a script"), hint).with_code(WRONG))
    }

    /// What a sandbox can't keep from happening stands first.
    fn announce(&self) {
        let network = match self.network {
            Network::Host => {
                "what it asks of other machines does happen (--network none: it has no network)"
            }
            Network::None => "it has no network",
        };
        let script = self.script.display();
        output::note(&format!("dry run of {script}: nothing on this machine changes; {network}"));
    }

    /// The options of the sandbox.
    fn sandbox(&self) -> Vec<OsString> {
        let mut options: Vec<OsString> = vec!["--dry-run".into()];
        if self.network == Network::None {
            options.extend(["--network".into(), "none".into()]);
        }
        if self.format == Format::Json {
            options.extend(["--format".into(), "json".into()]);
        }
        if let Some(scratch) = &self.scratch {
            options.extend(["--scratch".into(), scratch.into()]);
        }
        if let Some(root) = &self.root {
            options.extend(["--shown".into(), root.into()]);
        }
        options
    }

    /// Puts together all that it takes.
    fn prepare(&self) -> Result<Prepared, Failure> {
        let site = self.read_site()?;
        let mut explained = self.explain(&site)?;
        let (folder, name) = self.place();
        let text = node_folder::text_of(&folder.join(&name))?;
        if let Err(e) = check_path(&name) {
            return Err(Failure::new(e.to_string(), e.hint()));
        }
        let policy = node_folder::policy(&site, &name, &text)?;
        let step = self.step(&explained.plan, name.clone())?;
        if let Some(root) = &self.root {
            let root = node_folder::usable_root(root, &name, &text)?;
            explained.plan.env.insert(node_folder::ROOT.to_owned(), root);
        }
        let mut left_out = LeftOut::default();
        let others = match (&*name, &self.scripts) {
            // It needs the management node's files.
            ("syncfiles", _) => node_folder::synced(&folder, &name)?,
            (_, None) => bundle_files::find(&folder, &name, Limits::OF_NEIGHBOURS, &mut left_out),
            (_, Some(_)) => bundle_files::find(&folder, &name, Limits::OF_SCRIPTS, &mut left_out),
        };
        let bundle = Bundle { script: name, text, policy, others, left_out };
        let folder =
            tempfile::Builder::new().prefix("provost-try-").tempdir().map_err(|e| disk(&e))?;
        node_folder::fill(folder.path(), explained, bundle)?;
        Ok(Prepared { folder, node: self.node().to_owned(), step })
    }

    fn read_site(&self) -> Result<Site, Failure> {
        if let Some(path) = &self.site {
            return site_file::read(path);
        }
        if let Some(node) = &self.node {
            let error = format!("no site file is named, which would have the plan of {}", node.0);
            return Err(Failure::new(error, "name it: --site FILE; or leave out --node"));
        }
        output::note("note: no site file is named (--site FILE): the plan is empty");
        Site::parse("", Path::new("site.toml")).map_err(|e| Failure::of(&e, e.hint()))
    }

    fn explain<'s>(&self, site: &'s Site) -> Result<Explained<'s>, Failure> {
        match (&self.node, &self.site) {
            (Some(node), Some(path)) => explain(site, path, &node.0),
            _ => Ok(site.explain_defaults(NAMELESS)),
        }
    }

    fn node(&self) -> &str {
        self.node.as_ref().map_or(NAMELESS, |node| &node.0)
    }

    /// The scripts' folder, and the script's name in it.
    fn place(&self) -> (PathBuf, String) {
        let Some(folder) = &self.scripts else {
            let folder = self.script.parent().filter(|folder| *folder != Path::new(""));
            let name = self.script.file_name().unwrap_or_default();
            let folder = folder.unwrap_or(Path::new("."));
            return (folder.to_owned(), name.to_string_lossy().into_owned());
        };
        let name = self.script.strip_prefix(folder).unwrap_or(&self.script);
        (folder.clone(), name.display().to_string())
    }

    /// The script with its arguments.
    fn step(&self, plan: &Plan, script: String) -> Result<Step, Failure> {
        if !self.args.is_empty() {
            return Ok(Step { script, args: self.args.clone() });
        }
        let all = plan.postscripts.iter().chain(&plan.postbootscripts);
        let mut planned: Vec<&Step> = all.filter(|step| step.script == script).collect();
        planned.dedup();
        match planned[..] {
            [] => {
                if let Some(node) = &self.node {
                    output::note(&format!("note: the plan of {} doesn't run {script}", node.0));
                }
                Ok(Step { script, args: Vec::new() })
            }
            [step] => Ok(step.clone()),
            [first, ..] => {
                let shown: Vec<_> = planned.iter().map(|step| format!("`{step}`")).collect();
                let error = format!("{} runs {}", self.node(), shown.join(" and "));
                let args = shell_words::join(&first.args);
                Err(Failure::new(error, format!("say which, after `--`: … -- {args}")))
            }
        }
    }

    /// Says how it ended, and removes or keeps the folder.
    fn end(&self, prepared: Prepared, status: ExitStatus) -> Result<(), Failure> {
        let Prepared { folder, node, step } = prepared;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        let code = code.unwrap_or(POSTSCRIPT_FAILED);
        let script = &step.script;
        let is_kept = self.keep || code == POSTSCRIPT_FAILED;
        let path = folder.path().display().to_string();
        if is_kept {
            // There are none, or the folder is its owner's alone.
            let _ = std::fs::remove_file(folder.path().join(node_folder::SECRETS));
            let _ = folder.keep();
        }
        let hint = format!("see each command: provost --config {path}/provost.toml log {script}");
        match code {
            0 if is_kept => output::note(&format!("kept {path}\n  hint: {hint}")),
            0 => {}
            _ => {
                let error = format!("trying {script} for {node}: exit status {code} of provost");
                return Err(match is_kept {
                    true => Failure::new(format!("{error}; kept {path}"), hint),
                    false => Failure::new(error, "see the lines above"),
                }
                .with_code(code));
            }
        }
        Ok(())
    }
}

/// A node's folder on this machine, with all that the run takes.
struct Prepared {
    folder: TempDir,
    node: String,
    step: Step,
}

impl Prepared {
    /// The node's own program, as it runs the script, with more options.
    fn command(&self, options: &[OsString]) -> Command {
        let mut command = Command::new(program());
        // What configures a node here would count more than its file.
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("PROVOST_") && name != "PROVOST_LOG" {
                command.env_remove(&*name);
            }
        }
        command.env("PROVOST_NODE", &self.node).env("PROVOST_AGAIN", again());
        command.arg("--config").arg(self.folder.path().join("provost.toml"));
        command.arg("run").args(options).arg("--");
        command.arg(&self.step.script).args(&self.step.args);
        command
    }

    /// Has it run where it can change nothing, and show what it would have changed. The program also gets
    /// the signals that end this one.
    async fn dry_run(&self, options: Vec<OsString>) -> Result<ExitStatus, Failure> {
        let folder = ["--try-folder".into(), self.folder.path().into()];
        let options: Vec<OsString> = options.into_iter().chain(folder).collect();
        let (mut interrupt, mut terminate) =
            (watch(SignalKind::interrupt())?, watch(SignalKind::terminate())?);
        let mut child = self.command(&options).spawn().map_err(not_run)?;
        let pid = child.id().and_then(|pid| Pid::from_raw(pid.cast_signed()));
        loop {
            tokio::select! {
                status = child.wait() => return status.map_err(not_run),
                // The terminal sends it to both.
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {
                    // Fails where it has ended meanwhile.
                    let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
                }
            }
        }
    }

    /// Runs it by the node's own program, which also gets the signals that end this one.
    async fn run(&self) -> Result<ExitStatus, Failure> {
        let mut interrupt = watch(SignalKind::interrupt())?;
        let mut terminate = watch(SignalKind::terminate())?;
        let mut command = self.command(&[]);
        let mut child = command.stderr(Stdio::piped()).spawn().map_err(not_run)?;
        let mut messages = child.stderr.take().map(|pipe| BufReader::new(pipe).lines());
        let logs = self.folder.path().join("log/scripts");
        let mut live = None;
        let pid = child.id().and_then(|pid| Pid::from_raw(pid.cast_signed()));
        while let Some(lines) = &mut messages {
            tokio::select! {
                line = lines.next_line() => match line {
                    Ok(Some(line)) => {
                        if let Some(live) = &live {
                            Live::catch_up(live).await;
                        }
                        output::note(&line);
                        // Next is the script. What was said before stands before it.
                        if line.starts_with(FETCHED) {
                            live.get_or_insert_with(|| Live::start(logs.clone()));
                        }
                    }
                    _ => messages = None,
                },
                // The terminal sends it to both.
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {
                    // Fails where it has ended meanwhile.
                    let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
                }
            }
        }
        let status = child.wait().await.map_err(not_run);
        live.unwrap_or_else(|| Live::start(logs)).finish().await;
        status
    }
}

fn watch(kind: SignalKind) -> Result<tokio::signal::unix::Signal, Failure> {
    signal(kind).map_err(|e| Failure::of(&e, "check ulimit -n"))
}

fn not_run(e: std::io::Error) -> Failure {
    let error = format!("running {}: {e}", program().display());
    Failure::new(error, "install the node's program: the package provost").with_code(WRONG)
}

/// The command line once more, for hints.
fn again() -> String {
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let begin = words.iter().position(|word| word == "try").unwrap_or_default();
    format!("provost {}", shell_words::join(&words[begin..]))
}

/// The node's program: the one next to this one, else the one on PATH.
fn program() -> PathBuf {
    let mut neighbour = std::env::current_exe().unwrap_or_default();
    neighbour.set_file_name("provost");
    if neighbour.exists() { neighbour } else { "provost".into() }
}

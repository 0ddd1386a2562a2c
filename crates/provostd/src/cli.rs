use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use provost_help::{Heading, Layout, sections};
use provost_steplog::wording::error_chain;
use sd_notify::NotifyState;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::daemon::check::Found;
use crate::listener::refusal::Refusal;
use crate::listener::tls::{Show, ShowError, rotate};
use crate::nodes::host_keys::HostAuthority;
use crate::nodes::installer::install_sh_of;
use crate::{Config, Daemon, DaemonError, daemon, published};

/// The daemon couldn't serve.
const FAILED: u8 = 1;
/// The command line or the configuration is wrong.
const WRONG: u8 = 2;
/// The daemon's configuration, if none is named.
const CONFIG: &str = "/etc/provost/provostd.toml";
/// How long work that can't be cancelled, such as reading a file, may continue at the end.
const LAST_WORK: Duration = Duration::from_secs(1);

/// Serve what nodes run, receive their reports, and answer admins
#[derive(Parser)]
#[command(name = "provostd", version = provost_api::VERSION)]
struct Cli {
    /// Configuration
    #[arg(long, global = true, value_name = "FILE", default_value = CONFIG)]
    config: PathBuf,
    /// Log on stderr as text or as json
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        default_value = "text",
        hide_possible_values = true
    )]
    log_format: LogFormat,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Subcommand)]
enum Command {
    /// Show or rotate the CA by which nodes trust this server
    #[command(subcommand)]
    Ca(Ca),
    /// Check that provostd would start, and list what is wrong
    ///
    /// Changes nothing, and doesn't disturb a running provostd.
    Check,
    /// Make the keys of a first start, and print what publish needs
    ///
    /// The keys are that of the authority and that which refreshes what is published. Two lines are printed: "tls
    /// PORT:SHA256" and "refresh-key RW…".
    Prepare,
    /// Print install.sh, which makes a machine a node
    InstallSh,
}

#[derive(Subcommand)]
enum Ca {
    /// Show the CA's certificate, and what provostctl publish --tls takes
    Show {
        /// Show only what provostctl publish --tls takes
        #[arg(long)]
        tls: bool,
        /// Show the line for ssh's known_hosts, for nodes whose host keys the postscript hostkeys has certified
        #[arg(long, conflicts_with = "tls")]
        ssh: bool,
    },
    /// Rotate the CA; nodes that trust the old one still connect
    Rotate {
        /// Drop the old CA, once all nodes trust the new one
        #[arg(long)]
        finish: bool,
    },
}

/// The command line, for its manual.
pub fn command() -> clap::Command {
    Cli::command()
}

/// How the help of each command is laid out.
pub static LAYOUT: Layout = Layout {
    headings: &[Heading { title: "Commands", commands: &["check", "ca"] }],
    // Only the daemon has a log.
    shows: |option, command| option != "log_format" || command.is_empty(),
    sections: sections::MANAGEMENT_NODE,
    more: "",
};

/// Runs the daemon until SIGTERM or SIGINT. Exit statuses: 0 it ended in order, 1 it couldn't serve,
/// 2 the command line or the configuration is wrong.
pub fn main() -> ExitCode {
    // Options of a time before the first release, which no help or completion names.
    let is_of_relay = |arg: &str| arg == "--relay" || arg.starts_with("--upstream");
    if std::env::args_os().any(|arg| arg.to_str().is_some_and(is_of_relay)) {
        let error = "starting a relay: provostd has none";
        let hint = "put nginx or haproxy between racks and the management node: docs/proxies.md";
        return complain(&io::Error::other(error), hint, WRONG);
    }
    let args: Vec<OsString> = std::env::args_os().collect();
    let mut program = LAYOUT.apply(command());
    let parsed =
        program.try_get_matches_from_mut(&args).and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            provost_help::complain(&error, &program, &args);
            return ExitCode::from(WRONG);
        }
        // Help and version.
        Err(text) => return written(provost_help::print(&text)),
    };
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_target(false);
    match cli.log_format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
    let config = match Config::load(&cli.config) {
        Ok(config) => config,
        Err(error) => return complain(&error, &error.hint(), WRONG),
    };
    match cli.command {
        Some(Command::Check) => check(&config, &cli.config),
        Some(Command::Ca(Ca::Show { ssh: true, .. })) => {
            let line = HostAuthority::open_or_make(&config.data).and_then(|ca| ca.known_hosts());
            match line {
                Ok(line) => print(&format!("{line}\n")),
                Err(error) => complain(&error, &error.hint(), FAILED),
            }
        }
        Some(Command::Ca(Ca::Show { tls, .. })) => {
            say(Show::of(&config).map(|show| if tls { show.line() } else { show.text() }))
        }
        Some(Command::Ca(Ca::Rotate { finish })) => say(rotate(&config, finish)),
        Some(Command::Prepare) => {
            only_for_this_user();
            match daemon::prepare::prepare(&config) {
                Ok(text) => print(&text),
                Err(error) => complain(&error, &error.hint(), FAILED),
            }
        }
        Some(Command::InstallSh) => match install_sh_of(&config) {
            Ok(text) => print(&text),
            Err(Refusal { error, hint, .. }) => complain(&io::Error::other(error), &hint, FAILED),
        },
        None => run(serve(&config)),
    }
}

/// Lets only this user read what the daemon writes.
fn only_for_this_user() {
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Shows each thing that keeps a daemon from starting.
fn check(config: &Config, file: &Path) -> ExitCode {
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(ended) => return ended,
    };
    for hook in config.hooks.unusable() {
        let hint = "put an executable program there, or correct the path";
        let _ = complain(&io::Error::other(format!("warning: {hook}")), hint, 0);
    }
    let Found { mistakes, unreachable } = runtime.block_on(daemon::check::check(config));
    if let Some(error) = unreachable {
        let text = format!(
            "warning: until it is there, nodes and admins are refused: {}",
            error_chain(&error)
        );
        let _ = complain(&io::Error::other(text), error.hint(), 0);
    }
    if mistakes.is_empty() {
        return print(&format!("{}: a start would work\n", file.display()));
    }
    for mistake in &mistakes {
        complain(mistake, &mistake.hint(), WRONG);
    }
    ExitCode::from(WRONG)
}

fn runtime() -> Result<Runtime, ExitCode> {
    let limits = "check the limits of this process (ulimit -u)";
    Runtime::new().map_err(|error| complain(&error, limits, FAILED))
}

/// Runs a daemon until it has ended.
fn run(daemon: impl Future<Output = Result<(), DaemonError>>) -> ExitCode {
    only_for_this_user();
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(ended) => return ended,
    };
    let ended = runtime.block_on(daemon);
    runtime.shutdown_timeout(LAST_WORK);
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let code = if error.is_of_configuration() { WRONG } else { FAILED };
            complain(&error, &error.hint(), code)
        }
    }
}

fn say(text: Result<String, ShowError>) -> ExitCode {
    match text {
        Ok(text) => print(&text),
        Err(error) => complain(&error, &error.hint(), FAILED),
    }
}

fn print(text: &str) -> ExitCode {
    written(io::stdout().write_all(text.as_bytes()))
}

fn written(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error, "check where its output goes", FAILED),
    }
}

async fn serve(config: &Config) -> Result<(), DaemonError> {
    let ended = Ended::new()?;
    let daemon = Daemon::start(config).await?;
    let at = daemon.addresses();
    tracing::info!(data = %config.data.display(), www = %config.www.display(), "serving");
    tracing::info!("nodes at http://{}", at.nodes);
    match at.nodes_tls {
        Some(at) if published::names_tls(&config.www) == Some(true) => {
            tracing::info!("nodes at https://{at}");
        }
        Some(at) => tracing::info!(
            "nodes at https://{at}, once it is named: provostctl publish … --tls \"$(provostd ca show --tls)\""
        ),
        None => tracing::warn!("[tls] is off: who listens on the network can read nodes' tokens"),
    }
    if let Some(admin) = at.admin {
        tracing::info!("admins at http://{admin}");
        if !admin.ip().is_loopback() {
            tracing::warn!("every machine that reaches {admin} can read all records and logs");
        }
    }
    if let Some(at) = at.admin_tls {
        tracing::info!(
            "admins at https://{at}, with a token: provostctl admin add NAME --role read"
        );
    }
    if let Some(at) = at.monitor {
        tracing::info!(
            "xCAT's nodes at {at}: a machine with a node's address can report for that node"
        );
    }
    ended.wait().await;
    daemon.stop().await;
    Ok(())
}

/// The signals that end a daemon.
struct Ended {
    terminate: Signal,
    interrupt: Signal,
}

impl Ended {
    fn new() -> Result<Self, DaemonError> {
        let listen = |kind| signal(kind).map_err(DaemonError::Signals);
        let terminate = listen(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: listen(SignalKind::interrupt())? })
    }

    /// Says that the daemon serves, and waits for one of them.
    async fn wait(mut self) {
        notify_systemd(NotifyState::Ready);
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        tracing::info!("stopping");
        notify_systemd(NotifyState::Stopping);
    }
}

fn notify_systemd(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!("notifying systemd: {error}");
    }
}

fn complain(error: &dyn std::error::Error, hint: &str, code: u8) -> ExitCode {
    // Fails where stderr is closed.
    let error = error_chain(error);
    let _ = writeln!(io::stderr(), "provostd: {error}\n  hint: {hint}");
    ExitCode::from(code)
}

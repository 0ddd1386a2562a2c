use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use provost_record::wording::error_chain;
use sd_notify::NotifyState;
use tokio::signal::unix::{SignalKind, signal};

use crate::tls::Show;
use crate::{Config, Daemon, DaemonError};

/// The daemon couldn't serve.
const FAILED: u8 = 1;
/// The command line or the configuration is wrong.
const WRONG: u8 = 2;
/// How long work that can't be cancelled, such as reading a file, may continue at the end.
const LAST_WORK: Duration = Duration::from_secs(1);

/// The management node's daemon of Provost: serves the bundle to nodes, receives their reports,
/// answers admins
#[derive(Parser)]
#[command(name = "provostd", version)]
struct Cli {
    /// The configuration
    #[arg(long, global = true, value_name = "FILE", default_value = "/etc/provost/provostd.toml")]
    config: PathBuf,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// The authority by which nodes know this server over TLS
    #[command(subcommand)]
    Ca(Ca),
}

#[derive(Subcommand)]
enum Ca {
    /// Show its certificate, and what provostctl publish --tls takes
    Show {
        /// Only what provostctl publish --tls takes
        #[arg(long)]
        tls: bool,
    },
}

/// The command line, for its manual.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs the daemon until SIGTERM or SIGINT. Exit statuses: 0 it ended in order, 1 it couldn't serve,
/// 2 the command line or the configuration is wrong.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    tracing_subscriber::fmt().with_writer(io::stderr).with_target(false).init();
    let config = match Config::load(&cli.config) {
        Ok(config) => config,
        Err(error) => return complain(&error, &error.hint(), WRONG),
    };
    if let Some(Command::Ca(Ca::Show { tls })) = cli.command {
        return show_authority(&config, tls);
    }
    // Only this user reads what the daemon writes.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            return complain(&error, "check the limits of this process (ulimit -u)", FAILED);
        }
    };
    let ended = runtime.block_on(serve(&config));
    runtime.shutdown_timeout(LAST_WORK);
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error, &error.hint(), FAILED),
    }
}

fn show_authority(config: &Config, is_short: bool) -> ExitCode {
    let text = match Show::of(config) {
        Ok(show) if is_short => show.line(),
        Ok(show) => show.text(),
        Err(error) => return complain(&error, &error.hint(), FAILED),
    };
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error, "check where its output goes", FAILED),
    }
}

async fn serve(config: &Config) -> Result<(), DaemonError> {
    let listen = |kind| signal(kind).map_err(DaemonError::Signals);
    let (mut terminate, mut interrupt) =
        (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    let daemon = Daemon::start(config).await?;
    let at = daemon.addresses();
    tracing::info!(data = %config.data.display(), www = %config.www.display(), "serving");
    tracing::info!("nodes at http://{}", at.nodes);
    match at.nodes_tls {
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
    notify_systemd(NotifyState::Ready);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping");
    notify_systemd(NotifyState::Stopping);
    daemon.stop().await;
    Ok(())
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

//! The command line. A command is a variant of [`Command`], with a module here or in `inspect`.

mod args;
mod fetch;
mod help;
mod record;
mod sign_host_keys;
mod workstation;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use provost_record::ExitCode;

use self::args::{Continue, DryRunArgs, Format, LogArgs, RunArgs, StampArgs, steps};
use self::fetch::FetchArgs;
pub use self::help::LAYOUT;
use self::record::RecordArgs;
use crate::dry_run;
use crate::inspect::{self, Wait};
use crate::kinds::KINDS;
use crate::xcat;
use provost_node::failure::Failure;
use provost_node::observe::console::{complain, exit, printed};
use provost_node::room;
use provost_node::runner;
use provost_node::runner::{OutputMode, RunRequest};
use provost_node::settings::{Flag, Input, Origin};

/// Run this node's provisioning scripts, record what happens, and report it
#[derive(Parser)]
#[command(version = provost_api::VERSION, max_term_width = 100)]
struct Cli {
    /// Configuration file
    #[arg(long, global = true, value_name = "FILE", env = "PROVOST_CONFIG")]
    config: Option<PathBuf>,
    /// Show what scripts print, also without a terminal
    #[arg(long, short, global = true)]
    verbose: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run what this boot needs
    Boot(Continue),
    /// Run the postscripts, at the end of an installation
    ///
    /// Leaves in the new root what its boots need.
    Kickstart(Continue),
    /// Run a script again, or a list of them
    Run(RunArgs),
    /// Run one script on a workstation as a node would
    #[command(disable_help_flag = true)]
    Try {
        /// As `provostctl try` takes them; see its --help
        #[arg(
            value_name = "SCRIPT --site FILE --node NODE",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        args: Vec<OsString>,
    },
    /// Show the result of the last run
    Status {
        /// Wait for the run in progress, and exit with its exit status, or with that of the last run
        #[arg(long)]
        wait: bool,
        /// With --wait: don't wait in a script of the run in progress
        #[arg(long, requires = "wait")]
        any: bool,
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show a script's newest log: commands, output, exit statuses
    ///
    /// Without a name, that of the script that failed or ran last.
    Log(LogArgs),
    /// Show the effective configuration, and check that it works
    ///
    /// Shows where each value comes from.
    Check {
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Collect records, logs and facts in one file
    Gather {
        /// Folder for the file
        #[arg(long, value_name = "DIR", default_value = ".")]
        to: PathBuf,
    },
    /// Show why the last run failed, and where the time went
    Analyze {
        /// Bundle of provost gather, from any node, or of OpenShift's installer; by default this node's
        /// own records
        bundle: Option<PathBuf>,
        /// Bundle, in place of the argument
        #[arg(long, value_name = "BUNDLE", conflicts_with = "bundle")]
        file: Option<PathBuf>,
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Send what couldn't be sent, and renew the identity
    Report,
    /// Add an entry to another service's journal, as lib-sh does
    Record(RecordArgs),
    /// Fetch a file and verify its digest, as lib-sh does
    Fetch(FetchArgs),
    /// Have this node's ssh host keys certified
    ///
    /// Reads public keys, or certificates of them, from stdin, one a line, and writes their certificates to stdout, in
    /// the same order.
    SignHostKeys,
    /// Release this node if the guard holds it
    Release,
    /// Mark steps as done in an image
    ///
    /// The named ones, or all that don't run each time.
    Stamp(StampArgs),
    #[command(flatten)]
    Xcat(xcat::Command),
    /// Request a reboot for when the script that runs has succeeded
    RebootRequest {
        /// Why
        reason: Vec<String>,
    },
}

impl Command {
    /// The settings that its flags set.
    fn flags(&self) -> Result<Vec<Flag>, Failure> {
        match self {
            Self::Xcat(command) => command.flags(),
            Self::Run(RunArgs { dry_run, .. }) if dry_run.in_sandbox => {
                Ok(dry_run::flags(dry_run.offline))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Whether it reports mistakes in the configuration itself, with the settings that are valid: a run
    /// records them, and the management node has to know.
    fn reports_mistakes(&self) -> bool {
        matches!(
            self,
            Self::Boot(_)
                | Self::Kickstart(_)
                | Self::Run(_)
                | Self::Xcat(_)
                | Self::Check { .. }
                | Self::Report
        )
    }

    /// Whether it shows or changes what is on this node. Without the configuration, which only root
    /// may be allowed to read, it would look in other folders.
    fn is_of_here(&self) -> bool {
        !matches!(self, Self::Analyze { bundle: Some(_), .. })
    }

    /// Whether it works in spite of mistakes in the configuration: it may be used to find them. Not where its exit
    /// status says how a run went: the mistake may be of where runs are recorded.
    fn tolerates_mistakes(&self) -> bool {
        matches!(
            self,
            Self::Status { wait: false, .. }
                | Self::Log(_)
                | Self::Gather { .. }
                | Self::Analyze { .. }
                | Self::Release
        )
    }
}

/// The command line, for its manual.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Parses the command line and does what it says.
pub fn main() -> std::process::ExitCode {
    match room::stack() {
        Ok(()) => by_name().into(),
        Err(failure) => {
            complain(&format!("error: {failure}"));
            failure.exit_code().into()
        }
    }
}

/// Not a part of [`main`], which must do with a small stack.
#[inline(never)]
fn by_name() -> ExitCode {
    std::panic::set_hook(Box::new(end_by_defect));
    if let Some(args) = record_alone() {
        return record::main(args);
    }
    // Before any TLS: where no provider is installed, rustls panics.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        complain("TLS was set up twice; this is a defect of provost");
    }
    run()
}

/// Ends by what a library doesn't expect, such as a refused write to its own eventfd, like by any other
/// failure of the machine: there is no crash, and the keeper ends what runs.
#[expect(clippy::exit, reason = "there is nothing to go on with")]
fn end_by_defect(defect: &std::panic::PanicHookInfo<'_>) {
    complain(&format!("error: provost can't go on: {defect}"));
    complain("hint: see what the machine refuses: dmesg; then start it again");
    std::process::exit(ExitCode::Usage as i32);
}

/// The arguments of `provost record`, which a service calls for each of its stages: to read the
/// command lines of all commands would take as long as the rest. What isn't simply that is left
/// to them.
fn record_alone() -> Option<record::RecordArgs> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != "record" {
        return None;
    }
    let command = record::RecordArgs::augment_args(clap::Command::new("record"));
    let matches = command.no_binary_name(true).try_get_matches_from(args).ok()?;
    record::RecordArgs::from_arg_matches(&matches).ok()
}

fn run() -> ExitCode {
    let args: Vec<OsString> = xcat::called(std::env::args_os());
    let mut program = LAYOUT.apply(Cli::command());
    let parsed = program
        .try_get_matches_from_mut(&args)
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(e) => {
            if e.use_stderr() {
                provost_help::complain(&e, &program, &args);
                return ExitCode::Usage;
            }
            return exit(printed(provost_help::print(&e)));
        }
    };
    let command = match cli.command {
        // Whatever the configuration is; the run that waits for this has read it.
        Command::RebootRequest { reason } => return runner::request_reboot(&reason),
        // It needs no configuration, and is called often.
        Command::Record(args) => return record::main(args),
        // Not that of this machine.
        Command::Try { args } => return refuse(&workstation::attempt(&args)),
        command => command,
    };
    let config = cli.config.map(|file| match matches.value_source("config") {
        Some(ValueSource::EnvVariable) => (file, Origin::Environment("PROVOST_CONFIG".to_owned())),
        _ => (file, Origin::Flag("--config")),
    });
    let flags = match command.flags() {
        Ok(flags) => flags,
        Err(failure) => return refuse(&failure),
    };
    let mut input = Input::read(config, flags);
    input.require_kind(&KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>());
    if !command.reports_mistakes() && !input.mistakes.is_empty() {
        let is_unreadable = input.mistakes.iter().any(Failure::is_denied);
        let is_tolerated = command.tolerates_mistakes() && !(is_unreadable && command.is_of_here());
        let what = if is_tolerated { "warning" } else { "error" };
        input.mistakes.iter().for_each(|failure| complain(&format!("{what}: {failure}")));
        if !is_tolerated {
            return ExitCode::Usage;
        }
    }
    let output = OutputMode::of(cli.verbose);
    let run =
        |request: &RunRequest| runner::main(&input, KINDS, request, output.clone(), Vec::new());
    match command {
        Command::Boot(args) => run(&args.of(RunRequest::Boot)),
        Command::Kickstart(args) => run(&args.of(RunRequest::Postscripts)),
        Command::Run(args) => named(&input, args, output.clone()),
        Command::Check { format } => inspect::check(&input, format == Format::Json),
        Command::Status { wait, any, format } => {
            inspect::status(&input, Wait::of_flags(wait, any), format == Format::Json)
        }
        Command::Log(args) => {
            inspect::log(&input, args.script.as_deref(), args.view(), args.follow)
        }
        Command::Gather { to } => inspect::gather(&input, &to),
        Command::Analyze { bundle, file, format } => {
            inspect::analyze(&input, bundle.or(file).as_deref(), format == Format::Json)
        }
        Command::Report => runner::report(&input, KINDS),
        Command::Xcat(command) => command.run(&input).unwrap_or_else(|failure| refuse(&failure)),
        Command::Release => runner::release(&input),
        Command::Stamp(StampArgs { root, list: None, script }) if script.is_empty() => {
            runner::stamp(&input, KINDS, &root, None)
        }
        Command::Stamp(args) => match steps(args.list, args.script) {
            Ok(steps) => runner::stamp(&input, KINDS, &args.root, Some(&steps)),
            Err(failure) => refuse(&failure),
        },
        Command::RebootRequest { reason } => runner::request_reboot(&reason),
        Command::Try { args } => refuse(&workstation::attempt(&args)),
        Command::Record(args) => record::main(args),
        Command::Fetch(args) => fetch::main(&input, &args),
        Command::SignHostKeys => sign_host_keys::main(&input),
    }
}

/// Runs the named scripts, or tries what they would change.
fn named(input: &Input, mut args: RunArgs, output: OutputMode) -> ExitCode {
    args.take_dry_run();
    let config = (input.config().1 != Origin::Default).then(|| &input.config().0);
    let inner = DryRunArgs::inner(config, &args);
    let RunArgs { trace_lines, dry_run: options, scripts } = args;
    let steps = match steps(scripts.list, scripts.script) {
        Ok(steps) => steps,
        Err(failure) => return refuse(&failure),
    };
    if options.is_wanted {
        return dry_run::main(input, &options.options(), &steps, inner);
    }
    if options.in_sandbox {
        let environment = dry_run::environment();
        let request = RunRequest::Named { steps, environment, trace_lines };
        let kinds = dry_run::kinds(options.rehearsal);
        return runner::main(input, kinds, &request, output, dry_run::observers(options.shown));
    }
    let request = RunRequest::Named { steps, environment: Vec::new(), trace_lines };
    runner::main(input, KINDS, &request, output, Vec::new())
}

fn refuse(failure: &Failure) -> ExitCode {
    complain(&format!("error: {failure}"));
    failure.exit_code()
}

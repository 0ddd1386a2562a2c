use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use provost_steplog::view::{Part, Reader, View};

use crate::address::Admin;
use crate::admin::Admins;
use crate::audit::Audit;
use crate::client::Client;
use crate::compat::Compat;
use crate::defaults::Defaults;
use crate::failure::{Failure, WRONG};
use crate::format::Format;
use crate::help::{self, Help};
use crate::init::Init;
use crate::node_list::NodeList;
use crate::node_set::NodeName;
use crate::on_nodes::OnNodes;
use crate::{
    backup, channel, enrolment, expiry, gather, import, journal, key, log, nodes, output, pending,
    plan, prune, publish, release, remove, rerun, show, snippet, store, sync, token, wait_for,
    watch, why, workstation,
};

/// Publish what nodes run, and show what they report
#[derive(Parser)]
#[command(name = "provostctl", version = provost_api::VERSION, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    admin: Admin,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Set up this management node
    ///
    /// Keys, configuration, an example of a site, and a provostd that serves it.
    Init(Box<Init>),
    /// Manage the keys that sign what is published
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Check, sign and publish scripts and site.toml
    Publish(Box<publish::Publish>),
    /// Manage channels: nodes that get a publication before all others
    #[command(subcommand)]
    Channel(channel::Channel),
    /// Publish to all nodes what a channel's nodes have
    Promote {
        /// The channel
        channel: channel::Name,
        #[command(flatten)]
        again: publish::Again,
    },
    /// Publish an earlier generation again, to all nodes
    ///
    /// It gets a new number, because nodes never go back to a lower one.
    Rollback {
        /// The generation; the one before the newest by default
        generation: Option<u64>,
        #[command(flatten)]
        again: publish::Again,
    },
    /// List publications: changes, publisher, and nodes that ran them
    History(publish::History),
    /// Show what a node will run, and where in site.toml it comes from
    Plan(plan::Plan),
    /// Run a script without effect, and show what it would change
    ///
    /// It needs no management node. With --here it changes this machine, or the system in --root.
    Try(workstation::Try),
    /// Write a site.toml from another system's tables
    #[command(subcommand)]
    Import(import::Import),
    /// Create bearer tokens, for nodes that report without TLS
    ///
    /// Each replaces the node's old one. Prints a line "NODE TOKEN" each.
    Token(token::Tokens),
    /// Create join tokens, with which nodes get their identities
    ///
    /// A token is valid once; the identity replaces an earlier one. Prints a line "NODE TOKEN" each.
    Join(enrolment::Join),
    /// Give identities to nodes while they are installed
    #[command(subcommand)]
    Enroll(enrolment::Enroll),
    /// Approve a pending key: it becomes its node's identity
    Approve(enrolment::NodeKey),
    /// Reject a pending key
    Reject(enrolment::NodeKey),
    /// Revoke identities and tokens of nodes
    Revoke {
        #[command(flatten)]
        nodes: NodeList,
    },
    /// Show failures by cause and the other nodes by status, or list nodes
    Nodes(nodes::Nodes),
    /// Show what a node ran last, and why it failed
    Show {
        /// The node
        node: NodeName,
        /// Number of newest runs to show with their steps, at most 200
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=200))]
        runs: u16,
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show what nodes that failed have in common
    ///
    /// It names what the failed nodes have and the others lack; for one node, what has changed since its last success.
    Why(why::Why),
    /// Show a script's log: each command, its output and exit status
    ///
    /// The log is that of the newest run that uploaded one: runs that failed, and all of diskless nodes. Other logs
    /// are read by ssh.
    Log {
        /// The node
        node: NodeName,
        /// The script
        script: String,
        #[command(flatten)]
        view: LogView,
    },
    /// Show a node's systemd journal of a unit, by ssh
    ///
    /// Without a unit, that of provost's own.
    Journal(journal::Journal),
    /// List keys that wait for approval, and nodes without credentials
    ///
    /// These are nodes that have tried to report without an identity or a token since provostd was started.
    Pending {
        /// A row for each, also where many came from one address
        #[arg(long)]
        long: bool,
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// List what expires when, and how to renew it
    ///
    /// Publications, identities, join tokens, admins' tokens, certificates.
    Expiry {
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Manage admins who use provostd over TLS
    ///
    /// Each has a role and a token.
    #[command(subcommand)]
    Admin(Admins),
    /// List changes made over the admin API: who, from where, what, when
    Audit(Audit),
    /// Check that the versions in use work together
    ///
    /// Versions of provostctl, provostd, the published files and the nodes' programs.
    Compat(Compat),
    /// Release nodes that the guard holds: they run at their next start
    Release {
        #[command(flatten)]
        nodes: NodeList,
    },
    /// Delete nodes from provostd: status, runs, logs, identity, token
    ///
    /// Asks first; without a terminal it needs --yes. A removed node that still reports needs a new identity or
    /// token; a node of the published site stays listed as `defined`.
    Remove(remove::Remove),
    /// Delete history older than [retention] now
    ///
    /// provostd does it every ten minutes, as [retention] in provostd.toml says.
    Prune {
        /// Show what would be deleted, and delete nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Copy what provostd knows to another store
    #[command(subcommand)]
    Store(store::Store),
    /// Back up this management node to one file
    ///
    /// It has the store, provostd's keys and what is published, but not the key that signs. provostd may run
    /// meanwhile.
    Backup(backup::Backup),
    /// Restore this management node from a backup
    ///
    /// Into an empty folder and an empty store, before provostd is started.
    Restore(backup::Restore),
    /// Collect the logs of nodes in bundles, by ssh
    ///
    /// Runs `provost gather` on each node. For a node that can't be reached, the bundle has what provostd knows.
    Gather(gather::Gather),
    /// Run a script again on nodes, by ssh
    ///
    /// It runs whether or not it has run before.
    Rerun(rerun::Rerun),
    /// Publish what has changed, then have nodes sync files, by ssh
    ///
    /// The files of their lists, with the postscript syncfiles, as updatenode -F of xCAT does.
    Sync(Box<sync::Sync>),
    /// Continue a failed boot or kickstart on nodes, by ssh
    ///
    /// Runs `provost boot --continue` or `provost kickstart --continue`: the script that failed, and those after it.
    Continue(OnNodes),
    /// Run all that a boot needs on nodes, by ssh
    ///
    /// Runs `provost boot`.
    Boot(OnNodes),
    /// Print the script that an installer runs at its end
    ///
    /// Such as the %post of a kickstart file.
    Snippet(snippet::Snippet),
    /// Show failures by cause and the other nodes by status, live
    Watch(watch::Watch),
    /// Wait until nodes have a status
    ///
    /// Also waits until provostd can be reached.
    WaitFor(wait_for::WaitFor),
    /// Show help on a command or a topic
    Help(Help),
}

#[derive(Args)]
struct LogView {
    /// Follow the log of a running script until the script ends: by the node's reports, or by ssh if it
    /// has run for less than a minute
    #[arg(long, short, conflicts_with_all = ["commands", "failed", "format"])]
    follow: bool,
    /// Configuration file for ssh, in place of yours
    #[arg(long, value_name = "FILE")]
    ssh_config: Option<PathBuf>,
    /// Show the output only, each line with its time and stream
    #[arg(long, conflicts_with_all = ["commands", "failed"])]
    output: bool,
    /// List the commands: start (UTC), duration, exit status, command
    #[arg(long)]
    commands: bool,
    /// Show only the commands that failed, each with the end of its output
    #[arg(long)]
    failed: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl LogView {
    fn view(&self) -> View {
        let part = Part::of_flags(self.output, self.commands);
        let json = self.format == Format::Json;
        View { part, failed: self.failed, json, reader: Reader::of_stdout() }
    }
}

/// The command line, for its manual.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs the command. Exit statuses: 0 done, 1 failed, 2 wrong usage, and those of `wait-for`.
pub fn main() -> ExitCode {
    let ended = match parse() {
        Ok(cli) => run(cli),
        Err(Refused::Said(code)) => return code,
        Err(Refused::By(failure)) => Err(failure),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::error(&failure);
            ExitCode::from(failure.code)
        }
    }
}

/// Why nothing is run.
enum Refused {
    /// Help was asked for, or what is wrong is printed already.
    Said(ExitCode),
    By(Failure),
}

/// Reads the command line; what it doesn't say, the environment and provostctl.toml may.
fn parse() -> Result<Cli, Refused> {
    let defaults = Defaults::load();
    let program = help::LAYOUT.apply(command());
    let mut program = match &defaults {
        Ok(defaults) => defaults.apply(program),
        // A request for help needs none.
        Err(_) => program,
    };
    let args: Vec<OsString> = std::env::args_os().collect();
    let parsed = program.try_get_matches_from_mut(&args).and_then(|matches| {
        let mut cli = Cli::from_arg_matches(&matches)?;
        if let (Command::Publish(publish), Some((_, matches))) =
            (&mut cli.command, matches.subcommand())
        {
            let source = matches.value_source("valid_for");
            publish.is_validity_named = source == Some(ValueSource::CommandLine);
        }
        Ok(cli)
    });
    let error = match parsed {
        Ok(cli @ Cli { command: Command::Help(_), .. }) => return Ok(cli),
        Ok(cli) => return defaults.map(|_| cli).map_err(Refused::By),
        Err(error) => error,
    };
    if error.kind() == ErrorKind::MissingRequiredArgument
        && let Some(failure) = defaults.map_err(Refused::By)?.missing(&error)
    {
        return Err(Refused::By(failure));
    }
    if !error.use_stderr() {
        let printed = output::written(provost_help::print(&error));
        return Err(printed.map_or_else(Refused::By, |()| Refused::Said(ExitCode::SUCCESS)));
    }
    provost_help::complain(&error, &program, &args);
    Err(Refused::Said(ExitCode::from(WRONG)))
}

fn run(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Command::Init(init) => return init.run(&cli.admin),
        Command::Key(key) => return key.run(&cli.admin),
        Command::Publish(publish) => return publish.run(&cli.admin),
        Command::Channel(channel) => return channel.run(),
        Command::Promote { channel, again } => return again.promote(&cli.admin, &channel.0),
        Command::Rollback { generation, again } => return again.rollback(&cli.admin, generation),
        Command::Plan(plan) => return plan.run(),
        Command::Try(attempt) => return attempt.run(),
        Command::Import(import) => return import.run(),
        Command::Help(help) => return help.run(&help::LAYOUT.apply(command())),
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::of(&e, "check the limits of this process (ulimit -n)"))?;
    match cli.command {
        Command::Store(store) => return runtime.block_on(store.run()),
        Command::Backup(backup) => return runtime.block_on(backup.run()),
        Command::Restore(restore) => return runtime.block_on(restore.run()),
        _ => {}
    }
    let client = Client::new(&cli.admin)?;
    if let Command::Sync(sync) = cli.command {
        return sync.run(&cli.admin, &client, &runtime);
    }
    runtime.block_on(ask(cli.command, &cli.admin, &client))
}

/// What only provostd can answer.
async fn ask(command: Command, admin: &Admin, client: &Client) -> Result<(), Failure> {
    match command {
        Command::Init(_)
        | Command::Key(_)
        | Command::Publish(_)
        | Command::Channel(_)
        | Command::Promote { .. }
        | Command::Rollback { .. }
        | Command::Plan(_)
        | Command::Try(_)
        | Command::Import(_)
        | Command::Sync(_)
        | Command::Help(_)
        | Command::Store(_)
        | Command::Backup(_)
        | Command::Restore(_) => Ok(()),
        Command::History(history) => history.run(admin).await,
        Command::Rerun(rerun) => rerun.run(client).await,
        Command::Gather(gather) => gather.run(client).await,
        Command::Continue(on) => on.run_unfinished(client).await,
        Command::Boot(on) => on.run_boot(client).await,
        Command::Token(tokens) => tokens.run(client).await,
        Command::Join(join) => join.run(client).await,
        Command::Enroll(enroll) => enroll.run(client).await,
        Command::Approve(key) => key.approve(client).await,
        Command::Reject(key) => key.reject(client).await,
        Command::Revoke { nodes } => enrolment::revoke(client, &nodes.resolve(client).await?).await,
        Command::Nodes(nodes) => nodes.run(client).await,
        Command::Show { node, runs, format } => {
            show::show(client, &node, runs.into(), format).await
        }
        Command::Why(why) => why.run(client).await,
        Command::Log { node, script, view } if view.follow => {
            log::follow(client, view.ssh_config.as_deref(), &node, &script, view.view()).await
        }
        Command::Log { node, script, view } => {
            let ssh_config = view.ssh_config.as_deref();
            log::log(client, ssh_config, &node, &script, view.view()).await
        }
        Command::Journal(journal) => journal.run(client).await,
        Command::Expiry { format } => expiry::expiry(client, format).await,
        Command::Pending { long, format } => pending::pending(client, long, format).await,
        Command::Admin(admins) => admins.run(client).await,
        Command::Audit(audit) => audit.run(client).await,
        Command::Compat(compat) => compat.run(client).await,
        Command::Release { nodes } => release::release(client, &nodes.resolve(client).await?).await,
        Command::Remove(remove) => remove.run(client).await,
        Command::Prune { dry_run } => prune::prune(client, dry_run).await,
        Command::Snippet(snippet) => snippet.run(client).await,
        Command::Watch(watch) => watch.run(client).await,
        Command::WaitFor(wait) => wait.run(client).await,
    }
}

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use provost_steplog::view::{Part, Reader, View};

use crate::address::Admin;
use crate::admin::Admins;
use crate::audit::Audit;
use crate::client::Client;
use crate::compat::Compat;
use crate::defaults::Defaults;
use crate::failure::Failure;
use crate::format::Format;
use crate::init::Init;
use crate::node_list::NodeList;
use crate::node_set::NodeName;
use crate::on_nodes::OnNodes;
use crate::{
    backup, channel, enrolment, expiry, gather, import, journal, key, log, nodes, output, pending,
    plan, prune, publish, release, remove, rerun, show, snippet, store, sync, token, wait_for, watch,
    why, workstation,
};

/// Create keys, publish what nodes run, and show what they report
#[derive(Parser)]
#[command(name = "provostctl", version = provost_api::VERSION)]
struct Cli {
    #[command(flatten)]
    admin: Admin,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Set up this management node: keys, configuration, an example of a site, and a provostd that serves it
    Init(Box<Init>),
    /// Create keys that sign what is published, and replace one by another
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Check scripts and site.toml, sign them, and publish them for the nodes
    Publish(Box<publish::Publish>),
    /// Name the nodes that get what is published before all others
    #[command(subcommand)]
    Channel(channel::Channel),
    /// Publish to all nodes what a channel's nodes have
    Promote {
        /// The channel
        channel: channel::Name,
        #[command(flatten)]
        again: publish::Again,
    },
    /// Publish again, as a newer generation and for all nodes, what was published before
    Rollback {
        /// Which bundle; without it, the one before the newest publication
        generation: Option<u64>,
        #[command(flatten)]
        again: publish::Again,
    },
    /// Show what was published, by whom, and on which nodes it has run
    History(publish::History),
    /// Show what a node will run, in order and with which environment, and the section of site.toml
    /// that each comes from
    Plan(plan::Plan),
    /// Run one script on this machine as a node would, in a temporary folder, without a management
    /// node. Exit statuses: those of `provost run`
    Try(workstation::Try),
    /// Write a site.toml from another system's tables
    #[command(subcommand)]
    Import(import::Import),
    /// Create new tokens that replace the nodes' old ones; prints a line "NODE TOKEN" each
    Token(token::Tokens),
    /// Create join tokens: with its own a node gets an identity once, in place of an earlier one;
    /// prints a line "NODE TOKEN" each
    Join(enrolment::Join),
    /// Give identities to nodes while they are provisioned
    #[command(subcommand)]
    Enroll(enrolment::Enroll),
    /// Make a pending key a node's identity, in place of an earlier one
    Approve(enrolment::NodeKey),
    /// Reject a pending key
    Reject(enrolment::NodeKey),
    /// Revoke identities and tokens of nodes, at once and for good
    Revoke {
        #[command(flatten)]
        nodes: NodeList,
    },
    /// Show failures grouped by cause and the other nodes by status, or list nodes
    Nodes(nodes::Nodes),
    /// Show what a node ran last, and why it failed
    Show {
        /// The node
        node: NodeName,
        /// How many of its newest runs to show with their steps, 200 at most
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=200))]
        runs: u16,
        /// How to print it
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show what nodes that failed have in common and the others don't, and what has changed on a node
    Why(why::Why),
    /// Show a script's log, from the newest run that has uploaded one, as those do that failed and those of diskless
    /// nodes, else by ssh: each command, what it printed and how it ended
    Log {
        /// The node
        node: NodeName,
        /// The script
        script: String,
        #[command(flatten)]
        view: LogView,
    },
    /// Show by ssh what a node's journal has of a unit, or of provost's own
    Journal(journal::Journal),
    /// Show the keys that wait for `approve`, and the nodes that try to report without an identity or
    /// a token since provostd was started
    Pending {
        /// A row for each, also where many came from one address
        #[arg(long)]
        long: bool,
        /// How to print it
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show what expires when: what is published, identities, join tokens, admins' tokens, certificates
    Expiry {
        /// How to print it
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Name the admins who may use provostd over TLS, each with a role and a token
    #[command(subcommand)]
    Admin(Admins),
    /// Show what was changed over the admin API: who, from where, what, when
    Audit(Audit),
    /// Show the versions of provostctl, provostd, the published files and the nodes' programs. Exit
    /// statuses: 0 they work together, 1 a node's program isn't supported
    Compat(Compat),
    /// Release nodes that the guard holds, so that they run at their next start
    Release {
        #[command(flatten)]
        nodes: NodeList,
    },
    /// Remove nodes from what provostd knows: status, runs, logs, identity and token. A node that still
    /// reports needs a new one, and a node of the published site stays listed as `defined`. Asks first;
    /// without a terminal it needs --yes. Exit statuses: 0 done, 1 failed, or the answer was no, 2 wrong
    /// usage, or --yes is missing
    Remove(remove::Remove),
    /// Remove now what of the history is kept no longer, as [retention] in provostd.toml says; provostd
    /// does it every ten minutes
    Prune {
        /// Only show how much it is
        #[arg(long)]
        dry_run: bool,
    },
    /// Move what provostd knows to another store
    #[command(subcommand)]
    Store(store::Store),
    /// Write all of this management node to one file, while provostd runs: what it knows, its keys, and
    /// what is published; not the key that signs
    Backup(backup::Backup),
    /// Restore this management node from a backup: into an empty folder and an empty store, before
    /// provostd is started
    Restore(backup::Restore),
    /// Collect the log bundles of `provost gather` from nodes by ssh; for a node that can't be
    /// reached, a bundle of what provostd has. Exit statuses: 0 all nodes sent theirs, 1 one didn't
    Gather(gather::Gather),
    /// Run a script on nodes by ssh, whether or not it has run before. Exit statuses: 0 all is well,
    /// 1 a node failed or couldn't be reached, 2 there is no such script, 124 some took too long
    Rerun(rerun::Rerun),
    /// Publish what has changed, then have nodes install the files of their lists by ssh, with the
    /// postscript syncfiles: xCAT's updatenode -F. Exit statuses: 0 all is well, 1 nothing was published, or
    /// a node failed or couldn't be reached, 2 wrong usage, or no syncfiles to publish, 124 some took too long
    Sync(Box<sync::Sync>),
    /// Run on nodes by ssh what their last boot or kickstart left unfinished, from the script on that
    /// failed (`provost boot --continue`, `kickstart --continue`). Exit statuses: 0 all is well, 1 a node failed or couldn't be
    /// reached, 124 some took too long
    Continue(OnNodes),
    /// Run on nodes by ssh all that a boot needs (`provost boot`). Exit statuses: 0 all is well, 1 a
    /// node failed or couldn't be reached, 124 some took too long
    Boot(OnNodes),
    /// Print the script that an installer runs at its end, such as a kickstart's %post
    Snippet(snippet::Snippet),
    /// Show failures grouped by cause and the other nodes by status, live, until you end it
    Watch(watch::Watch),
    /// Wait until all nodes have a status; also waits for provostd itself. Exit statuses: 0 all have
    /// it, 1 one failed, 2 wrong usage, 124 time is up
    WaitFor(wait_for::WaitFor),
}

#[derive(Args)]
struct LogView {
    /// Show what a running script's log grows by, until the script ends: by the node's reports, or by
    /// ssh if it has run for less than a minute
    #[arg(long, short, conflicts_with_all = ["commands", "failed", "format"])]
    follow: bool,
    /// A configuration file for ssh in place of yours
    #[arg(long, value_name = "FILE")]
    ssh_config: Option<PathBuf>,
    /// What was printed alone, each line with its time and stream
    #[arg(long, conflicts_with_all = ["commands", "failed"])]
    output: bool,
    /// A table of the commands: start (UTC), duration, exit status, command
    #[arg(long)]
    commands: bool,
    /// Only the commands that failed, each with the end of what was printed
    #[arg(long)]
    failed: bool,
    /// How to print it
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
    match parse().and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::error(&failure);
            ExitCode::from(failure.code)
        }
    }
}

/// Reads the command line; what it doesn't say, the environment and provostctl.toml may.
fn parse() -> Result<Cli, Failure> {
    let defaults = Defaults::load();
    let command = match &defaults {
        Ok(defaults) => defaults.apply(Cli::command()),
        // A request for help needs none.
        Err(_) => Cli::command(),
    };
    let parsed = command.try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    match (parsed, defaults) {
        (Ok(cli), defaults) => defaults.map(|_| cli),
        (Err(error), defaults) if error.kind() == ErrorKind::MissingRequiredArgument => {
            Err(defaults?.missing(&error).unwrap_or_else(|| error.exit()))
        }
        (Err(error), _) => error.exit(),
    }
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
    runtime.block_on(async {
        match cli.command {
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
            | Command::Store(_)
            | Command::Backup(_)
            | Command::Restore(_) => Ok(()),
            Command::History(history) => history.run(&cli.admin).await,
            Command::Rerun(rerun) => rerun.run(&client).await,
            Command::Gather(gather) => gather.run(&client).await,
            Command::Continue(on) => on.run_unfinished(&client).await,
            Command::Boot(on) => on.run_boot(&client).await,
            Command::Token(tokens) => tokens.run(&client).await,
            Command::Join(join) => join.run(&client).await,
            Command::Enroll(enroll) => enroll.run(&client).await,
            Command::Approve(key) => key.approve(&client).await,
            Command::Reject(key) => key.reject(&client).await,
            Command::Revoke { nodes } => {
                enrolment::revoke(&client, &nodes.resolve(&client).await?).await
            }
            Command::Nodes(nodes) => nodes.run(&client).await,
            Command::Show { node, runs, format } => {
                show::show(&client, &node, runs.into(), format).await
            }
            Command::Why(why) => why.run(&client).await,
            Command::Log { node, script, view } if view.follow => {
                log::follow(&client, view.ssh_config.as_deref(), &node, &script, view.view()).await
            }
            Command::Log { node, script, view } => {
                let ssh_config = view.ssh_config.as_deref();
                log::log(&client, ssh_config, &node, &script, view.view()).await
            }
            Command::Journal(journal) => journal.run(&client).await,
            Command::Expiry { format } => expiry::expiry(&client, format).await,
            Command::Pending { long, format } => pending::pending(&client, long, format).await,
            Command::Admin(admins) => admins.run(&client).await,
            Command::Audit(audit) => audit.run(&client).await,
            Command::Compat(compat) => compat.run(&client).await,
            Command::Release { nodes } => {
                release::release(&client, &nodes.resolve(&client).await?).await
            }
            Command::Remove(remove) => remove.run(&client).await,
            Command::Prune { dry_run } => prune::prune(&client, dry_run).await,
            Command::Snippet(snippet) => snippet.run(&client).await,
            Command::Watch(watch) => watch.run(&client).await,
            Command::WaitFor(wait) => wait.run(&client).await,
        }
    })
}

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use provost_bundle::Limit;
use provost_record::step_log::view::{Part, Reader, View};

use crate::client::{Admin, Client};
use crate::failure::Failure;
use crate::format::Format;
use crate::node_set::{NodeName, NodeSet};
use crate::wait_for::Goal;
use crate::{
    gather, import, key, log, nodes, output, publish, release, rerun, show, snippet, token,
    wait_for,
};

/// Create keys, publish what nodes run, and show what they report
#[derive(Parser)]
#[command(name = "provostctl", version)]
struct Cli {
    /// The address of provostd's admin listener: unix:PATH or http://ADDRESS:PORT
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "PROVOSTCTL_ADMIN",
        default_value = "unix:/var/lib/provostd/admin.sock"
    )]
    admin: Admin,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Create keys that sign what is published
    #[command(subcommand)]
    Key(KeyCommand),
    /// Check scripts and site.toml, sign them, and publish them for the nodes
    Publish(publish::Publish),
    /// Write a site.toml from another system's tables
    #[command(subcommand)]
    Import(ImportCommand),
    /// Create new tokens that replace the nodes' old ones; prints a line "NODE TOKEN" each
    Token {
        /// Names and ranges, such as cn[001-512]
        nodes: NodeSet,
    },
    /// List nodes and their status
    Nodes {
        /// Names and ranges, such as cn[001-512]; without them, all nodes
        nodes: Option<NodeSet>,
        /// How to print it
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show what a node ran, and why it failed
    Show {
        /// The node
        node: NodeName,
        /// How to print it
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show the log of a script that failed, from the newest run that has one: each command, what
    /// it printed and how it ended
    Log {
        /// The node
        node: NodeName,
        /// The script
        script: String,
        #[command(flatten)]
        view: LogView,
    },
    /// Release nodes that the guard holds, so that they run at their next start
    Release {
        /// Names and ranges, such as cn[001-512]
        nodes: NodeSet,
    },
    /// Collect the log bundles of `provost gather` from nodes by ssh; for a node that can't be
    /// reached, a bundle of what provostd has. Exit statuses: 0 all nodes sent theirs, 1 one didn't
    Gather(gather::Gather),
    /// Run a script on nodes by ssh, whether or not it has run before. Exit statuses: 0 all is well,
    /// 1 a node failed or couldn't be reached, 124 some took too long
    Rerun(rerun::Rerun),
    /// Print the script that an installer runs at its end, such as a kickstart's %post
    Snippet(snippet::Snippet),
    /// Wait until all nodes have a status; also waits for provostd itself. Exit statuses: 0 all have
    /// it, 1 one failed, 2 wrong usage, 124 time is up
    WaitFor {
        /// Names and ranges, such as cn[001-512]
        nodes: NodeSet,
        /// A status or an updatestatus, preferably one that lasts, such as booted or synced
        #[arg(long)]
        status: Goal,
        /// How long to wait, such as 90s or 1h 30m
        #[arg(long, default_value = "20m")]
        timeout: Limit,
    },
}

#[derive(Args)]
struct LogView {
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

#[derive(Subcommand)]
enum KeyCommand {
    /// Create a key pair, provost.key and provost.pub; prints the public key's line
    New {
        /// The folder for both
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

#[derive(Subcommand)]
enum ImportCommand {
    /// From the output of an xCAT management node; lists what can't be carried over
    Xcat(import::Xcat),
}

/// The command line, for its manual.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs the command. Exit statuses: 0 done, 1 failed, 2 wrong usage, and those of `wait-for`.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::error(&failure);
            ExitCode::from(failure.code)
        }
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Command::Key(KeyCommand::New { out }) => return key::new(&out),
        Command::Publish(publish) => return publish.run(),
        Command::Import(ImportCommand::Xcat(xcat)) => return xcat.run(),
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::of(&e, "check the limits of this process (ulimit -n)"))?;
    if let Command::Rerun(rerun) = cli.command {
        return runtime.block_on(rerun.run());
    }
    let client = Client::new(&cli.admin)?;
    if let Command::Gather(gather) = cli.command {
        return runtime.block_on(gather.run(&client));
    }
    runtime.block_on(async {
        match cli.command {
            Command::Key(_)
            | Command::Publish(_)
            | Command::Import(_)
            | Command::Rerun(_)
            | Command::Gather(_) => Ok(()),
            Command::Token { nodes } => token::token(&client, &nodes).await,
            Command::Nodes { nodes, format } => nodes::nodes(&client, nodes.as_ref(), format).await,
            Command::Show { node, format } => show::show(&client, &node, format).await,
            Command::Log { node, script, view } => {
                log::log(&client, &node, &script, view.view()).await
            }
            Command::Release { nodes } => release::release(&client, &nodes).await,
            Command::Snippet(snippet) => snippet.run(&client).await,
            Command::WaitFor { nodes, status, timeout } => {
                wait_for::wait_for(&client, &nodes, status, timeout).await
            }
        }
    })
}

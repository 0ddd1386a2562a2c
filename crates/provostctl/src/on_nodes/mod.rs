//! A command of `provost` on many nodes by ssh: a few at once, with a live line on a terminal, and
//! the results grouped by what the nodes say.

mod boots;
pub(crate) mod dry_run;
mod kickstarts;
mod printed;
mod progress;
mod report;
mod row;
mod summary;

use provost_steplog::Paint;
use serde_json::Value;

use crate::client::Client;
use crate::failure::Failure;
use crate::format::Format;
use crate::known_hosts::KnownHosts;
use crate::node_list::NodeList;
use crate::node_set::NodeSet;
use crate::output;
use crate::ssh::{Remote, RemoteResult, Ssh};
use progress::Progress;
use report::Reports;
use row::Row;

/// The nodes, and how they are reached.
#[derive(clap::Args)]
pub(crate) struct OnNodes {
    #[command(flatten)]
    ssh: Ssh,
    /// Format of the summary
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    nodes: NodeList,
}

impl OnNodes {
    /// Where the nodes are in a file, the word that stands at the place of NODES: it is another one.
    pub(crate) fn take_word(&mut self) -> Option<String> {
        self.nodes.take_word()
    }

    /// For whom the summary is.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Has the summary printed for programs.
    pub(crate) fn print_json(&mut self) {
        self.format = Format::Json;
    }

    /// The nodes that are named.
    pub(crate) async fn nodes(&self, client: &Client) -> Result<NodeSet, Failure> {
        self.nodes.resolve(client).await
    }

    /// Runs `command` on each node and prints how it went, and what its scripts have printed if
    /// `output_of` names them.
    pub(crate) async fn run(
        self,
        client: &Client,
        command: &[&str],
        output_of: &[String],
    ) -> Result<(), Failure> {
        let nodes = self.nodes(client).await?;
        summary::verdict(&self.on(client, &nodes, |_| command.to_vec(), output_of).await?)
    }

    /// Runs on each of `nodes` its dry run, and prints what they have found.
    pub(crate) async fn dry_run<'r>(
        &self,
        client: &Client,
        nodes: &NodeSet,
        remote: impl Fn(&str) -> Remote<'r>,
    ) -> Result<(), Failure> {
        dry_run::on_each(&self.ssh, self.format, client, nodes, remote).await
    }

    /// Runs on each of `nodes` its `command` and prints how it went.
    pub(crate) async fn run_each<'c>(
        self,
        client: &Client,
        nodes: &NodeSet,
        command: impl Fn(&str) -> Vec<&'c str>,
    ) -> Result<(), Failure> {
        summary::verdict(&self.on(client, nodes, command, &[]).await?)
    }

    /// Runs on each node all that a boot needs, and prints how it went.
    pub(crate) async fn run_boot(self, client: &Client) -> Result<(), Failure> {
        let nodes = self.nodes(client).await?;
        self.boot(client, &nodes, |_| vec!["provost", "boot"]).await
    }

    /// Runs on each node what its last kickstart or boot left unfinished, and prints how it went.
    pub(crate) async fn run_unfinished(self, client: &Client) -> Result<(), Failure> {
        let nodes = self.nodes(client).await?;
        let kickstarts = kickstarts::among(client, &nodes).await;
        let command = |node: &str| match kickstarts.contains(node) {
            true => vec!["provost", "kickstart", "--continue"],
            false => vec!["provost", "boot", "--continue"],
        };
        self.boot(client, &nodes, command).await
    }

    async fn boot<'c>(
        self,
        client: &Client,
        nodes: &NodeSet,
        command: impl Fn(&str) -> Vec<&'c str>,
    ) -> Result<(), Failure> {
        boots::are_sent(client, nodes).await;
        let rows = self.on(client, nodes, command, &[]).await?;
        boots::are_done(client, &rows).await;
        summary::verdict(&rows)
    }

    async fn on<'c>(
        self,
        client: &Client,
        nodes: &NodeSet,
        command: impl Fn(&str) -> Vec<&'c str>,
        output_of: &[String],
    ) -> Result<Vec<Row>, Failure> {
        let report = match output_of {
            [] => report::ON_THE_NODE.to_owned(),
            scripts => printed::on_the_node(scripts),
        };
        let known_hosts = KnownHosts::of(client).await;
        let reports = Reports::default();
        let progress = Progress::new(nodes.names.len());
        let ended = |node: &str, result: RemoteResult| {
            progress.add(Row::of_report(node, &result, &reports.take(node)));
        };
        let remote =
            |node: &str| Remote { command: command(node), report: Some(&report), files: None };
        tokio::select! {
            () = self.ssh.on_each(nodes, &known_hosts, remote, |node| reports.open(node), ended) => {}
            () = progress.tick() => {}
        }
        let rows = progress.finish();
        match self.format {
            Format::Json => {
                let rows: Vec<Value> = rows.iter().map(Row::json).collect();
                output::print(format!("{}\n", Value::Array(rows)).as_bytes())?;
            }
            Format::Text => {
                let text = summary::text(&rows, Paint::of_stdout())
                    + &printed::text(rows.iter().map(|row| (&*row.node, &*row.printed)));
                output::print(text.as_bytes())?;
            }
        }
        Ok(rows)
    }
}

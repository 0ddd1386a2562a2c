//! `provostctl nodes`: an overview for people, rows or a folded set for programs.

mod overview;
mod rows;
mod select;

use std::collections::HashSet;
use std::io::IsTerminal;

use clap::ValueEnum;
use jiff::Timestamp;
use provost_plan::nodes::fold;
use provost_steplog::Paint;
use provost_steplog::terminal::escape_json;
use provost_store::Node;
use serde_json::value::RawValue;

use crate::client::Client;
use crate::failure::Failure;
use crate::format::Format;
use crate::node_list::AnyNodes;
use crate::{expiry, output, pending};

pub(crate) use overview::Overview;
use rows::Sort;
use select::Selection;

/// `provostctl nodes`.
#[derive(clap::Args)]
pub(crate) struct Nodes {
    #[command(flatten)]
    nodes: AnyNodes,
    #[command(flatten)]
    selection: Selection,
    /// Group failures by cause: the default on a terminal, without NODES
    #[arg(long, conflicts_with_all = ["long", "output"])]
    group: bool,
    /// List a row for each node: the default in a pipe, or with NODES
    #[arg(long)]
    long: bool,
    /// Order of the rows
    #[arg(long, value_enum, default_value_t)]
    sort: Sort,
    /// Print the names only, as one folded set for other tools: -o NODES
    #[arg(
        short,
        long,
        value_enum,
        ignore_case = true,
        value_name = "WHAT",
        conflicts_with = "format"
    )]
    output: Option<Output>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What is printed alone.
#[derive(Clone, Copy, ValueEnum)]
enum Output {
    #[value(name = "NODES")]
    Nodes,
}

impl Nodes {
    pub(crate) async fn run(self, client: &Client) -> Result<(), Failure> {
        let named = self.nodes.resolve(client).await?;
        let now = Timestamp::now();
        let names: Option<HashSet<&str>> =
            named.as_ref().map(|set| set.names.iter().map(String::as_str).collect());
        let selection = self.selection.at(now);
        let is_shown = |node: &Node| {
            names.as_ref().is_none_or(|names| names.contains(node.name.as_str()))
                && selection.has(node)
        };
        if self.format == Format::Json && !self.group {
            let mut all: Vec<Box<RawValue>> = client.nodes(named.as_ref()).await?;
            let node = |json: &RawValue| serde_json::from_str::<Node>(json.get());
            all.retain(|json| node(json).is_ok_and(|node| is_shown(&node)));
            let all =
                serde_json::to_string(&all).map_err(|e| Failure::of(&e, "report this as a bug"))?;
            return output::print(format!("{}\n", escape_json(&all)).as_bytes());
        }
        let mut all: Vec<Node> = client.nodes(named.as_ref()).await?;
        let listed: HashSet<String> = all.iter().map(|node| node.name.clone()).collect();
        all.retain(is_shown);
        if self.output.is_some() {
            // Anybody can send a name: one that isn't published is in no set.
            let known = all.into_iter().filter(|node| !node.only_asks());
            let names: Vec<String> = known.map(|node| node.name).collect();
            return output::print(format!("{}\n", fold(&names)).as_bytes());
        }
        let is_for_people = !self.nodes.are_named() && std::io::stdout().is_terminal();
        let text = match self.group || is_for_people && !self.long {
            true if self.format == Format::Json => Overview::explained(&all, client).await.json(),
            true => Overview::explained(&all, client).await.text(
                now,
                output::width(),
                Paint::of_stdout(),
            ),
            false => {
                self.sort.sort(&mut all);
                let overview = Overview::explained(&all, client).await;
                rows::table(&all, &overview.reasons(), now, output::width(), Paint::of_stdout())
            }
        };
        output::print(text.as_bytes())?;
        if listed.is_empty() {
            output::note(match self.nodes.are_named() {
                true => "  hint: list all nodes: provostctl nodes",
                false => "  hint: let nodes join: provostctl join NODES",
            });
        }
        if !self.nodes.are_named() {
            pending::note(client, &listed).await;
            expiry::note(client).await;
        }
        Ok(())
    }
}

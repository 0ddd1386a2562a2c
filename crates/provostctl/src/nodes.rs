use std::collections::HashSet;

use jiff::Timestamp;
use provost_store::{Node, Status, UpdateStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::cli::Format;
use crate::client::Client;
use crate::failure::Failure;
use crate::node_set::NodeSet;
use crate::output::{self, Paint};
use crate::table::Table;
use crate::text;

/// The column of the status, for its colour.
const STATUS: usize = 1;

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// `provostctl nodes`.
pub(crate) async fn nodes(
    client: &Client,
    filter: Option<&NodeSet>,
    format: Format,
) -> Result<(), Failure> {
    let wanted = filter.map(|f| f.names.iter().map(String::as_str).collect::<HashSet<_>>());
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|wanted| wanted.contains(name));
    if format == Format::Json {
        let mut all: Vec<Box<RawValue>> = client.nodes(filter).await?;
        let name = |node: &RawValue| serde_json::from_str::<Named>(node.get());
        all.retain(|node| name(node).is_ok_and(|named| is_wanted(&named.name)));
        let all = serde_json::to_string(&all)
            .map_err(|e| Failure::new(e.to_string(), "report this as a bug"))?;
        return output::print(format!("{}\n", text::json(&all)).as_bytes());
    }
    let mut all: Vec<Node> = client.nodes(filter).await?;
    all.retain(|node| is_wanted(&node.name));
    output::print(table(&all, Timestamp::now(), output::width(), Paint::of_stdout()).as_bytes())?;
    if all.is_empty() {
        output::say("  hint: a node is known once it has a token: provostctl token NODES");
    }
    Ok(())
}

fn table(nodes: &[Node], now: Timestamp, width: usize, paint: Paint) -> String {
    let mut text = String::new();
    if !nodes.is_empty() {
        let head = ["NODE", "STATUS", "SINCE", "RERUN", "STAGE", "CAUSE", "WHAT"];
        let mut table = Table::new(head);
        for node in nodes {
            table.add(row(node, now));
        }
        text = table.render(width, |row, column, cell| match row.checked_sub(1) {
            None => paint.strong(cell),
            Some(at) if column == STATUS => colour(nodes[at].status, cell, paint),
            Some(_) => cell.to_owned(),
        });
    }
    text.push_str(&format!("{}\n", summary(nodes)));
    let failed = |node: &&Node| {
        node.status == Status::Failed || node.updatestatus == Some(UpdateStatus::Failed)
    };
    if let Some(node) = nodes.iter().find(failed) {
        text.push_str(&format!("why: provostctl show {}\n", node.name));
    }
    text
}

fn row(node: &Node, now: Timestamp) -> [String; 7] {
    let ending =
        text::ending(node.detail.cause, node.detail.exit_code, node.detail.signal.as_deref());
    [
        node.name.clone(),
        node.status.as_str().into(),
        node.since.map(|at| text::ago(at, now)).unwrap_or_default(),
        node.updatestatus.map(|status| status.as_str().to_owned()).unwrap_or_default(),
        node.detail.stage.clone().unwrap_or_default(),
        ending,
        what(node),
    ]
}

/// Where it failed and what it said last.
fn what(node: &Node) -> String {
    let place = node.detail.error_line.as_deref().and_then(|line| line.split(' ').next());
    let said = node.detail.error_message.as_deref().and_then(|message| message.lines().last());
    match (place, said) {
        (Some(place), Some(said)) => format!("line {place}: {said}"),
        (Some(place), None) => format!("line {place}"),
        (None, said) => said.unwrap_or_default().to_owned(),
    }
}

fn colour(status: Status, cell: &str, paint: Paint) -> String {
    match status {
        Status::Failed => paint.bad(cell),
        Status::Booted => paint.good(cell),
        Status::Defined => paint.faint(cell),
        _ => paint.busy(cell),
    }
}

/// `3 nodes: 2 booted, 1 failed`.
pub(crate) fn summary(nodes: &[Node]) -> String {
    let count = |status: Status| nodes.iter().filter(|node| node.status == status).count();
    let counts = Status::ALL.map(|status| (count(status), status.as_str()));
    let counts: Vec<_> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    match nodes.len() {
        0 => "no nodes".into(),
        1 => format!("1 node: {}", counts.join(", ")),
        n => format!("{n} nodes: {}", counts.join(", ")),
    }
}

use std::collections::HashSet;

use jiff::Timestamp;
use provost_record::terminal::escape_json;
use provost_record::{Paint, wording};
use provost_store::{Detail, Node, Status, UpdateStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::Client;
use crate::failure::Failure;
use crate::format::Format;
use crate::node_set::NodeSet;
use crate::output;
use crate::table::{Table, Tone};
use crate::text;

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
    let names = filter.map(|f| f.names.iter().map(String::as_str).collect::<HashSet<_>>());
    let is_selected = |name: &str| names.as_ref().is_none_or(|names| names.contains(name));
    if format == Format::Json {
        let mut all: Vec<Box<RawValue>> = client.nodes(filter).await?;
        let parse = |node: &RawValue| serde_json::from_str::<Named>(node.get());
        all.retain(|node| parse(node).is_ok_and(|named| is_selected(&named.name)));
        let all =
            serde_json::to_string(&all).map_err(|e| Failure::of(&e, "report this as a bug"))?;
        return output::print(format!("{}\n", escape_json(&all)).as_bytes());
    }
    let mut all: Vec<Node> = client.nodes(filter).await?;
    all.retain(|node| is_selected(&node.name));
    output::print(table(&all, Timestamp::now(), output::width(), Paint::of_stdout()).as_bytes())?;
    if all.is_empty() {
        output::note("  hint: give nodes their tokens: provostctl token NODES");
    }
    Ok(())
}

fn table(nodes: &[Node], now: Timestamp, width: Option<u16>, paint: Paint) -> String {
    let mut text = String::new();
    if !nodes.is_empty() {
        let head = ["NODE", "STATUS", "SINCE", "RERUN", "STAGE", "CAUSE", "WHAT"];
        let mut table = Table::new(head);
        for node in nodes {
            table.add(row(node, now), tone(node.status));
        }
        text = table.render(width, paint);
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
    [
        node.name.clone(),
        node.status.as_str().into(),
        node.since.map(|at| text::ago(at, now)).unwrap_or_default(),
        node.updatestatus.map(|status| status.as_str().to_owned()).unwrap_or_default(),
        node.detail.stage.clone().unwrap_or_default(),
        ending(&node.detail).unwrap_or_default(),
        what(&node.detail),
    ]
}

/// How it failed, if it did.
pub(crate) fn ending(detail: &Detail) -> Option<String> {
    let Detail { cause, exit_code, signal, .. } = detail;
    let has_failed = cause.is_some() || exit_code.is_some() || signal.is_some();
    has_failed.then(|| wording::outcome(*cause, *exit_code, signal.as_deref()))
}

/// Where it failed, and its last line of output.
fn what(detail: &Detail) -> String {
    let place = detail.error_line.as_deref().and_then(|line| line.split(' ').next());
    let last = detail.error_message.as_deref().and_then(|message| message.lines().last());
    match (place, last) {
        (Some(place), Some(last)) => format!("line {place}: {last}"),
        (Some(place), None) => format!("line {place}"),
        (None, last) => last.unwrap_or_default().to_owned(),
    }
}

fn tone(status: Status) -> Tone {
    match status {
        Status::Failed => Tone::Bad,
        Status::Booted => Tone::Good,
        Status::Defined => Tone::Faint,
        _ => Tone::Busy,
    }
}

/// `3 nodes: 2 booted, 1 failed`.
fn summary(nodes: &[Node]) -> String {
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

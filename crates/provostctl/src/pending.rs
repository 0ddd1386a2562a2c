use std::collections::{BTreeSet, HashSet};

use jiff::Timestamp;
use provost_api::AuthFailure;
use provost_api::admins::{PENDING, PendingNode};
use provost_plan::nodes::fold;
use provost_steplog::terminal::{escape_cell, escape_json};
use provost_steplog::{Paint, wording};
use provost_store::{Network, words};
use serde_json::value::RawValue;

use crate::client::Client;
use crate::enrolment;
use crate::failure::Failure;
use crate::format::Format;
use crate::output;
use crate::table::{Table, Tone};

/// How many rows of one address are shown, unless all are wanted. More are a flood, or a proxy.
const OF_ADDRESS: usize = 8;
/// How many columns their names may take.
const NAMES: usize = 40;

/// `provostctl pending`.
pub(crate) async fn pending(client: &Client, long: bool, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        let all: Box<RawValue> = client.get(PENDING).await?;
        return output::print(format!("{}\n", escape_json(all.get())).as_bytes());
    }
    let all: Vec<PendingNode> = client.get(PENDING).await?;
    if all.is_empty() {
        output::print(b"no key waits for approval, and no node lacks a valid identity or token\n")?;
        enrolment::note_windows(client).await;
        return Ok(());
    }
    let has_keys = all.iter().any(|node| node.key.is_some());
    let now = Timestamp::now();
    let mut table = Table::new(["NODE", "WHY", "ADDRESS", "SINCE", "LAST", "TRIES", "KEY"]);
    let (mut rows, mut is_cut) = (by_client(all), false);
    if long {
        rows = rows.into_iter().flatten().map(|one| vec![one]).collect();
    }
    for of_client in rows {
        if of_client.len() > OF_ADDRESS {
            table.add(many(&of_client, now), Tone::Bad);
            is_cut = true;
        } else {
            of_client.iter().for_each(|one| table.add(row(one, now), Tone::Bad));
        }
    }
    output::print(table.render(output::width(), Paint::of_stdout()).as_bytes())?;
    output::note(match has_keys {
        true => {
            "  hint: compare the key with the node's console: provostctl approve NODE FINGERPRINT"
        }
        false => "  hint: let a node of yours join: provostctl join NODE",
    });
    if is_cut {
        output::note("  hint: list all of one address: provostctl pending --long");
    }
    enrolment::note_windows(client).await;
    Ok(())
}

/// Those of each client together, in the order of their first ones.
fn by_client(all: Vec<PendingNode>) -> Vec<Vec<PendingNode>> {
    let mut clients: Vec<(Network, Vec<PendingNode>)> = Vec::new();
    for one in all {
        let client = Network::of_client(one.address);
        match clients.iter_mut().find(|(of, _)| *of == client) {
            Some((_, rows)) => rows.push(one),
            None => clients.push((client, vec![one])),
        }
    }
    clients.into_iter().map(|(_, rows)| rows).collect()
}

fn row(one: &PendingNode, now: Timestamp) -> [String; 7] {
    [
        one.node.clone(),
        one.why.words().to_owned(),
        one.address.to_string(),
        words::ago(one.since, now),
        words::ago(one.last, now),
        one.attempts.map_or(String::new(), |tries| tries.to_string()),
        one.key.clone().unwrap_or_default(),
    ]
}

/// The row of many that came from one address.
fn many(rows: &[PendingNode], now: Timestamp) -> [String; 7] {
    let names: BTreeSet<&String> = rows.iter().map(|one| &one.node).collect();
    let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).cloned().collect();
    let folded = Some(fold(&names)).filter(|folded| folded.len() <= NAMES);
    let ago = |at: Option<Timestamp>| at.map_or(String::new(), |at| words::ago(at, now));
    let tries: u64 = rows.iter().filter_map(|one| one.attempts).sum();
    [
        folded.unwrap_or_else(|| wording::count(names.len(), "node")),
        format!("{} from one address", rows.len()),
        rows.first().map_or(String::new(), |one| one.address.to_string()),
        ago(rows.iter().map(|one| one.since).min()),
        ago(rows.iter().map(|one| one.last).max()),
        if tries > 0 { tries.to_string() } else { String::new() },
        String::new(),
    ]
}

/// How many lines the end of other lists has about them.
const LINES: usize = 3;

/// How many there are, for the end of other lists, and what to do about those that aren't among the nodes
/// `listed`.
pub(crate) async fn note(client: &Client, listed: &HashSet<String>) {
    // An older provostd doesn't know it.
    let all: Vec<PendingNode> = client.get(PENDING).await.unwrap_or_default();
    let (named, unnamed): (Vec<_>, Vec<_>) = all.iter().partition(|one| !one.node.is_empty());
    let (others, lacking): (Vec<&PendingNode>, Vec<_>) =
        named.iter().copied().partition(|one| one.why == AuthFailure::SecondKey);
    let names = |rows: &[&PendingNode]| -> Vec<String> {
        let names: BTreeSet<&String> = rows.iter().map(|one| &one.node).collect();
        names.into_iter().cloned().collect()
    };
    if !lacking.is_empty() {
        let nodes = wording::count(names(&lacking).len(), "node");
        output::note(&format!(
            "{nodes} pending without a valid identity or token: provostctl pending"
        ));
    }
    if !others.is_empty() {
        let nodes = names(&others);
        let (nodes, verb) = (fold(&nodes), if nodes.len() == 1 { "has" } else { "have" });
        output::note(&format!(
            "{} {} in the name of {nodes}, which {verb} an identity: provostctl pending",
            wording::count(others.len(), "other key"),
            if others.len() == 1 { "asks" } else { "ask" },
        ));
    }
    let unlisted = named.iter().filter(|one| !listed.contains(&one.node));
    for one in unnamed.iter().chain(unlisted).take(LINES) {
        let name = if one.node.is_empty() { String::new() } else { format!("{} at ", one.node) };
        let (why, hint) = (one.why.words(), one.hint.as_deref().unwrap_or("provostctl pending"));
        let line = format!("{name}{}: {why}: {hint}", one.address);
        output::note(&format!("  {}", escape_cell(&line)));
    }
}

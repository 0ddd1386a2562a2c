use jiff::Timestamp;
use provost_steplog::terminal::escape_json;
use provost_steplog::{Paint, wording};
use provost_store::words;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::Client;
use crate::enrolment;
use crate::failure::Failure;
use crate::format::Format;
use crate::output;
use crate::table::{Table, Tone};

/// A node that tried to report, or a key that waits.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attempts {
    node: String,
    address: String,
    why: String,
    last: Timestamp,
    since: Timestamp,
    attempts: Option<u64>,
    key: Option<String>,
}

const PATH: [&str; 2] = ["v1", "pending"];

/// `provostctl pending`.
pub(crate) async fn pending(client: &Client, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        let all: Box<RawValue> = client.get(&PATH).await?;
        return output::print(format!("{}\n", escape_json(all.get())).as_bytes());
    }
    let all: Vec<Attempts> = client.get(&PATH).await?;
    if all.is_empty() {
        output::print(b"no key waits for approval, and no node lacks a valid identity or token\n")?;
        enrolment::note_windows(client).await;
        return Ok(());
    }
    let now = Timestamp::now();
    let mut table = Table::new(["NODE", "WHY", "ADDRESS", "SINCE", "LAST", "TRIES", "KEY"]);
    for node in &all {
        let why = match &*node.why {
            "no-token" => "no token",
            "unknown-token" => "unknown token",
            "other-nodes-token" => "another node's token",
            "plain-http" => "token by plain HTTP",
            "unknown-key" => "unknown key",
            "other-nodes-key" => "another node's key",
            "identity-ended" => "identity has ended",
            "identity-revoked" => "identity was revoked",
            "not-approved" => "not approved",
            "second-key" => "has another key",
            other => other,
        };
        let ago = |at| words::ago(at, now);
        let (since, last) = (ago(node.since), ago(node.last));
        let tries = node.attempts.map_or(String::new(), |tries| tries.to_string());
        let (address, key) = (node.address.clone(), node.key.clone().unwrap_or_default());
        let row = [node.node.clone(), why.into(), address, since, last, tries, key];
        table.add(row, Tone::Bad);
    }
    output::print(table.render(output::width(), Paint::of_stdout()).as_bytes())?;
    output::note(match all.iter().any(|node| node.key.is_some()) {
        true => {
            "  hint: compare the key with the node's console: provostctl approve NODE FINGERPRINT"
        }
        false => "  hint: let a node of yours join: provostctl join NODE",
    });
    enrolment::note_windows(client).await;
    Ok(())
}

/// How many there are, for the end of other lists.
pub(crate) async fn note(client: &Client) {
    // An older provostd doesn't know it.
    let all: Vec<Box<RawValue>> = client.get(&PATH).await.unwrap_or_default();
    if !all.is_empty() {
        let nodes = wording::count(all.len(), "node");
        output::note(&format!(
            "{nodes} pending without a valid identity or token: provostctl pending"
        ));
    }
}

use jiff::Timestamp;
use provost_api::admins::{PENDING, PendingNode};
use provost_steplog::terminal::escape_json;
use provost_steplog::{Paint, wording};
use provost_store::words;
use serde_json::value::RawValue;

use crate::client::Client;
use crate::enrolment;
use crate::failure::Failure;
use crate::format::Format;
use crate::output;
use crate::table::{Table, Tone};

/// `provostctl pending`.
pub(crate) async fn pending(client: &Client, format: Format) -> Result<(), Failure> {
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
    let now = Timestamp::now();
    let mut table = Table::new(["NODE", "WHY", "ADDRESS", "SINCE", "LAST", "TRIES", "KEY"]);
    for node in &all {
        let ago = |at| words::ago(at, now);
        let (since, last) = (ago(node.since), ago(node.last));
        let tries = node.attempts.map_or(String::new(), |tries| tries.to_string());
        let (address, key) = (node.address.to_string(), node.key.clone().unwrap_or_default());
        let row =
            [node.node.clone(), node.why.words().to_owned(), address, since, last, tries, key];
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
    let all: Vec<Box<RawValue>> = client.get(PENDING).await.unwrap_or_default();
    if !all.is_empty() {
        let nodes = wording::count(all.len(), "node");
        output::note(&format!(
            "{nodes} pending without a valid identity or token: provostctl pending"
        ));
    }
}

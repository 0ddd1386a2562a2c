use jiff::Timestamp;
use provost_record::terminal::escape_json;
use provost_record::{Paint, wording};
use provost_store::words;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::Client;
use crate::failure::Failure;
use crate::format::Format;
use crate::output;
use crate::table::{Table, Tone};

/// A node that tried to report.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attempts {
    node: String,
    address: String,
    why: String,
    last: Timestamp,
    since: Timestamp,
    attempts: u64,
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
        return output::print(b"no node reports without a valid token\n");
    }
    let now = Timestamp::now();
    let mut table = Table::new(["NODE", "WHY", "ADDRESS", "SINCE", "LAST", "TRIES"]);
    for node in &all {
        let why = match &*node.why {
            "no-token" => "no token",
            "unknown-token" => "unknown token",
            "other-nodes-token" => "another node's token",
            other => other,
        };
        let ago = |at| words::ago(at, now);
        let (since, last) = (ago(node.since), ago(node.last));
        let tries = node.attempts.to_string();
        let row = [node.node.clone(), why.into(), node.address.clone(), since, last, tries];
        table.add(row, Tone::Bad);
    }
    output::print(table.render(output::width(), Paint::of_stdout()).as_bytes())?;
    output::note("  hint: give a node of yours its token: provostctl token NODE");
    Ok(())
}

/// How many there are, for the end of other lists.
pub(crate) async fn note(client: &Client) {
    // An older provostd doesn't know it.
    let all: Vec<Box<RawValue>> = client.get(&PATH).await.unwrap_or_default();
    let (report, count) = (if all.len() == 1 { "reports" } else { "report" }, all.len());
    if count > 0 {
        let nodes = wording::count(count, "node");
        output::note(&format!("{nodes} {report} without a valid token: provostctl pending"));
    }
}

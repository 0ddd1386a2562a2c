use provost_steplog::wording;
use serde::Deserialize;
use serde_json::json;

use crate::client::Client;
use crate::failure::Failure;
use crate::node_set::NodeSet;
use crate::output;

#[derive(Deserialize)]
struct Released {
    node: String,
    attempts: u32,
}

/// `provostctl release`.
pub(crate) async fn release(client: &Client, nodes: &NodeSet) -> Result<(), Failure> {
    let body = json!({ "nodes": nodes.names });
    let released: Vec<Released> = client.post(&["v1", "release"], &body).await?;
    let lines: String = released.iter().map(line).collect();
    output::print(lines.as_bytes())
}

fn line(released: &Released) -> String {
    let what = match released.attempts {
        0 => "it had no attempts".into(),
        n => format!("{} forgotten", wording::count(n, "attempt")),
    };
    format!("{}: {what}\n", released.node)
}

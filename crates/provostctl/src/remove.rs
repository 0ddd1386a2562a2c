use serde::Deserialize;
use serde_json::json;

use crate::client::Client;
use crate::failure::Failure;
use crate::node_set::NodeSet;
use crate::output;

#[derive(Deserialize)]
struct Removed {
    node: String,
}

/// `provostctl remove`.
pub(crate) async fn remove(client: &Client, nodes: &NodeSet) -> Result<(), Failure> {
    let body = json!({ "nodes": nodes.names });
    let removed: Vec<Removed> = client.post(&["v1", "remove"], &body).await?;
    let lines: String =
        removed.iter().map(|removed| format!("{}: removed\n", removed.node)).collect();
    output::print(lines.as_bytes())
}

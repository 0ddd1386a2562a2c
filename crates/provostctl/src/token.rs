use serde::Deserialize;
use serde_json::json;

use crate::client::Client;
use crate::failure::Failure;
use crate::node_set::NodeSet;
use crate::output;

#[derive(Deserialize)]
struct NewToken {
    node: String,
    token: String,
}

/// `provostctl token`.
pub(crate) async fn token(client: &Client, nodes: &NodeSet) -> Result<(), Failure> {
    let body = json!({ "nodes": nodes.names });
    let made: Vec<NewToken> = client.post(&["v1", "tokens"], &body).await?;
    let lines: String = made.iter().map(|new| format!("{} {}\n", new.node, new.token)).collect();
    output::print(lines.as_bytes())
}

use provost_plan::nodes::fold;
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
    new: bool,
}

/// `provostctl token`.
pub(crate) async fn token(client: &Client, nodes: &NodeSet) -> Result<(), Failure> {
    let body = json!({ "nodes": nodes.names });
    let made: Vec<NewToken> = client.post(&["v1", "tokens"], &body).await?;
    let new: Vec<_> = made.iter().filter(|made| made.new).map(|made| made.node.clone()).collect();
    if !new.is_empty() {
        // A name that was mistyped shows here.
        output::say(&format!("new: {}", fold(&new)));
    }
    let lines: String = made.iter().map(|new| format!("{} {}\n", new.node, new.token)).collect();
    output::print(lines.as_bytes())
}

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

/// Gives `node` a new token.
pub(crate) async fn new(client: &Client, node: &str) -> Result<String, Failure> {
    let made = make(client, &[node.to_owned()]).await?;
    made.into_iter().next().map(|made| made.token).ok_or_else(|| {
        let hint = "see that provostctl and provostd are of the same version";
        Failure::new(format!("provostd gave {node} no token"), hint)
    })
}

/// `provostctl token`.
pub(crate) async fn token(client: &Client, nodes: &NodeSet) -> Result<(), Failure> {
    let made = make(client, &nodes.names).await?;
    let lines: String = made.iter().map(|new| format!("{} {}\n", new.node, new.token)).collect();
    output::print(lines.as_bytes())
}

async fn make(client: &Client, nodes: &[String]) -> Result<Vec<NewToken>, Failure> {
    let body = json!({ "nodes": nodes });
    let made: Vec<NewToken> = client.post(&["v1", "tokens"], &body).await?;
    let new: Vec<_> = made.iter().filter(|made| made.new).map(|made| made.node.clone()).collect();
    if !new.is_empty() {
        // A name that was mistyped shows here.
        output::say(&format!("new: {}", fold(&new)));
    }
    Ok(made)
}

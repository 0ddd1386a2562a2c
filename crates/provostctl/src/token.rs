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

/// Creates a new token for `node`.
pub(crate) async fn new(client: &Client, node: &str) -> Result<String, Failure> {
    let created = create(client, &[node.to_owned()]).await?;
    created.into_iter().next().map(|new| new.token).ok_or_else(|| {
        let hint = "install the same version of provostctl and provostd";
        Failure::new(format!("unexpected response from provostd: no token for {node}"), hint)
    })
}

/// `provostctl token`.
pub(crate) async fn token(client: &Client, nodes: &NodeSet) -> Result<(), Failure> {
    let created = create(client, &nodes.names).await?;
    let lines: String = created.iter().map(|new| format!("{} {}\n", new.node, new.token)).collect();
    output::print(lines.as_bytes())
}

async fn create(client: &Client, nodes: &[String]) -> Result<Vec<NewToken>, Failure> {
    let body = json!({ "nodes": nodes });
    let created: Vec<NewToken> = client.post(&["v1", "tokens"], &body).await?;
    let new: Vec<_> =
        created.iter().filter(|token| token.new).map(|token| token.node.clone()).collect();
    if !new.is_empty() {
        // Shows a name that was mistyped.
        output::note(&format!("new: {}", fold(&new)));
    }
    Ok(created)
}

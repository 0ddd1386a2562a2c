use crate::client::Client;
use crate::failure::Failure;
use crate::node_set::NodeSet;
use crate::output;
use provost_api::admins::{Named, NodesRequest, REMOVE};

/// `provostctl remove`.
pub(crate) async fn remove(client: &Client, nodes: &NodeSet) -> Result<(), Failure> {
    let body = NodesRequest { nodes: nodes.names.clone() };
    let removed: Vec<Named> = client.post(REMOVE, &body).await?;
    let lines: String =
        removed.iter().map(|removed| format!("{}: removed\n", removed.node)).collect();
    output::print(lines.as_bytes())
}

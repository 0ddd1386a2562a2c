use provost_api::admins::{NodesRequest, RELEASE, Released};
use provost_steplog::wording;

use crate::client::Client;
use crate::failure::Failure;
use crate::node_set::NodeSet;
use crate::output;

/// `provostctl release`.
pub(crate) async fn release(client: &Client, nodes: &NodeSet) -> Result<(), Failure> {
    let body = NodesRequest { nodes: nodes.names.clone() };
    let released: Vec<Released> = client.post(RELEASE, &body).await?;
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

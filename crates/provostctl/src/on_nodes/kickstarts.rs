//! Which nodes are in their installer: there a kickstart goes on, not a boot.

use std::collections::HashSet;

use provost_record::Service;
use provost_store::{MAX_RUNS, Node};

use crate::client::{Client, NodeHistory};
use crate::node_set::NodeSet;
use crate::output;

/// Those of `nodes` whose last kickstart or boot was a kickstart; none where provostd can't be asked.
pub(super) async fn among(client: &Client, nodes: &NodeSet) -> HashSet<String> {
    let named: HashSet<&str> = nodes.names.iter().map(String::as_str).collect();
    let all: Vec<Node> = match client.nodes(Some(nodes)).await {
        Ok(all) => all,
        Err(failure) => {
            output::note(&format!("taken for boots, not kickstarts: {}", failure.error));
            return HashSet::new();
        }
    };
    let mut found = HashSet::new();
    for node in all.into_iter().filter(|node| named.contains(node.name.as_str())) {
        let service = match node.service.as_deref() {
            // What is shown is a rerun; what is unfinished is older.
            Some(service) if service == Service::Run.as_str() => last_of_life(client, &node).await,
            service => service.map(str::to_owned),
        };
        if service.as_deref() == Some(Service::Kickstart.as_str()) {
            found.insert(node.name);
        }
    }
    found
}

/// The service of the newest run that isn't a rerun.
async fn last_of_life(client: &Client, node: &Node) -> Option<String> {
    // Nearly always it is one of the newest.
    for runs in [1, MAX_RUNS] {
        let history: NodeHistory = client.node(&node.name, runs).await.ok()?;
        let mut services = history.runs().into_iter().map(|run| run.service);
        let found = services.find(|service| service != Service::Run.as_str());
        if found.is_some() || !history.more {
            return found;
        }
    }
    None
}

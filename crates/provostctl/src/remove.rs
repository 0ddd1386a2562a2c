use provost_api::admins::{Named, NodesRequest, REMOVE};
use provost_plan::nodes::fold;
use provost_steplog::wording;
use provost_store::Node;

use crate::client::Client;
use crate::failure::{Failure, WRONG};
use crate::node_list::NodeList;
use crate::node_set::NodeSet;
use crate::output;

/// `provostctl remove`.
#[derive(clap::Args)]
pub(crate) struct Remove {
    #[command(flatten)]
    nodes: NodeList,
    /// Don't ask: for scripts
    #[arg(long)]
    yes: bool,
    /// Show what would be removed, and remove nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

impl Remove {
    pub(crate) async fn run(self, client: &Client) -> Result<(), Failure> {
        let asks = !self.yes && !self.dry_run;
        if asks && !output::can_ask() {
            let error = "nothing was removed: --yes is missing, and there is no terminal to ask at";
            let hint = "see what would be removed: provostctl remove NODES --dry-run; then: \
                        provostctl remove NODES --yes";
            return Err(Failure::new(error, hint).with_code(WRONG));
        }
        let nodes = self.nodes.resolve(client).await?;
        if self.dry_run {
            return show(client, &nodes).await;
        }
        if asks && !output::ask(&question(&nodes)) {
            return Err(Failure::new("nothing was removed", "answer y to remove them"));
        }
        let body = NodesRequest { nodes: nodes.names };
        let removed: Vec<Named> = client.post(REMOVE, &body).await?;
        let lines: String =
            removed.iter().map(|removed| format!("{}: removed\n", removed.node)).collect();
        output::print(lines.as_bytes())?;
        note_published(client, removed).await;
        Ok(())
    }
}

/// Says which of the nodes are listed all the same, because they are published.
async fn note_published(client: &Client, removed: Vec<Named>) {
    let removed = NodeSet { names: removed.into_iter().map(|removed| removed.node).collect() };
    let still: Vec<Node> = client.nodes(Some(&removed)).await.unwrap_or_default();
    let is_removed = |name: &String| removed.names.contains(name);
    let still: Vec<String> = still.into_iter().map(|node| node.name).filter(is_removed).collect();
    if !still.is_empty() {
        let (nodes, verb) = (fold(&still), if still.len() == 1 { "is" } else { "are" });
        output::note(&format!(
            "note: {nodes} {verb} published, and listed as defined\n  hint: to end that, take {} out of \
             site.toml, and publish",
            if still.len() == 1 { "it" } else { "them" },
        ));
    }
}

fn question(nodes: &NodeSet) -> String {
    let count = wording::count(nodes.names.len(), "node");
    let what = "status, runs, logs, identity and token of each; this can't be undone";
    format!("remove {count}, {}: {what}? [y/N] ", nodes.folded())
}

/// Shows what would be removed.
async fn show(client: &Client, nodes: &NodeSet) -> Result<(), Failure> {
    let all: Vec<Node> = client.nodes(Some(nodes)).await?;
    let find = |name: &String| all.iter().find(|node| node.name == *name).ok_or(name.clone());
    let (mut lines, mut unknown) = (String::new(), Vec::new());
    for found in nodes.names.iter().map(find) {
        match found {
            Ok(node) => lines += &format!("{}: {}, would be removed\n", node.name, node.status),
            Err(name) => unknown.push(name),
        }
    }
    if !unknown.is_empty() {
        let error = format!("nothing would be removed: unknown {}", fold(&unknown));
        return Err(Failure::new(error, "list all nodes: provostctl nodes"));
    }
    output::print(lines.as_bytes())
}

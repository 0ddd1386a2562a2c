use std::path::PathBuf;

use crate::client::Client;
use crate::failure::Failure;
use crate::from_node;
use crate::node_set::NodeName;

/// Whose entries are shown if no unit is named: provost's own units, and those of its steps.
const UNITS: &str = "provost*";

/// `provostctl journal`.
#[derive(clap::Args)]
pub(crate) struct Journal {
    /// The node
    node: NodeName,
    /// Unit, or a pattern
    #[arg(default_value = UNITS)]
    unit: String,
    /// Follow the journal
    #[arg(long, short)]
    follow: bool,
    /// Configuration file for ssh, in place of yours
    #[arg(long, value_name = "FILE")]
    ssh_config: Option<PathBuf>,
}

impl Journal {
    /// Prints the entries of the unit.
    pub(crate) async fn run(self, client: &Client) -> Result<(), Failure> {
        let unit = format!("--unit={}", self.unit);
        let mut command = vec!["journalctl", "--no-pager", &unit];
        command.extend(self.follow.then_some("--follow"));
        let node = &self.node;
        let tried = format!("reading the journal of {} by ssh", node.0);
        let hint = format!("see which units the node has: ssh {} systemctl list-units", node.0);
        from_node::print(client, self.ssh_config.as_deref(), node, &command, &tried, &hint).await
    }
}

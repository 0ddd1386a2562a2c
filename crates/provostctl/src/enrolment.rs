//! How nodes come by identities, and lose them.

use provost_api::admins::{
    self, Approved, CloseRequest, Closed, Installer, KeyRequest, NewJoin, NodesRequest, Rejected,
    Revoked, TimeRequest, Window,
};
use provost_api::nodes::INSTALL_SH;
use provost_bundle::Limit;

use crate::client::Client;
use crate::failure::Failure;
use crate::install_sh;
use crate::node_list::{AnyNodes, NodeList};
use crate::node_set::{NodeName, NodeSet};
use crate::output;

/// `provostctl join`.
#[derive(clap::Args)]
pub(crate) struct Join {
    #[command(flatten)]
    nodes: NodeList,
    /// Validity of an unused token, such as 30m
    #[arg(long = "for", value_name = "D", default_value = "30m")]
    time: Limit,
    /// Accept the tokens from this network only, such as 10.0.0.0/8; that of a node whose environment
    /// has IPADDR, only from that address
    #[arg(long, value_name = "CIDR")]
    from: Option<String>,
    /// Print kernel arguments, each with its node if there are several
    #[arg(long)]
    kernel_args: bool,
}

impl Join {
    pub(crate) async fn run(self, client: &Client) -> Result<(), Failure> {
        let nodes = self.nodes.resolve(client).await?.names;
        let made = make(client, &nodes, self.time, self.from.as_deref()).await?;
        let line = |NewJoin { node, token }: &NewJoin| match (self.kernel_args, made.len()) {
            (false, _) => format!("{node} {token}\n"),
            (true, 1) => format!("provost.join={token}\n"),
            (true, _) => format!("{node} provost.join={token}\n"),
        };
        let lines: String = made.iter().map(line).collect();
        output::print(lines.as_bytes())
    }
}

/// Creates a join token for `node` that counts for `time`.
pub(crate) async fn join_token(
    client: &Client,
    node: &str,
    time: Limit,
) -> Result<String, Failure> {
    let made = make(client, &[node.to_owned()], time, None).await?;
    made.into_iter().next().map(|new| new.token).ok_or_else(|| {
        let hint = "install the same version of provostctl and provostd";
        Failure::new(format!("unexpected response from provostd: no join token for {node}"), hint)
    })
}

async fn make(
    client: &Client,
    nodes: &[String],
    time: Limit,
    from: Option<&str>,
) -> Result<Vec<NewJoin>, Failure> {
    let from = from.map(str::to_owned);
    let request = TimeRequest { nodes: nodes.to_vec(), for_ms: milliseconds(time), from };
    client.post(admins::JOIN, &request).await
}

fn milliseconds(time: Limit) -> u64 {
    u64::try_from(time.duration().as_millis()).unwrap_or(u64::MAX)
}

/// `provostctl enroll`.
#[derive(clap::Subcommand)]
pub(crate) enum Enroll {
    /// Open a window: each of these nodes gets an identity when it first asks
    ///
    /// While its status is defined or installing, and it hasn't booted. Prints what to type there as root.
    Open {
        #[command(flatten)]
        nodes: NodeList,
        /// How long the window is open, such as 1h
        #[arg(long = "for", value_name = "D", default_value = "2h")]
        time: Limit,
    },
    /// Close the window, for these nodes or for all
    Close {
        #[command(flatten)]
        nodes: AnyNodes,
    },
}

impl Enroll {
    pub(crate) async fn run(self, client: &Client) -> Result<(), Failure> {
        match self {
            Self::Open { nodes, time } => {
                let nodes = nodes.resolve(client).await?.names;
                let request = TimeRequest { nodes, for_ms: milliseconds(time), from: None };
                let Window { nodes, until, without_effect } =
                    client.post(admins::WINDOWS, &request).await?;
                note_without_effect(&without_effect);
                let mut text = format!("enrolment is open until {until}: {nodes}\n");
                match client.get(admins::INSTALLER).await {
                    Ok(installer) => text += &on_nodes(&nodes, &installer),
                    // The window is open all the same, for nodes that have the program.
                    Err(Failure { error, hint, .. }) => {
                        output::note(&format!(
                            "note: install.sh can't be served: {error}\n  hint: {hint}"
                        ));
                    }
                }
                output::print(text.as_bytes())
            }
            Self::Close { nodes } => {
                let nodes = nodes.resolve(client).await?.map(|nodes: NodeSet| nodes.names);
                let request = CloseRequest { nodes };
                let closed: Closed = client.post(admins::CLOSE_WINDOWS, &request).await?;
                let text = match &*closed.nodes {
                    "" => "enrolment wasn't open\n".to_owned(),
                    nodes => format!("enrolment is closed: {nodes}\n"),
                };
                output::print(text.as_bytes())
            }
        }
    }
}

/// What to type on the nodes for which a window is open; nothing where provostd doesn't know.
fn on_nodes(nodes: &str, Installer { server, install_sh, .. }: &Installer) -> String {
    let (Some(servers), Some(sha256)) = (server, install_sh) else { return String::new() };
    let server = servers.split(',').next().unwrap_or_default();
    install_sh::shown(nodes, &format!("{server}{}", INSTALL_SH.0), sha256)
}

/// Says which nodes get no identity by their window.
fn note_without_effect(nodes: &str) {
    if !nodes.is_empty() {
        output::note(&format!(
            "note: the window has no effect on {nodes}: an identity or a boot was there before\n  hint: if a node has \
             lost its key, compare the new one with its console (provostctl pending), then: provostctl approve NODE KEY"
        ));
    }
}

/// Shows after other lists which windows are open.
pub(crate) async fn note_windows(client: &Client) {
    // An older provostd doesn't know them.
    let open: Vec<Window> = client.get(admins::WINDOWS).await.unwrap_or_default();
    for Window { nodes, until, .. } in open {
        output::note(&format!("enrolment is open until {until}: {nodes}"));
    }
}

/// A node, and one of its keys.
#[derive(clap::Args)]
pub(crate) struct NodeKey {
    /// The node
    node: NodeName,
    /// Key as its console and provostctl pending show it; needed if several are pending
    #[arg(value_name = "FINGERPRINT")]
    key: Option<String>,
}

impl NodeKey {
    /// `provostctl approve`.
    pub(crate) async fn approve(self, client: &Client) -> Result<(), Failure> {
        let Approved { key, until, .. } = client.post(admins::APPROVE, &self.request()).await?;
        let node = self.node.0;
        output::print(format!("{node}: {key} is its identity until {until}\n").as_bytes())
    }

    /// `provostctl reject`.
    pub(crate) async fn reject(self, client: &Client) -> Result<(), Failure> {
        let Rejected { key, .. } = client.post(admins::REJECT, &self.request()).await?;
        output::print(format!("{}: {key} is rejected\n", self.node.0).as_bytes())
    }

    fn request(&self) -> KeyRequest {
        KeyRequest { node: self.node.0.clone(), key: self.key.clone() }
    }
}

/// `provostctl revoke`.
pub(crate) async fn revoke(client: &Client, nodes: &NodeSet) -> Result<(), Failure> {
    let request = NodesRequest { nodes: nodes.names.clone() };
    let revoked: Vec<Revoked> = client.post(admins::REVOKE, &request).await?;
    let line = |Revoked { node, key }: &Revoked| match key {
        Some(key) => format!("{node}: revoked {key}, and its tokens\n"),
        None => format!("{node}: revoked its tokens; it had no identity\n"),
    };
    let lines: String = revoked.iter().map(line).collect();
    output::print(lines.as_bytes())
}

use provost_api::admins::{NewToken, TOKENS, TokensRequest};
use provost_plan::nodes::fold;

use crate::client::Client;
use crate::failure::Failure;
use crate::node_list::NodeList;
use crate::output;
use crate::period::Period;

/// `provostctl token`.
#[derive(clap::Args)]
pub(crate) struct Tokens {
    #[command(flatten)]
    nodes: NodeList,
    /// Only for nodes without a token
    #[arg(long, conflicts_with = "rotate")]
    missing: bool,
    /// Keep each old token valid until the new one is used, for --overlap at most
    #[arg(long)]
    rotate: bool,
    /// Longest validity of an old token, such as 12h or 30d
    #[arg(long, value_name = "D", default_value = "7d", requires = "rotate")]
    overlap: Period,
    /// Also for nodes that aren't published
    #[arg(long)]
    force: bool,
}

impl Tokens {
    pub(crate) async fn run(self, client: &Client) -> Result<(), Failure> {
        let nodes = self.nodes.resolve(client).await?.names;
        let overlap = u64::try_from(self.overlap.0.as_millis()).unwrap_or(u64::MAX);
        let overlap_ms = self.rotate.then_some(overlap);
        let (missing, force) = (self.missing, self.force);
        let created = create(client, &TokensRequest { nodes, missing, overlap_ms, force }).await?;
        if created.is_empty() {
            output::note("each of these nodes has a token");
        }
        let lines: String =
            created.iter().map(|new| format!("{} {}\n", new.node, new.token)).collect();
        output::print(lines.as_bytes())
    }
}

/// Creates a new token for `node`.
pub(crate) async fn new(client: &Client, node: &str) -> Result<String, Failure> {
    let created =
        create(client, &TokensRequest { nodes: vec![node.to_owned()], ..Default::default() })
            .await?;
    created.into_iter().next().map(|new| new.token).ok_or_else(|| {
        let hint = "install the same version of provostctl and provostd";
        Failure::new(format!("unexpected response from provostd: no token for {node}"), hint)
    })
}

async fn create(client: &Client, request: &TokensRequest) -> Result<Vec<NewToken>, Failure> {
    let created: Vec<NewToken> = client.post(TOKENS, request).await?;
    let new: Vec<_> =
        created.iter().filter(|token| token.new).map(|token| token.node.clone()).collect();
    if !new.is_empty() {
        // Shows a name that was mistyped.
        output::note(&format!("new: {}", fold(&new)));
    }
    Ok(created)
}

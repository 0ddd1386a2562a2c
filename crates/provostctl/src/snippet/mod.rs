//! `provostctl snippet`: the script that an installer runs at its end.

mod frames;
mod installer;

use std::collections::{BTreeMap, HashSet};

use provost_api::admins;
use provost_bundle::Limit;
use provost_http::zone;
use provost_installer::Script;
use provost_plan::nodes::fold;
use provost_store::Node;
use reqwest::Url;

use crate::client::Client;
use crate::failure::{Failure, WRONG};
use crate::node_list::NodeList;
use crate::node_set::NodeSet;
use crate::{enrolment, output, token};
use installer::{Engine, Installer};

/// `provostctl snippet`.
#[derive(clap::Args)]
pub(crate) struct Snippet {
    /// Installer that runs the script
    installer: Installer,
    #[command(flatten)]
    nodes: NodeList,
    /// URL at which nodes reach provostd, such as http://10.0.0.1:8480; several are tried in order.
    /// Default: provostd's own guess
    #[arg(long, value_name = "URL", value_parser = zone::parse_url)]
    server: Vec<Url>,
    /// Write a new join token into the script, with which the node gets its identity; for one node only
    #[arg(long, conflicts_with = "token")]
    join: bool,
    /// Validity of the unused join token, such as 2h
    #[arg(long = "for", value_name = "D", default_value = "24h", requires = "join")]
    time: Limit,
    /// Write a new bearer token into the script, for a node without TLS; for one node only
    #[arg(long)]
    token: bool,
    /// Escape the script for this template engine
    #[arg(long, value_name = "ENGINE")]
    raw: Option<Engine>,
}

impl Snippet {
    pub(crate) async fn run(&self, client: &Client) -> Result<(), Failure> {
        let nodes = self.nodes.resolve(client).await?;
        let needs: admins::Installer = client.get(admins::INSTALLER).await?;
        let mut values = vec![
            ("PROVOST_SERVER", self.servers(needs.server)?),
            ("PROVOST_KEY", needs.key),
            ("PROVOST_GENERATION", needs.generation.to_string()),
        ];
        if let [node] = &nodes.names[..] {
            values.push(("PROVOST_NODE", node.clone()));
        }
        note_unpublished(client, &nodes).await;
        values.extend(self.secret(client, &nodes, needs.tls).await?);
        let programs = match needs.programs.is_empty() {
            // A provostd of before has one.
            true => BTreeMap::from([("x86_64".to_owned(), needs.sha256)]),
            false => needs.programs,
        };
        let script = Script { values, programs: &programs };
        let text = script.of_installer(&nodes.folded(), self.installer.is_booted());
        let text = frames::frame(self.installer, &text);
        let text = self.raw.map_or_else(|| text.clone(), |engine| engine.raw(&text));
        output::print(text.as_bytes())
    }

    /// What the node proves by who it is, if the script has that; else it says what else the node needs.
    async fn secret(
        &self,
        client: &Client,
        nodes: &NodeSet,
        tls: bool,
    ) -> Result<Option<(&'static str, String)>, Failure> {
        let argument = if tls { "provost.join=TOKEN" } else { "provost.token=TOKEN" };
        let window = if tls { ", or open a window (provostctl enroll open)" } else { "" };
        match &nodes.names[..] {
            [node] if self.join => {
                let token = enrolment::join_token(client, node, self.time).await?;
                Ok(Some(("PROVOST_JOIN", token)))
            }
            [node] if self.token => Ok(Some(("PROVOST_TOKEN", token::new(client, node).await?))),
            [node] => {
                let option = if tls { "--join" } else { "--token" };
                output::note(&format!(
                    "note: the script has no token: use {option}, or add {argument} to the kernel command \
                     line of {node}'s installer{window}"
                ));
                Ok(None)
            }
            _ if self.token || self.join => {
                let option = if self.join { "--join" } else { "--token" };
                let error = format!(
                    "{option} is for one node: a script for several nodes can't have their tokens"
                );
                let hint = format!(
                    "name one node; or omit {option}, and add {argument} to each node's kernel command line"
                );
                Err(Failure::new(error, hint).with_code(WRONG))
            }
            _ => {
                output::note(&format!(
                    "note: add provost.node=NAME {argument} to the kernel command line of each node's \
                     installer{window}"
                ));
                Ok(None)
            }
        }
    }

    /// Each with its port and without a slash at its end, because the script is simple.
    fn servers(&self, own: Option<String>) -> Result<String, Failure> {
        if self.server.is_empty() {
            let hint = "add --server http://ADDRESS:8480";
            let own = own.ok_or_else(|| {
                Failure::new("provostd doesn't know its address for nodes", hint).with_code(WRONG)
            })?;
            output::note(&format!("note: nodes fetch from {own}; --server URL overrides that"));
            return Ok(own);
        }
        let plain = |url: &Url| {
            let host = url.host_str().filter(|_| url.scheme() == "http").ok_or_else(|| {
                let hint = "use an http URL, such as http://10.0.0.1:8480";
                Failure::new(format!("an installer can't fetch from {url}"), hint).with_code(WRONG)
            })?;
            let port = url.port_or_known_default().unwrap_or(80);
            let host = zone::shown(host).replace('%', "%25");
            Ok(format!("http://{host}:{port}{}", url.path().trim_end_matches('/')))
        };
        Ok(self.server.iter().map(plain).collect::<Result<Vec<_>, Failure>>()?.join(","))
    }
}

/// Says which nodes could do nothing with the script yet: there is no plan for them.
async fn note_unpublished(client: &Client, nodes: &NodeSet) {
    let known: Vec<Node> = client.nodes(Some(nodes)).await.unwrap_or_default();
    let known: HashSet<String> =
        known.into_iter().filter(|node| !node.only_asks()).map(|node| node.name).collect();
    let unknown: Vec<String> =
        nodes.names.iter().filter(|name| !known.contains(*name)).cloned().collect();
    if !unknown.is_empty() {
        output::note(&format!(
            "note: {} isn't in what is published: its installation will fail\n  hint: correct the name; or name it in \
             site.toml and publish",
            fold(&unknown),
        ));
    }
}

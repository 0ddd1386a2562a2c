//! NODES of the command line, or `-f FILE` in its place.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use provost_api::admins;
use provost_plan::Groups;
use provost_store::Node;

use crate::client::Client;
use crate::failure::{Failure, WRONG};
use crate::node_query::{NodeQuery, Sets};
use crate::node_set::NodeSet;

/// The most bytes of a list of nodes.
const MOST: u64 = 32 << 20;

/// The nodes that a command is about.
#[derive(clap::Args)]
pub(crate) struct NodeList {
    /// Nodes, such as cn[001-512], @compute or @failed; "-" reads standard input. See provostctl help node-sets
    #[arg(value_name = "NODES", required_unless_present = "nodes_file")]
    nodes: Option<Named>,
    #[command(flatten)]
    file: NodesFile,
}

/// The nodes that a command is about, where it may be about all.
#[derive(clap::Args)]
pub(crate) struct AnyNodes {
    /// Nodes, such as cn[001-512], @compute or @failed; all nodes by default. See provostctl help node-sets
    #[arg(value_name = "NODES")]
    nodes: Option<Named>,
    #[command(flatten)]
    file: NodesFile,
}

#[derive(clap::Args)]
struct NodesFile {
    /// Read the nodes from a file
    #[arg(short = 'f', long = "file", id = "nodes_file", value_name = "FILE")]
    path: Option<PathBuf>,
}

/// Where the nodes are named.
#[derive(Clone, Debug)]
enum Named {
    Here(NodeQuery),
    StandardInput,
}

impl std::str::FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "-" => Ok(Self::StandardInput),
            text => text.parse().map(Self::Here),
        }
    }
}

impl NodeList {
    /// The nodes that this stands for now.
    pub(crate) async fn resolve(&self, client: &Client) -> Result<NodeSet, Failure> {
        resolve(&queries(self.nodes.as_ref(), &self.file)?, client).await
    }

    /// The same without the daemon: only groups may be named, and these are known already.
    pub(crate) fn resolve_by(&self, groups: &Groups) -> Result<NodeSet, Failure> {
        let queries = queries(self.nodes.as_ref(), &self.file)?;
        union(&queries, &mut Sets { nodes: None, groups: groups.resolver() })
    }

    /// Where the nodes are in a file, the word that stands at the place of NODES: it is another one.
    pub(crate) fn take_word(&mut self) -> Option<String> {
        self.file.path.as_ref()?;
        match self.nodes.take()? {
            Named::Here(query) => Some(query.text().to_owned()),
            Named::StandardInput => Some("-".to_owned()),
        }
    }
}

impl AnyNodes {
    pub(crate) fn are_named(&self) -> bool {
        self.nodes.is_some() || self.file.path.is_some()
    }

    /// The nodes that this stands for now, if any are named.
    pub(crate) async fn resolve(&self, client: &Client) -> Result<Option<NodeSet>, Failure> {
        match self.are_named() {
            true => resolve(&queries(self.nodes.as_ref(), &self.file)?, client).await.map(Some),
            false => Ok(None),
        }
    }
}

/// The nodes of one query.
pub(crate) async fn of_query(query: &NodeQuery, client: &Client) -> Result<NodeSet, Failure> {
    resolve(std::slice::from_ref(query), client).await
}

/// What is named, line by line.
fn queries(named: Option<&Named>, file: &NodesFile) -> Result<Vec<NodeQuery>, Failure> {
    let (name, text) = match (named, &file.path) {
        (Some(_), Some(_)) => {
            let hint = "write one of them";
            return Err(Failure::new("NODES and -f FILE are both there", hint).with_code(WRONG));
        }
        (Some(Named::Here(query)), None) => return Ok(vec![query.clone()]),
        (None, Some(path)) if path != Path::new("-") => {
            (path.display().to_string(), provost_fs::read_input(path, MOST))
        }
        (Some(Named::StandardInput), None) | (None, Some(_)) => {
            ("standard input".to_owned(), io::read_to_string(io::stdin()))
        }
        (None, None) => return Ok(Vec::new()),
    };
    let text = text.map_err(|e| {
        Failure::new(format!("reading nodes from {name}: {e}"), "name a readable file: -f FILE")
    })?;
    let content = |line: &str| line.split('#').next().unwrap_or_default().trim().to_owned();
    let lines = text.lines().map(content).enumerate().filter(|(_, line)| !line.is_empty());
    let queries: Vec<NodeQuery> = lines
        .map(|(number, line)| {
            line.parse().map_err(|e: String| {
                let (error, hint) = e.split_once("\n  hint: ").unwrap_or((&e, "correct that line"));
                Failure::new(format!("{name}:{}: {error}", number + 1), hint).with_code(WRONG)
            })
        })
        .collect::<Result<_, _>>()?;
    match queries.is_empty() {
        true => Err(Failure::new(format!("{name} names no nodes"), "write names into it")),
        false => Ok(queries),
    }
}

/// The nodes of all `queries`, with what the daemon knows of sets.
async fn resolve(queries: &[NodeQuery], client: &Client) -> Result<NodeSet, Failure> {
    let mut nodes: Vec<Node> = match queries.iter().any(NodeQuery::has_known) {
        true => client.nodes(None).await?,
        false => Vec::new(),
    };
    // A stranger may give any name, and no command can do anything about one that isn't published.
    nodes.retain(|node| !node.only_asks());
    let groups = match queries.iter().any(NodeQuery::has_groups) {
        true => {
            let published: admins::Groups = client.get(admins::GROUPS).await?;
            Groups::of_clustershell().with_site(published.groups)
        }
        false => Groups::default(),
    };
    union(queries, &mut Sets { nodes: Some(&nodes), groups: groups.resolver() })
}

/// The nodes of all `queries`, each once. Sets without a node in them are an error.
fn union(queries: &[NodeQuery], sets: &mut Sets<'_>) -> Result<NodeSet, Failure> {
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    for query in queries {
        let found = query.nodes(sets)?;
        names.extend(found.into_iter().filter(|name| seen.insert(name.clone())));
    }
    match (names.is_empty(), queries) {
        (false, _) => Ok(NodeSet { names }),
        (true, queries) => {
            let text: Vec<&str> = queries.iter().map(NodeQuery::text).collect();
            let hint = "list nodes and failures: provostctl nodes";
            Err(Failure::new(format!("{} stands for no nodes", text.join(",")), hint))
        }
    }
}

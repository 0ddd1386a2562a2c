use std::collections::HashSet;
use std::str::FromStr;

use provost_plan::nodes;
use provost_record::Cause;
use provost_store::{Node, failure_id, has_failed};

use crate::client::Client;
use crate::failure::Failure;
use crate::goal::Goal;
use crate::node_set::NodeSet;

/// The nodes that the command line names: names and ranges, and sets that provostd knows.
#[derive(Clone, Debug)]
pub(crate) struct NodeQuery {
    text: String,
    terms: Vec<Term>,
}

#[derive(Clone, Debug)]
enum Term {
    Names(Vec<String>),
    Known(Known),
}

/// A set that provostd knows.
#[derive(Clone, Debug)]
enum Known {
    /// `@failed`: the kickstart, the boot or the last rerun failed.
    Failed,
    /// `@held`: the guard holds the node.
    Held,
    /// `@status:booting`, `@status:synced`.
    Status(Goal),
    /// `@cause:3fa1c2`: a group of failures.
    Cause(String),
}

impl FromStr for NodeQuery {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut names = Vec::new();
        let mut terms = Vec::new();
        for term in text.split(',').map(str::trim) {
            match term.strip_prefix('@') {
                Some(known) => terms.push(Term::Known(known.parse()?)),
                None => names.push(term),
            }
        }
        let names = names.join(",");
        if terms.is_empty() || names.contains(|c: char| !c.is_whitespace() && c != ',') {
            let names = nodes::expand(&names).map_err(|e| format!("{e}\n  hint: {}", e.hint()))?;
            terms.push(Term::Names(names));
        }
        Ok(Self { text: text.to_owned(), terms })
    }
}

impl FromStr for Known {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || {
            format!(
                "unknown set @{text}\n  hint: write @failed, @held, @status:STATUS or @cause:ID; \
                 list the ids: provostctl nodes --failed"
            )
        };
        match text.split_once(':') {
            None if text == "failed" => Ok(Self::Failed),
            None if text == "held" => Ok(Self::Held),
            Some(("cause", id)) if !id.is_empty() => Ok(Self::Cause(id.to_ascii_lowercase())),
            Some(("status", word)) => word.parse().map(Self::Status),
            _ => Err(unknown()),
        }
    }
}

impl Known {
    fn has(&self, node: &Node) -> bool {
        match self {
            Self::Failed => has_failed(node),
            Self::Held => node.detail.cause == Some(Cause::Held),
            Self::Status(status) => status.is_reached(node),
            Self::Cause(id) => failure_id(node).as_ref() == Some(id),
        }
    }
}

impl NodeQuery {
    /// The nodes that this stands for now. Sets without a node in them are an error.
    pub(crate) async fn resolve(&self, client: &Client) -> Result<NodeSet, Failure> {
        let asks = self.terms.iter().any(|term| matches!(term, Term::Known(_)));
        let all: Vec<Node> = if asks { client.nodes(None).await? } else { Vec::new() };
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        for term in &self.terms {
            let found: Vec<&str> = match term {
                Term::Names(names) => names.iter().map(String::as_str).collect(),
                Term::Known(known) => {
                    all.iter().filter(|node| known.has(node)).map(|n| n.name.as_str()).collect()
                }
            };
            names.extend(found.into_iter().filter(|name| seen.insert(*name)).map(str::to_owned));
        }
        match names.is_empty() {
            true => Err(Failure::new(
                format!("{} stands for no nodes", self.text),
                "list nodes and failures: provostctl nodes",
            )),
            false => Ok(NodeSet { names }),
        }
    }
}

#[cfg(test)]
mod tests {
    use provost_store::{Status, UpdateStatus};

    use super::*;

    #[test]
    fn names_and_sets_are_mixed() {
        let query: NodeQuery = "cn[001,003], @failed,login,@cause:3FA1C2".parse().unwrap();
        assert_eq!(query.terms.len(), 3);
        assert!(
            matches!(&query.terms[2], Term::Names(names) if *names == ["cn001", "cn003", "login"])
        );
        for bad in ["", " , ", "@", "@all", "@status:", "@status:gone", "@cause:", "cn1@failed"] {
            assert!(bad.parse::<NodeQuery>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_set_has_the_nodes_that_its_name_says() {
        let node = |status, cause| {
            let detail = provost_store::Detail { cause, ..Default::default() };
            Node { status, detail, ..Node::default() }
        };
        let failed = node(Status::Failed, Some(Cause::Exit));
        let held = node(Status::Failed, Some(Cause::Held));
        let rerun = Node {
            updatestatus: Some(UpdateStatus::Failed),
            ..node(Status::Booted, Some(Cause::Exit))
        };
        let booted = node(Status::Booted, None);
        let id = failure_id(&failed).unwrap();
        for (text, has) in [
            ("failed", [true, true, true, false]),
            ("held", [false, true, false, false]),
            ("status:failed", [true, true, false, false]),
            ("status:booted", [false, false, true, true]),
            ("status:synced", [false; 4]),
            (&format!("cause:{id}"), [true, false, true, false]),
        ] {
            let known: Known = text.parse().unwrap();
            assert_eq!(
                [&failed, &held, &rerun, &booted].map(|node| known.has(node)),
                has,
                "@{text}"
            );
        }
    }
}

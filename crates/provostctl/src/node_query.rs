use std::str::FromStr;

use provost_plan::Resolver;
use provost_plan::nodes::{Expression, NodesError, SetName};
use provost_record::Cause;
use provost_store::{Node, WaitTarget, failure_id, has_failed};

use crate::failure::{Failure, WRONG};

/// The words for sets that provostd knows.
const WORDS: &str = "@failed, @held, @status:STATUS or @cause:ID";

/// A text that names nodes: names, ranges and groups, and sets that provostd knows, with ClusterShell's
/// operators between them.
#[derive(Clone, Debug)]
pub(crate) struct NodeQuery {
    text: String,
    expression: Expression,
}

/// A set that provostd knows.
#[derive(Clone, Debug)]
enum Known {
    /// `@failed`: the kickstart, the boot or the last rerun failed.
    Failed,
    /// `@held`: the guard holds the node.
    Held,
    /// `@status:booting`, `@status:synced`.
    Status(WaitTarget),
    /// `@cause:3fa1c2`: a group of failures.
    Cause(String),
}

impl FromStr for NodeQuery {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expression: Expression =
            text.parse().map_err(|e: NodesError| format!("{e}\n  hint: {}", e.hint()))?;
        for set in expression.sets() {
            Known::of(set)?;
        }
        Ok(Self { text: text.to_owned(), expression })
    }
}

impl Known {
    /// The set that has this name; none if it is a group's.
    fn of(set: &SetName) -> Result<Option<Self>, String> {
        Ok(match (set.source.as_deref(), &*set.name) {
            (None, "failed") => Some(Self::Failed),
            (None, "held") => Some(Self::Held),
            (Some("cause"), id) => Some(Self::Cause(id.to_ascii_lowercase())),
            (Some("status"), word) => Some(Self::Status(word.parse()?)),
            _ => None,
        })
    }

    fn has(&self, node: &Node) -> bool {
        match self {
            Self::Failed => has_failed(node),
            Self::Held => node.detail.cause == Some(Cause::Held),
            Self::Status(status) => status.is_reached(node),
            Self::Cause(id) => failure_id(node).as_ref() == Some(id),
        }
    }
}

/// What sets stand for.
pub(crate) struct Sets<'a> {
    /// The nodes that provostd knows; none where it isn't asked.
    pub(crate) nodes: Option<&'a [Node]>,
    pub(crate) groups: Resolver<'a>,
}

impl NodeQuery {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it names sets that provostd knows.
    pub(crate) fn has_known(&self) -> bool {
        self.expression.sets().any(|set| matches!(Known::of(set), Ok(Some(_))))
    }

    /// Whether it names groups.
    pub(crate) fn has_groups(&self) -> bool {
        self.expression.sets().any(|set| matches!(Known::of(set), Ok(None)))
    }

    /// The nodes that it stands for. None may be left.
    pub(crate) fn nodes(&self, sets: &mut Sets<'_>) -> Result<Vec<String>, Failure> {
        self.expression.nodes(|set| {
            let wrong = |error: String, hint: String| Failure::new(error, hint).with_code(WRONG);
            let hint = || "name the nodes, or a group".to_owned();
            let known = Known::of(set).map_err(|error| wrong(error, hint()))?;
            match (known, sets.nodes) {
                (None, _) => sets
                    .groups
                    .nodes(set)
                    .map_err(|e| wrong(e.to_string(), format!("{}; or {WORDS}", e.hint()))),
                (Some(known), Some(nodes)) => {
                    let found = nodes.iter().filter(|node| known.has(node));
                    Ok(found.map(|node| node.name.clone()).collect())
                }
                (Some(_), None) => {
                    Err(wrong(format!("{set} changes all the time, and can't be kept"), hint()))
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use provost_store::{Status, UpdateStatus};

    use super::*;

    #[test]
    fn names_and_sets_are_mixed() {
        let query: NodeQuery = "cn[001,003,9], @failed,login,@cause:3FA1C2!@g".parse().unwrap();
        assert!(query.has_known() && query.has_groups());
        let failed = Node { name: "cn7".into(), status: Status::Failed, ..Node::default() };
        let site = [("g".to_owned(), "cn9".to_owned())].into();
        let groups = provost_plan::Groups::default().with_site(site);
        let mut sets = Sets { nodes: Some(&[failed]), groups: groups.resolver() };
        assert_eq!(query.nodes(&mut sets).unwrap(), ["cn001", "cn003", "cn7", "login"]);
        let query: NodeQuery = "@fail".parse().unwrap();
        let error = query.nodes(&mut sets).unwrap_err();
        assert!(
            error.hint.ends_with("or @failed, @held, @status:STATUS or @cause:ID"),
            "{error:?}"
        );
        for bad in ["", " , ", "@", "@status:", "@status:gone", "@cause:", "cn1@failed"] {
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
            let query: NodeQuery = format!("@{text}").parse().unwrap();
            let set = query.expression.sets().next().unwrap();
            let known = Known::of(set).unwrap().unwrap();
            assert_eq!(
                [&failed, &held, &rerun, &booted].map(|node| known.has(node)),
                has,
                "@{text}"
            );
        }
    }
}

//! All nodes at a time, each with the failure group that it belongs to.

use std::collections::BTreeSet;
use std::sync::Arc;

use provost_store::{Node, Status, UpdateStatus, failure_id};

/// A node, and the failure group that it belongs to.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) node: Node,
    pub(crate) group: Option<String>,
    /// The version of the first snapshot that has it.
    pub(crate) version: u64,
}

impl Member {
    /// Whether its kickstart, its boot or its last rerun has failed.
    pub(crate) fn has_failed(&self) -> bool {
        let node = &self.node;
        node.status == Status::Failed || node.updatestatus == Some(UpdateStatus::Failed)
    }
}

/// All nodes at a time.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// By name.
    pub(crate) members: Vec<Arc<Member>>,
    /// Another one for each snapshot.
    pub(crate) version: u64,
}

impl Snapshot {
    /// Of `nodes`, by name.
    pub(crate) fn of(nodes: Vec<Node>, version: u64) -> Self {
        let members = nodes.into_iter().map(|node| member(node, version)).collect();
        Self { members, version }
    }

    /// Which of the members has that name.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.members.binary_search_by(|member| member.node.name.as_str().cmp(name)).ok()
    }

    /// The node of that name.
    pub(crate) fn member(&self, name: &str) -> Option<&Arc<Member>> {
        self.index(name).map(|at| &self.members[at])
    }

    /// Of how many nodes the kickstart, the boot or the last rerun has failed.
    pub(crate) fn failed(&self) -> usize {
        self.members.iter().filter(|member| member.has_failed()).count()
    }

    /// The same with what is known now of `names`: `found`, and nothing of the others.
    pub(crate) fn with(&self, names: BTreeSet<String>, found: Vec<Node>) -> Self {
        let version = self.version + 1;
        let mut members = self.members.clone();
        let mut found = found.into_iter().peekable();
        let mut new = Vec::new();
        for name in names {
            let node = found.next_if(|node| node.name == name);
            let at = members.binary_search_by(|member| member.node.name.cmp(&name));
            match (at, node) {
                (Ok(at), Some(node)) => members[at] = member(node, version),
                (Err(_), Some(node)) => new.push(member(node, version)),
                (Ok(at), None) => drop(members.remove(at)),
                (Err(_), None) => {}
            }
        }
        if !new.is_empty() {
            members.extend(new);
            members.sort_by(|a, b| a.node.name.cmp(&b.node.name));
        }
        Self { members, version }
    }
}

/// The node, as the snapshot `version` has it.
pub(crate) fn member(node: Node, version: u64) -> Arc<Member> {
    Arc::new(Member { group: failure_id(&node), node, version })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> Node {
        Node { name: name.to_owned(), ..Node::default() }
    }

    #[test]
    fn what_is_new_or_gone_is_seen() {
        let snapshot = Snapshot::of(["a", "c", "d", "e"].map(node).to_vec(), 0);
        let names = ["b", "c", "d", "f", "x"].map(str::to_owned).into();
        let changed = Node { program: Some("2".to_owned()), ..node("c") };
        let snapshot = snapshot.with(names, vec![node("b"), changed, node("f")]);
        let shown: Vec<&str> =
            snapshot.members.iter().map(|member| member.node.name.as_str()).collect();
        assert_eq!(shown, ["a", "b", "c", "e", "f"]);
        assert!(snapshot.member("c").is_some_and(|member| member.node.program.is_some()));
        assert!(snapshot.member("d").is_none());
    }
}

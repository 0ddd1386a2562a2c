//! What nodes that failed have in common, and the others don't.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Display, Formatter};

use super::fisher::{Fisher, Share};
use super::has_failed;
use crate::{FailureGroup, Node};

/// The share of nodes that failed which have a factor, at least, in percent. Else it isn't what they failed for.
const MOST_FAILED: usize = 80;
/// The share of the others which have it, at most, in percent.
const FEW_OTHERS: usize = 20;
/// How many nodes must have failed: one that stands alone always has something of its own.
const LEAST_FAILED: usize = 3;
/// How often chance may be taken for a factor, over all factors of a failure.
const ERROR_RATE: f64 = 0.01;
/// How many factors count at most for the correction: beyond it chance is rare enough.
const MOST_FACTORS: usize = 2_000;

/// What most nodes that failed have, and few others, and what chance doesn't explain.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// `bundle`, `program`, `group` or the name of a fact.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Of the nodes that failed.
    pub failed: Share,
    /// Of the nodes that haven't failed.
    pub others: Share,
    /// How probable it is that chance alone has distributed it so, or less evenly (Fisher's exact test, two-sided).
    pub probability: f64,
}

impl Display for Factor {
    /// `bundle 17: 24 of 24 failed have it, 0 of 488 others`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { name, value, failed, others, .. } = self;
        let name = if name == "memoryMiB" { "memory in MiB" } else { name };
        write!(f, "{name} {value}: {} of {} failed have it, ", failed.having, failed.of)?;
        write!(f, "{} of {} others", others.having, others.of)
    }
}

/// Which node is in which groups of the site.
pub type GroupsOfNode = HashMap<String, Vec<String>>;

/// The nodes that haven't failed, by their factors: what the failed ones are compared with.
struct Others<'a> {
    groups: &'a GroupsOfNode,
    /// By name of a factor, of how many nodes it is known.
    known: HashMap<&'static str, usize>,
    /// How many have it.
    having: HashMap<(&'static str, String), usize>,
    fisher: Fisher,
}

impl<'a> Others<'a> {
    /// Of `nodes`, those that haven't failed and have run something.
    fn of(nodes: &[Node], groups: &'a GroupsOfNode) -> Self {
        let mut others = Self {
            groups,
            known: HashMap::new(),
            having: HashMap::new(),
            fisher: Fisher::new(nodes.len()),
        };
        for node in nodes.iter().filter(|node| !has_failed(node) && node.run.is_some()) {
            count(node, groups, &mut others.known, &mut others.having);
        }
        others
    }

    /// What distinguishes the nodes of `failure` from the others, the least probable first. `node` finds a node by its
    /// name. Nothing is an answer.
    fn factors<'n>(
        &self,
        failure: &FailureGroup,
        node: impl Fn(&str) -> Option<&'n Node>,
    ) -> Vec<Factor> {
        if failure.nodes.len() < LEAST_FAILED {
            return Vec::new();
        }
        let (mut known, mut having) = (HashMap::new(), HashMap::new());
        for node in failure.nodes.iter().filter_map(|name| node(name)) {
            count(node, self.groups, &mut known, &mut having);
        }
        let new = having.keys().filter(|factor| !self.having.contains_key(*factor)).count();
        let all = (self.having.len() + new).clamp(1, MOST_FACTORS);
        let distinguishes = |((name, value), having): ((&'static str, String), usize)| {
            let failed = Share { having, of: known[name] };
            let others = Share {
                having: self.having.get(&(name, value.clone())).copied().unwrap_or_default(),
                of: self.known.get(name).copied().unwrap_or_default(),
            };
            let is_shared = failed.having * 100 >= failed.of * MOST_FAILED
                && others.having * 100 <= others.of * FEW_OTHERS;
            is_shared.then(|| Factor {
                name: name.to_owned(),
                value,
                failed,
                others,
                probability: self.fisher.two_sided(failed, others),
            })
        };
        let mut factors: Vec<Factor> = having.into_iter().filter_map(distinguishes).collect();
        factors.sort_by(|a, b| {
            let by_probability = a.probability.total_cmp(&b.probability);
            by_probability.then_with(|| (&a.name, &a.value).cmp(&(&b.name, &b.value)))
        });
        // Holm's correction: each is held against the number of those that aren't rejected yet.
        let is_chance = |(rank, factor): (usize, &Factor)| {
            factor.probability * (all - rank.min(all - 1)) as f64 > ERROR_RATE
        };
        let end = factors.iter().enumerate().position(is_chance).unwrap_or(factors.len());
        factors.truncate(end);
        factors
    }
}

/// What distinguishes the nodes of each of the `failures`, in the same order.
pub fn factors_of(
    failures: &[FailureGroup],
    nodes: &[Node],
    groups: &GroupsOfNode,
) -> Vec<Vec<Factor>> {
    if failures.iter().all(|failure| failure.nodes.len() < LEAST_FAILED) {
        return failures.iter().map(|_| Vec::new()).collect();
    }
    let others = Others::of(nodes, groups);
    let by_name: BTreeMap<&str, &Node> =
        nodes.iter().map(|node| (node.name.as_str(), node)).collect();
    let find = |name: &str| by_name.get(name).copied();
    failures.iter().map(|failure| others.factors(failure, find)).collect()
}

/// Adds a node's factors to how many nodes have each, and to of how many it is known whether they have it.
fn count(
    node: &Node,
    groups: &GroupsOfNode,
    known: &mut HashMap<&'static str, usize>,
    having: &mut HashMap<(&'static str, String), usize>,
) {
    let mut add = |name, value: String| *having.entry((name, value)).or_default() += 1;
    let mut note = |name| *known.entry(name).or_default() += 1;
    if let Some(bundle) = node.bundle {
        note("bundle");
        add("bundle", bundle.to_string());
    }
    if let Some(program) = &node.program {
        note("program");
        add("program", program.clone());
    }
    for name in FACTS {
        if let Some(value) = node.facts.get(name) {
            note(name);
            add(name, value.to_owned());
        }
    }
    note("group");
    for group in groups.get(&node.name).into_iter().flatten() {
        add("group", group.clone());
    }
}

/// The facts that are compared.
const FACTS: [&str; 8] =
    ["kernel", "os", "arch", "model", "firmware", "cpus", "memoryMiB", "image"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Detail, Facts, Status, failure_groups};

    fn node(n: usize, status: Status, bundle: u64, facts: &[(&'static str, String)]) -> Node {
        let message = (status == Status::Failed).then(|| "no disk".to_owned());
        Node {
            name: format!("cn{n:04}"),
            status,
            run: Some("0198".to_owned()),
            bundle: Some(bundle),
            facts: facts.iter().cloned().collect::<Facts>(),
            detail: Detail { error_message: message, ..Detail::default() },
            ..Node::default()
        }
    }

    fn lines(nodes: &[Node], groups: &GroupsOfNode) -> Vec<String> {
        let failures = failure_groups(nodes);
        factors_of(&failures, nodes, groups)[0].iter().map(Factor::to_string).collect()
    }

    #[test]
    fn what_the_failed_share_and_the_others_do_not_is_told_with_its_numbers() {
        let status = |n| if n < 24 { Status::Failed } else { Status::Booted };
        let kernel =
            |n: usize| [("kernel", if n.is_multiple_of(2) { "5.14" } else { "4.18" }.to_owned())];
        let nodes: Vec<Node> = (0..512)
            .map(|n| node(n, status(n), if n < 24 { 17 } else { 16 }, &kernel(n)))
            .collect();
        let expected = ["bundle 17: 24 of 24 failed have it, 0 of 488 others"];
        assert_eq!(lines(&nodes, &GroupsOfNode::new()), expected);

        let groups = (0..30).map(|n| (format!("cn{n:04}"), vec!["rack1".to_owned()])).collect();
        let found = lines(&nodes, &groups);
        assert_eq!(found[1], "group rack1: 24 of 24 failed have it, 6 of 488 others");
    }

    #[test]
    fn nothing_distinguishes_nodes_that_are_as_all_others() {
        let status = |n| if n < 24 { Status::Failed } else { Status::Booted };
        let nodes: Vec<Node> = (0..512).map(|n| node(n, status(n), 16, &[])).collect();
        assert_eq!(lines(&nodes, &GroupsOfNode::new()), [""; 0]);
    }

    #[test]
    fn a_fact_that_the_others_never_told_is_none() {
        let failed = (0..24).map(|n| node(n, Status::Failed, 16, &[("os", "rocky 9".to_owned())]));
        let others = (24..512).map(|n| node(n, Status::Booted, 16, &[]));
        let nodes: Vec<Node> = failed.chain(others).collect();
        assert_eq!(lines(&nodes, &GroupsOfNode::new()), [""; 0]);
    }

    #[test]
    fn two_nodes_and_a_factor_of_half_of_the_others_are_not_enough() {
        let nodes: Vec<Node> = (0..200)
            .map(|n| {
                node(n, if n < 2 { Status::Failed } else { Status::Booted }, n as u64 / 2, &[])
            })
            .collect();
        assert_eq!(lines(&nodes, &GroupsOfNode::new()), [""; 0]);
        let half: Vec<Node> = (0..512)
            .map(|n| {
                node(
                    n,
                    if n < 24 { Status::Failed } else { Status::Booted },
                    if n < 268 { 17 } else { 16 },
                    &[],
                )
            })
            .collect();
        assert_eq!(lines(&half, &GroupsOfNode::new()), [""; 0]);
    }
}

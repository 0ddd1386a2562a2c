//! What many nodes have in common, so that it is written once: for all nodes, and for each group of xCAT's.

use std::collections::{BTreeMap, BTreeSet};

use super::inventory::Env;
use super::xcat::Scripts;

/// What a section has.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Content {
    pub(super) scripts: Scripts,
    pub(super) env: Env,
}

impl Content {
    fn is_none(&self) -> bool {
        self.scripts.is_none() && self.env.is_empty()
    }
}

/// Some nodes, and what they have in common.
pub(super) struct Section {
    /// The group's name, or the nodes' names folded.
    pub(super) name: String,
    pub(super) nodes: Vec<String>,
    pub(super) content: Content,
}

/// Nodes' content, with what they have in common taken out.
pub(super) struct Factored {
    /// The variables of all nodes.
    pub(super) defaults: Env,
    /// Of the nodes that are in the same groups of xCAT's.
    pub(super) groups: Vec<Section>,
    /// What is left, of those that have the same.
    pub(super) nodes: Vec<(Vec<String>, Content)>,
}

/// Takes out what nodes have in common. `groups_of` has xCAT's groups of a node, in its own order; the
/// variables `overridden` can't be those of all nodes, because a section between sets them.
pub(super) fn factor(
    mut contents: BTreeMap<String, Content>,
    groups_of: impl Fn(&str) -> Vec<String>,
    overridden: &BTreeSet<String>,
) -> Factored {
    let mut defaults = Env::new();
    if contents.len() > 1 {
        defaults = common(contents.values());
        defaults.retain(|name, _| !overridden.contains(name));
        take_out(contents.values_mut(), &defaults);
    }
    let mut alike: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    let mut members: BTreeMap<String, usize> = BTreeMap::new();
    for node in contents.keys() {
        let groups = groups_of(node);
        for group in groups.iter().collect::<BTreeSet<_>>() {
            *members.entry(group.clone()).or_default() += 1;
        }
        alike.entry(groups).or_default().push(node.clone());
    }
    let mut groups = Vec::new();
    for (of, nodes) in alike.into_iter().filter(|(of, nodes)| !of.is_empty() && nodes.len() > 1) {
        let own = |contents: &BTreeMap<String, Content>| -> Vec<Content> {
            nodes.iter().filter_map(|node| contents.get(node).cloned()).collect()
        };
        let all = own(&contents);
        let env = common(all.iter());
        let scripts = all.first().map(|first| first.scripts.clone()).unwrap_or_default();
        let same = all.iter().all(|content| content.scripts == scripts);
        let scripts = if same { scripts } else { Scripts::default() };
        let content = Content { scripts, env };
        if content.is_none() {
            continue;
        }
        for node in &nodes {
            if let Some(own) = contents.get_mut(node) {
                own.env.retain(|name, _| !content.env.contains_key(name));
                if same {
                    own.scripts = Scripts::default();
                }
            }
        }
        // The group that has just these nodes gives its name.
        let just = of.iter().find(|group| members.get(*group) == Some(&nodes.len()));
        let name = just.cloned().unwrap_or_else(|| of.join("+"));
        groups.push(Section { name, nodes, content });
    }
    let in_group: BTreeSet<&String> = groups.iter().flat_map(|group| &group.nodes).collect();
    let mut rest: BTreeMap<Content, Vec<String>> = BTreeMap::new();
    for (node, content) in contents {
        if !(content.is_none() && in_group.contains(&node)) {
            rest.entry(content).or_default().push(node);
        }
    }
    let mut rest: Vec<_> = rest.into_iter().map(|(content, nodes)| (nodes, content)).collect();
    rest.sort_by(|a, b| a.0.cmp(&b.0));
    Factored { defaults, groups, nodes: rest }
}

/// The variables that have the same value in all.
fn common<'a>(mut all: impl Iterator<Item = &'a Content>) -> Env {
    let mut env = all.next().map(|first| first.env.clone()).unwrap_or_default();
    all.for_each(|other| env.retain(|name, value| other.env.get(name) == Some(value)));
    env
}

fn take_out<'a>(all: impl Iterator<Item = &'a mut Content>, common: &Env) {
    all.for_each(|content| content.env.retain(|name, _| !common.contains_key(name)));
}

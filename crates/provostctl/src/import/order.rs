use std::collections::BTreeMap;

use super::xcat::Xcat;

/// The groups that have scripts, in an order that is that of as many nodes' own lists of groups as
/// may be.
pub(super) fn order(xcat: &Xcat) -> Vec<String> {
    // How many nodes have which other groups before a group.
    let mut before: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for node in xcat.nodes() {
        let groups = xcat.groups_with_scripts(&node);
        for (at, group) in groups.iter().enumerate() {
            let others = before.entry(group.clone()).or_default();
            groups[..at].iter().for_each(|other| *others.entry(other.clone()).or_default() += 1);
        }
    }
    let mut order = Vec::new();
    let most = |others: &BTreeMap<String, usize>| others.values().sum::<usize>();
    while let Some(next) = before.iter().min_by_key(|(_, others)| most(others)) {
        let next = next.0.clone();
        before.remove(&next);
        for others in before.values_mut() {
            others.remove(&next);
        }
        order.push(next);
    }
    order
}

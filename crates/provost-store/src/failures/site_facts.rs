//! By what nodes are compared beside what they tell of themselves: their groups, and their bundle's scripts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use provost_api::admins::Publication;

/// Which node is in which groups of the site, and which versions of scripts each generation has.
#[derive(Clone, Debug, Default)]
pub struct SiteFacts {
    groups: HashMap<String, Vec<String>>,
    versions: BTreeMap<u64, Vec<String>>,
}

impl SiteFacts {
    /// Of the nodes of each group, and of what was published.
    pub fn new(
        groups: impl IntoIterator<Item = (String, Vec<String>)>,
        publications: &[Publication],
    ) -> Self {
        let mut of_node = HashMap::<String, Vec<String>>::new();
        for (group, nodes) in groups {
            for node in nodes {
                of_node.entry(node).or_default().push(group.clone());
            }
        }
        Self { groups: of_node, versions: versions(publications) }
    }

    /// The groups of a node.
    pub(super) fn groups_of(&self, node: &str) -> &[String] {
        self.groups.get(node).map_or(&[], Vec::as_slice)
    }

    /// The versions of those scripts of a generation that aren't the same in all; none if the generation isn't known.
    pub(super) fn versions_of(&self, generation: u64) -> Option<&[String]> {
        self.versions.get(&generation).map(Vec::as_slice)
    }
}

/// By generation, `SCRIPT of generation N` of each script that some generation has otherwise: N is the first one that
/// has it so.
fn versions(publications: &[Publication]) -> BTreeMap<u64, Vec<String>> {
    let generations: BTreeMap<u64, &BTreeMap<String, String>> =
        publications.iter().map(|one| (one.generation, &one.scripts)).collect();
    let paths: BTreeSet<&String> =
        generations.values().flat_map(|scripts| scripts.keys()).collect();
    let mut versions: BTreeMap<u64, Vec<String>> =
        generations.keys().map(|generation| (*generation, Vec::new())).collect();
    for path in paths {
        let mut first = HashMap::<Option<&String>, u64>::new();
        let of_each: Vec<(u64, bool, u64)> = generations
            .iter()
            .map(|(generation, scripts)| {
                let content = scripts.get(path);
                (*generation, content.is_some(), *first.entry(content).or_insert(*generation))
            })
            .collect();
        if first.len() < 2 {
            continue;
        }
        let mut was_there = false;
        for (generation, is_there, since) in of_each {
            let version = match is_there {
                true => format!("{path} of generation {since}"),
                false if was_there => format!("{path}, removed"),
                false => continue,
            };
            was_there |= is_there;
            versions.entry(generation).or_default().push(version);
        }
    }
    versions
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_version_is_named_after_the_first_generation_that_has_it() {
        let publication = |(generation, scripts): (u64, &[(&str, &str)])| Publication {
            number: generation,
            generation,
            at: Timestamp::UNIX_EPOCH,
            by: "ann".to_owned(),
            host: "mgmt".to_owned(),
            action: "publish".to_owned(),
            channel: None,
            scripts: scripts.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect(),
        };
        let all: [(u64, &[(&str, &str)]); 3] = [
            (4, &[("disk", "1"), ("same", "1"), ("gone", "1")]),
            (5, &[("disk", "2"), ("same", "1"), ("new", "1")]),
            (6, &[("disk", "1"), ("same", "1"), ("new", "2")]),
        ];
        let site = SiteFacts::new([], &all.map(publication));
        let of = |generation| site.versions_of(generation).unwrap().join("; ");
        assert_eq!(of(4), "disk of generation 4; gone of generation 4");
        assert_eq!(of(5), "disk of generation 5; gone, removed; new of generation 5");
        assert_eq!(of(6), "disk of generation 4; gone, removed; new of generation 6");
        assert_eq!(site.versions_of(7), None);
    }
}

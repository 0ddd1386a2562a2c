//! Groups of nodes by name: those of `site.toml`, then ClusterShell's.

mod clustershell;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::nodes::{Expression, NodesError, SetName, fold};

/// The source of a site's own groups: `@site:compute`.
const SITE: &str = "site";
/// How deep groups may name each other.
const MOST_DEEP: usize = 32;
/// How many names a hint has at most.
const MOST_NAMES: usize = 20;
/// How near a name must be to one that is unknown, from 0 to 1, to be suggested.
const NEAR: f64 = 0.8;

/// Groups, by source. A group's definition may name others, with ClusterShell's operators.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    sources: BTreeMap<String, BTreeMap<String, String>>,
    /// The sources of a name without one, in their order.
    defaults: Vec<String>,
    /// What isn't known of other groups, and why.
    unknown: Option<String>,
    /// What to do about a file that couldn't be read; any group may be in it.
    broken: Option<String>,
}

impl Groups {
    /// Groups that were used outside a `site.toml` before: by the names that it has for them, such as
    /// `@rack:r1`.
    pub fn used_before(used: &BTreeMap<String, String>) -> Self {
        let mut groups = Self { defaults: vec![String::new()], ..Self::default() };
        for (set, nodes) in used {
            let set = set.trim_start_matches('@');
            let (source, name) = set.split_once(':').unwrap_or(("", set));
            let source = groups.sources.entry(source.to_owned()).or_default();
            source.insert(name.to_owned(), nodes.clone());
        }
        groups
    }

    /// With a site's groups before all others.
    pub fn with_site(mut self, groups: BTreeMap<String, String>) -> Self {
        self.sources.insert(SITE.to_owned(), groups);
        self.defaults.insert(0, SITE.to_owned());
        self
    }

    /// Finds the nodes of groups.
    pub fn resolver(&self) -> Resolver<'_> {
        let (known, inside, used) = Default::default();
        Resolver { groups: self, known, inside, used }
    }

    /// Where a set is looked up, from inside a group of the source `inside`: a group of ClusterShell's
    /// names those of its own source.
    fn find(&self, set: &SetName, inside: Option<&str>) -> Option<(String, &str)> {
        let sources: Vec<&str> = match (&set.source, inside) {
            (Some(source), _) => vec![source],
            (None, Some(source)) if source != SITE => vec![source],
            (None, _) => self.defaults.iter().map(String::as_str).collect(),
        };
        sources.into_iter().find_map(|source| {
            Some((source.to_owned(), self.sources.get(source)?.get(&set.name)?.as_str()))
        })
    }

    /// All names, as they can be written.
    fn names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (source, groups) in &self.sources {
            let is_default = self.defaults.contains(source);
            names.extend(groups.keys().map(|name| match is_default {
                true => format!("@{name}"),
                false => format!("@{source}:{name}"),
            }));
        }
        names
    }

    fn unknown_set(&self, set: &SetName) -> NodesError {
        let text = set.to_string();
        let names = self.names();
        let is_near = |name: &&String| strsim::jaro_winkler(name, &text) > NEAR;
        let near: Vec<&str> = names.iter().filter(is_near).map(String::as_str).take(3).collect();
        let why = match near.is_empty() {
            true => "there is no such group".to_owned(),
            false => format!("there is no such group; near: {}", near.join(", ")),
        };
        let more = names.len().saturating_sub(MOST_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let some: Vec<&str> = names.iter().map(String::as_str).take(MOST_NAMES).collect();
        let is_source = |source: &String| self.sources.contains_key(source);
        let hint = match (&self.broken, &self.unknown, some.is_empty()) {
            (Some(broken), ..) => broken.clone(),
            _ if set.source.as_ref().is_some_and(|source| !is_source(source)) => by_command(&text),
            (None, Some(unknown), _) if near.is_empty() => unknown.clone(),
            (.., true) => "there are no groups: define it in site.toml ([groups.NAME]) and \
                             publish, or in ClusterShell's groups.d"
                .to_owned(),
            (.., false) => format!("write one of {}{more}", some.join(", ")),
        };
        NodesError::of_set(&text, why, Some(hint))
    }
}

/// How to use a group of a source that is a command.
fn by_command(set: &str) -> String {
    format!("let ClusterShell list the nodes, if it knows them: nodeset -e {set} | provostctl … -")
}

/// Finds the nodes of groups, each once.
#[derive(Debug)]
pub struct Resolver<'g> {
    groups: &'g Groups,
    known: HashMap<(String, String), Vec<String>>,
    /// The groups that are being resolved, each by the one before it.
    inside: Vec<(String, String)>,
    /// What a site has used of other sources: the name as written, and its nodes.
    used: BTreeMap<String, String>,
}

impl Resolver<'_> {
    /// What a site has used of other sources: the name as written, and its nodes.
    pub(crate) fn into_used(self) -> BTreeMap<String, String> {
        self.used
    }

    /// The nodes of a set.
    pub fn nodes(&mut self, set: &SetName) -> Result<Vec<String>, NodesError> {
        let groups = self.groups;
        let inside = self.inside.last().map(|(source, _)| source.as_str());
        let is_sites = inside.is_none_or(|source| source == SITE);
        let (source, definition) =
            groups.find(set, inside).ok_or_else(|| groups.unknown_set(set))?;
        let is_outside = is_sites && source != SITE;
        let key = (source, set.name.clone());
        let nodes = match self.known.get(&key) {
            Some(nodes) => nodes.clone(),
            None => self.define(set, key, definition)?,
        };
        if is_outside {
            self.used.insert(set.to_string(), fold(&nodes));
        }
        Ok(nodes)
    }

    fn define(
        &mut self,
        set: &SetName,
        key: (String, String),
        definition: &str,
    ) -> Result<Vec<String>, NodesError> {
        let refuse = |why: String| NodesError::of_set(&set.to_string(), why, None);
        if self.inside.contains(&key) {
            return Err(refuse("the group contains itself".to_owned()));
        }
        if self.inside.len() == MOST_DEEP {
            return Err(refuse(format!("groups name each other more than {MOST_DEEP} deep")));
        }
        if definition.trim().is_empty() {
            return Ok(Vec::new());
        }
        let text: Expression = definition.parse().map_err(|e: NodesError| refuse(e.to_string()))?;
        self.inside.push(key.clone());
        let nodes = text.nodes(|set| self.nodes(set));
        // With each group on the way to the wrong one.
        let nodes = nodes
            .map_err(|e| NodesError::of_set(&set.to_string(), e.to_string(), Some(e.hint())))?;
        self.inside.pop();
        self.known.insert(key, nodes.clone());
        Ok(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(groups: &Groups, text: &str) -> Result<String, NodesError> {
        let mut resolver = groups.resolver();
        let text: Expression = text.parse()?;
        text.nodes(|set| resolver.nodes(set)).map(|names| fold(&names))
    }

    fn of_site(groups: &[(&str, &str)]) -> Groups {
        let groups = groups.iter().map(|(name, nodes)| ((*name).to_owned(), (*nodes).to_owned()));
        Groups::default().with_site(groups.collect())
    }

    #[test]
    fn groups_name_each_other_in_any_order() {
        let groups = of_site(&[
            ("all", "@rack[1-2],login"),
            ("cpu", "@all!@gpu & @rack[1-2]"),
            ("gpu", "cn[1-2]"),
            ("none", ""),
            ("rack1", "cn[1-4]"),
            ("rack2", "cn[5-8]"),
        ]);
        assert_eq!(named(&groups, "@cpu").unwrap(), "cn[3-8]");
        assert_eq!(named(&groups, "@site:all!@rack[1-2]").unwrap(), "login");
        assert_eq!(named(&groups, "@none").unwrap(), "");
    }

    #[test]
    fn a_circle_and_a_deep_chain_are_refused() {
        let circle = of_site(&[("a", "x,@b"), ("b", "@c"), ("c", "@a")]);
        let error = named(&circle, "@a").unwrap_err().to_string();
        assert!(error.ends_with("the group contains itself"), "{error}");
        let name = |n: usize| format!("g{n:06}");
        let mut chain: BTreeMap<String, String> =
            (0..100_000).map(|n| (name(n), format!("@{}", name(n + 1)))).collect();
        chain.insert(name(100_000), "cn1".to_owned());
        let chain = Groups::default().with_site(chain);
        assert!(named(&chain, "@g000000").unwrap_err().to_string().contains("32 deep"));
        // Each twice the one before it.
        let mut double: BTreeMap<String, String> =
            (0..30).map(|n| (name(n), format!("@{0},@{0}", name(n + 1)))).collect();
        double.insert(name(30), "cn1".to_owned());
        assert_eq!(named(&Groups::default().with_site(double), "@g000000").unwrap(), "cn1");
    }

    #[test]
    fn an_unknown_group_is_told_with_the_names_that_are_near() {
        let groups = of_site(&[("compute", "cn1"), ("gpu", "cn2")]);
        let error = named(&groups, "cn1,@computes").unwrap_err();
        let near = "\"@computes\" names no nodes: there is no such group; near: @compute";
        assert_eq!(error.to_string(), near);
        assert_eq!(error.hint(), "write one of @compute, @gpu");
        let error = named(&groups, "@slurm:up").unwrap_err();
        assert!(error.hint().contains("nodeset -e @slurm:up | provostctl"), "{}", error.hint());
        assert!(named(&of_site(&[]), "@x").unwrap_err().hint().contains("there are no groups"));
    }

    #[test]
    fn what_was_used_before_is_found_by_the_same_names() {
        let used = [("@r:r1", "cn[1-2]"), ("@gpu", "cn2")];
        let used = used.map(|(name, nodes)| (name.to_owned(), nodes.to_owned())).into();
        let groups = Groups::used_before(&used);
        assert_eq!(named(&groups, "@r:r1!@gpu").unwrap(), "cn1");
        assert!(named(&groups, "@r1").is_err());
    }
}

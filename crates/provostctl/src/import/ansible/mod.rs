//! An inventory of Ansible: what its groups and hosts say, by Ansible's own rules.

mod found;
mod hosts;
mod ini;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub(super) use self::found::Ansible;
use self::found::Vars;

use serde_json::Value;

use super::inventory::{Env, Group, Inventory, Omitted};
use super::notes::Notes;
use super::unreadable::Unreadable;

/// Decides which of several groups counts more, where none contains the other.
const PRIORITY: &str = "ansible_group_priority";
/// So many groups may contain each other in turn.
const DEEPEST: usize = 100;
/// How a value begins that is encrypted.
const VAULT: &str = "$ANSIBLE_VAULT";

impl Ansible {
    /// Reads one file.
    pub(super) fn read(&mut self, path: &Path, text: &str) -> Result<(), Unreadable> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let is_said = |line: &&str| !line.is_empty() && !line.starts_with(['#', ';']);
        let first = text.lines().map(str::trim).find(is_said);
        match (extension, first) {
            (Some("yml" | "yaml" | "json"), _) => self.read_yaml(text),
            (_, Some(line)) if line == "---" || line.starts_with('{') || line.ends_with(':') => {
                self.read_yaml(text)
            }
            _ => self.read_ini(text),
        }
    }

    /// How many hosts there are.
    pub(super) fn count(&self) -> usize {
        self.hosts.len()
    }

    /// All of it, by Ansible's rules: `all`, then groups from parents to children, then the host.
    pub(super) fn inventory(mut self, notes: &mut Notes) -> Result<Inventory, String> {
        let mut depths = BTreeMap::new();
        for name in self.groups.keys() {
            self.deepen(name, 1, &mut depths)?;
        }
        let priority = |name: &String| {
            let value = self.groups.get(name).and_then(|group| group.vars.get(PRIORITY));
            value.map_or(Some(1), |v| v.as_i64().or_else(|| v.as_str()?.parse().ok())).unwrap_or(1)
        };
        let named = |name: &&String| !["all", "ungrouped"].contains(&name.as_str());
        let mut order: Vec<String> = self.groups.keys().filter(named).cloned().collect();
        order.sort_by_key(|name| (depths.get(name).copied(), priority(name), name.clone()));
        let mut omitted = std::mem::take(&mut self.omitted);
        let of = |name: &str| self.groups.get(name).map(|group| group.vars.clone());
        let all = of("all").unwrap_or_default().into_iter();
        let all: Vars = all.chain(of("ungrouped").unwrap_or_default()).collect();
        let mut inventory =
            Inventory { defaults: env(&all, "all", &mut omitted), ..Inventory::default() };
        for name in order {
            let mut nodes = BTreeSet::new();
            self.members(&name, &mut nodes, &mut BTreeSet::new());
            let env = env(&of(&name).unwrap_or_default(), &name, &mut omitted);
            inventory.groups.push(Group { name, nodes, env });
        }
        for (host, vars) in &self.hosts {
            let mut all = inventory.defaults.clone();
            for group in inventory.groups.iter().filter(|group| group.nodes.contains(host)) {
                all.extend(group.env.clone());
            }
            all.extend(env(vars, host, &mut omitted));
            inventory.nodes.insert(host.clone(), all);
        }
        omitted.note(notes);
        notes.add(
            "which scripts the nodes run: an inventory doesn't say; add postscripts to the sections"
                .to_owned(),
        );
        Ok(inventory)
    }

    /// Notes that the group is at least so deep below `all`, and its children deeper.
    fn deepen(
        &self,
        name: &str,
        depth: usize,
        depths: &mut BTreeMap<String, usize>,
    ) -> Result<(), String> {
        if depth > self.groups.len().min(DEEPEST) {
            return Err(format!("the group {name} contains itself, or too many others in turn"));
        }
        let known = depths.entry(name.to_owned()).or_default();
        if name == "all" || *known >= depth {
            return Ok(());
        }
        *known = depth;
        let children = self.groups.get(name).map(|group| &group.children);
        children.into_iter().flatten().try_for_each(|child| self.deepen(child, depth + 1, depths))
    }

    /// The hosts of a group and of those that it contains.
    fn members<'s>(
        &'s self,
        name: &'s str,
        nodes: &mut BTreeSet<String>,
        seen: &mut BTreeSet<&'s str>,
    ) {
        let Some(group) = self.groups.get(name).filter(|_| seen.insert(name)) else { return };
        nodes.extend(group.hosts.iter().cloned());
        group.children.iter().for_each(|child| self.members(child, nodes, seen));
    }
}

/// The variables that scripts can have.
fn env(vars: &Vars, of: &str, omitted: &mut Omitted) -> Env {
    let mut env = Env::new();
    for (name, value) in vars {
        let text = match value {
            _ if name == PRIORITY => continue,
            _ if name.starts_with("ansible_") => {
                omitted.add(name, "it configures Ansible, not a node", of);
                continue;
            }
            Value::String(text) if text.starts_with(VAULT) => Err("it is encrypted"),
            Value::String(text) if text.contains("{{") || text.contains("{%") => {
                Err("it is a template; write its value")
            }
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            // As Ansible writes them into a file.
            Value::Bool(is) => Ok(if *is { "True" } else { "False" }.to_owned()),
            Value::Null => Err("it has no value"),
            Value::Array(_) | Value::Object(_) => Err("it is no text but a list or a table"),
        };
        match text {
            Ok(text) => omitted.variable(&mut env, name, text, of),
            Err(why) => omitted.add(name, why, of),
        }
    }
    env
}

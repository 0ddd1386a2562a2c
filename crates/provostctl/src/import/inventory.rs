//! Nodes in groups, each with variables: what inventories have, as a `site.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use provost_plan::nodes;
use toml::Value;

use super::notes::Notes;

/// Variables by name.
pub(super) type Env = BTreeMap<String, String>;

/// What is known of the nodes.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    /// The variables of all nodes.
    pub(super) defaults: Env,
    /// The groups. What a later one says counts more.
    pub(super) groups: Vec<Group>,
    /// Each node with all its variables, those of its groups too.
    pub(super) nodes: BTreeMap<String, Env>,
}

/// Some nodes, and what is true of all of them.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) nodes: BTreeSet<String>,
    pub(super) env: Env,
}

/// Why something isn't carried over, and whose it is.
#[derive(Default)]
pub(super) struct Omitted(BTreeMap<(String, String), BTreeSet<String>>);

impl Omitted {
    pub(super) fn add(&mut self, what: &str, why: &str, of: &str) {
        let key = (what.to_owned(), why.to_owned());
        self.0.entry(key).or_default().insert(of.to_owned());
    }

    /// One note for all whose it is.
    pub(super) fn note(self, notes: &mut Notes) {
        for ((what, why), of) in self.0 {
            let of = nodes::fold(&of.into_iter().collect::<Vec<_>>());
            notes.add(format!("{what} of {of}: {why}"));
        }
    }

    /// Adds the variable to `env`, if a script can have it.
    pub(super) fn variable(&mut self, env: &mut Env, name: &str, value: String, of: &str) {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_digit = |c: char| c.is_ascii_digit();
        if name.is_empty() || name.starts_with(is_digit) || !name.chars().all(is_word) {
            self.add(name, "it can't be the name of a variable", of);
        } else if value.contains('\0') {
            self.add(name, "it has a NUL byte", of);
        } else {
            env.insert(name.to_owned(), value);
        }
    }
}

impl Inventory {
    /// Writes it. `from` is what it was read from.
    pub(super) fn write(mut self, from: &str, notes: &mut Notes) -> String {
        self.drop_impossible(notes);
        let mut text = format!(
            "# Written by `provostctl import {from}`. Add what the nodes run to its sections, such as\n\
             # postscripts = [\"syslog\"].\n\n"
        );
        section(&mut text, "[defaults]", None, &self.defaults);
        for group in &self.groups {
            if group.nodes.is_empty() {
                notes.add(format!("the group {}: it has no nodes", group.name));
                continue;
            }
            let heading = format!("[groups.{}]", key(&group.name));
            section(&mut text, &heading, Some(&group.nodes), &group.env);
        }
        // Nodes with the same variables of their own share a section.
        let mut alike: BTreeMap<Env, Vec<String>> = BTreeMap::new();
        for (node, env) in &self.nodes {
            let (is_grouped, given) = self.given(node);
            let is_own = |(name, value): &(&String, &String)| given.get(*name) != Some(*value);
            let own = env.iter().filter(is_own).map(|(name, value)| (name.clone(), value.clone()));
            let own: Env = own.collect();
            if !(is_grouped && own.is_empty()) {
                alike.entry(own).or_default().push(node.clone());
            }
        }
        let mut alike: Vec<_> = alike.into_iter().collect();
        alike.sort_by(|a, b| a.1.cmp(&b.1));
        for (env, names) in alike {
            section(&mut text, &format!("[nodes.{}]", key(&nodes::fold(&names))), None, &env);
        }
        text
    }

    /// Whether the node is in a group, and what all nodes and its groups give it.
    fn given(&self, node: &str) -> (bool, Env) {
        let (mut is_grouped, mut env) = (false, self.defaults.clone());
        for group in self.groups.iter().filter(|group| group.nodes.contains(node)) {
            is_grouped = true;
            env.extend(group.env.clone());
        }
        (is_grouped, env)
    }

    /// Removes nodes whose names can't be used.
    fn drop_impossible(&mut self, notes: &mut Notes) {
        let bad: Vec<String> =
            self.nodes.keys().filter(|node| !provost_plan::is_node_name(node)).cloned().collect();
        for node in bad {
            notes.add(format!("the node {node:?}: its name can't be used"));
            self.nodes.remove(&node);
            for group in &mut self.groups {
                group.nodes.remove(&node);
            }
        }
    }
}

fn section(text: &mut String, heading: &str, members: Option<&BTreeSet<String>>, env: &Env) {
    // Writing to a String can't fail, here and below.
    let _ = writeln!(text, "{heading}");
    if let Some(members) = members {
        let folded = nodes::fold(&members.iter().cloned().collect::<Vec<_>>());
        let _ = writeln!(text, "nodes = {}", Value::String(folded));
    }
    for (name, value) in env {
        let _ = writeln!(text, "env.{name} = {}", Value::String(value.clone()));
    }
    text.push('\n');
}

/// A name as a part of a heading.
pub(super) fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !name.is_empty() && name.chars().all(bare) {
        true => name.to_owned(),
        false => Value::String(name.to_owned()).to_string(),
    }
}

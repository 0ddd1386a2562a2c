//! A `site.toml` that gives the same scripts in the same order to the same nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use provost_plan::{Step, nodes};
use toml::Value;

use super::order::order;
use super::xcat::{DEFAULTS, Scripts, Xcat};

/// A node's environment, by xCAT's names: the attributes that its tables have for it.
const ENVIRONMENT: [(&str, &str); 11] = [
    ("OSVER", "os"),
    ("ARCH", "arch"),
    ("PROFILE", "profile"),
    ("PROVMETHOD", "provmethod"),
    ("MASTER", "xcatmaster"),
    ("NFSSERVER", "nfsserver"),
    ("INSTALLNIC", "installnic"),
    ("PRIMARYNIC", "primarynic"),
    ("NODEROUTENAMES", "routenames"),
    ("MACADDRESS", "mac"),
    ("IPADDR", "ip"),
];

/// What stands in lsdef as `nicips.eth0`, and in the environment as `NICIPS=eth0!…`.
const NICS: [&str; 7] = [
    "nicips",
    "nictypes",
    "nicnetworks",
    "nichostnamesuffixes",
    "nicextraparams",
    "nicdevices",
    "niccustomscripts",
];

/// The text, and what couldn't be carried over.
pub(super) fn write(xcat: &Xcat) -> (String, Vec<String>) {
    let mut out = Writer {
        xcat,
        text: HEAD.to_owned(),
        notes: Vec::new(),
        resplit: BTreeSet::new(),
        apart: BTreeSet::new(),
    };
    out.defaults();
    out.images();
    out.groups();
    out.nodes();
    out.leftovers();
    let resplit = out.resplit.into_iter().map(Value::String).collect();
    // A key of the whole file has to stand before its sections.
    let text = match Value::Array(resplit) {
        Value::Array(names) if names.is_empty() => out.text,
        names => out.text.replacen("\n[", &format!("\n{RESPLIT}resplit = {names}\n\n["), 1),
    };
    (text, out.notes)
}

const HEAD: &str = "# Made of an xCAT management node's tables by `provostctl import xcat`.\n\n";
const RESPLIT: &str = "# Their quoted arguments are split at blanks once more, as xCAT does it.\n";

struct Writer<'a> {
    xcat: &'a Xcat,
    text: String,
    notes: Vec<String>,
    resplit: BTreeSet<String>,
    /// The nodes whose own list of groups has another order than the file's: what their groups run
    /// stands in their own sections.
    apart: BTreeSet<String>,
}

impl Writer<'_> {
    fn defaults(&mut self) {
        let xcat = self.xcat;
        let mut env = BTreeMap::new();
        for (key, value) in &xcat.site {
            let name = if key == "master" { "SITEMASTER".to_owned() } else { key.to_uppercase() };
            self.variable(&mut env, &name, value, &format!("site.{key}"));
        }
        if let Some(master) = xcat.site.get("master") {
            env.insert("MASTER".to_owned(), master.clone());
        }
        let scripts = xcat.scripts.get(DEFAULTS).cloned().unwrap_or_default();
        let heading = match is_yes(xcat.site.get("runbootscripts")) {
            true => "[defaults]\nrunbootscripts = true",
            false => "[defaults]",
        };
        self.section(heading, None, &scripts, &env, DEFAULTS);
    }

    /// The images that have scripts, as groups of the nodes that have them.
    fn images(&mut self) {
        let xcat = self.xcat;
        for (image, scripts) in xcat.images.iter().filter(|(_, s)| **s != Scripts::default()) {
            let has_it = |node: &String| xcat.attribute(node, "provmethod") == Some(image);
            let nodes = self.possible(xcat.nodes().into_iter().filter(has_it).collect());
            if nodes.is_empty() {
                continue;
            }
            if !xcat.has_scripts {
                self.notes.push(format!(
                    "that the scripts of xcatdefaults come before those of the image {image}: give \
                     what `tabdump postscripts` prints, too"
                ));
            }
            let heading = format!("[groups.{}]", key(&format!("osimage-{image}")));
            self.section(&heading, Some(&nodes), scripts, &BTreeMap::new(), image);
        }
    }

    /// The groups that have scripts, in an order that is that of each node's own list of groups; but
    /// for the nodes to which no order does justice.
    fn groups(&mut self) {
        let xcat = self.xcat;
        let order = order(xcat);
        let place = |group: &String| order.iter().position(|other| other == group);
        let mut members: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for node in xcat.nodes() {
            let groups = xcat.groups_with_scripts(&node);
            if groups.is_sorted_by_key(place) {
                for group in groups {
                    members.entry(group).or_default().push(node.clone());
                }
            } else {
                self.apart.insert(node);
            }
        }
        for group in &order {
            let nodes = self.possible(members.remove(group).unwrap_or_default());
            let scripts = xcat.scripts.get(group).cloned().unwrap_or_default();
            let heading = format!("[groups.{}]", key(group));
            if !nodes.is_empty() {
                self.section(&heading, Some(&nodes), &scripts, &BTreeMap::new(), group);
            }
        }
    }

    /// Nodes that have the same are told of together.
    fn nodes(&mut self) {
        let xcat = self.xcat;
        let mut alike: BTreeMap<(Scripts, BTreeMap<String, String>), Vec<String>> = BTreeMap::new();
        for node in self.possible(xcat.nodes()) {
            let env = self.environment(&node);
            let mut scripts = xcat.own_scripts(&node);
            if self.apart.contains(&node) {
                let of = |group: &String| xcat.scripts.get(group).cloned();
                let all: Vec<_> = xcat.groups_with_scripts(&node).iter().filter_map(of).collect();
                scripts = all.into_iter().rev().fold(scripts, |rest, first| first.then(&rest));
            }
            alike.entry((scripts, env)).or_default().push(node);
        }
        let mut alike: Vec<_> = alike.into_iter().collect();
        alike.sort_by(|a, b| a.1.cmp(&b.1));
        for ((scripts, env), names) in alike {
            let folded = nodes::fold(&names);
            self.section(&format!("[nodes.{}]", key(&folded)), None, &scripts, &env, &folded);
        }
    }

    fn environment(&mut self, node: &str) -> BTreeMap<String, String> {
        let xcat = self.xcat;
        let groups = xcat.groups_of(node);
        // xCAT wants every service node to be in that group.
        let kind =
            if groups.iter().any(|group| group == "service") { "service" } else { "compute" };
        let mut env = BTreeMap::from([("NTYPE".to_owned(), kind.to_owned())]);
        env.insert("GROUP".to_owned(), groups.join(","));
        for (name, attribute) in ENVIRONMENT {
            if let Some(value) = xcat.attribute(node, attribute) {
                self.variable(&mut env, name, value, &format!("{attribute} of {node}"));
            }
        }
        let Some(defined) = xcat.defined.get(node) else { return env };
        for nic in NICS {
            let prefix = format!("{nic}.");
            let of = |(name, value): (&String, &String)| {
                Some(format!("{}!{value}", name.strip_prefix(&prefix)?))
            };
            let values: Vec<String> = defined.iter().filter_map(of).collect();
            if !values.is_empty() {
                env.insert(nic.to_uppercase(), values.join(","));
            }
        }
        env
    }

    fn variable(
        &mut self,
        env: &mut BTreeMap<String, String>,
        name: &str,
        value: &str,
        from: &str,
    ) {
        let sound = !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !sound || name.is_empty() {
            self.notes.push(format!("{from}: {name:?} can't be the name of a variable"));
        } else if value.starts_with('|') && value.ends_with('|') && value.len() > 1 {
            self.notes
                .push(format!("{from}: {value} is a pattern; write what it means for each node"));
        } else if !value.is_empty() {
            env.insert(name.to_owned(), value.to_owned());
        }
    }

    /// The nodes whose names can be used.
    fn possible(&mut self, nodes: Vec<String>) -> Vec<String> {
        let (good, bad): (Vec<_>, Vec<_>) =
            nodes.into_iter().partition(|node| provost_plan::is_node_name(node));
        for node in bad {
            let note = format!("the node {node:?}: such a name can't be used");
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        good
    }

    fn section(
        &mut self,
        heading: &str,
        nodes: Option<&[String]>,
        scripts: &Scripts,
        env: &BTreeMap<String, String>,
        of: &str,
    ) {
        let post = self.list(&scripts.postscripts, of);
        let boot = self.list(&scripts.postbootscripts, of);
        let _ = writeln!(self.text, "{heading}");
        if let Some(nodes) = nodes {
            let _ = writeln!(self.text, "nodes = {}", Value::String(nodes::fold(nodes)));
        }
        for (name, list) in [("postscripts", post), ("postbootscripts", boot)] {
            if !list.is_empty() {
                let _ = writeln!(self.text, "{name} = {}", Value::Array(list));
            }
        }
        for (name, value) in env {
            let _ = writeln!(self.text, "env.{name} = {}", Value::String(value.clone()));
        }
        self.text.push('\n');
    }

    /// The steps of a list as xCAT splits it: at each comma.
    fn list(&mut self, list: &str, of: &str) -> Vec<Value> {
        let mut steps = Vec::new();
        for item in super::xcat::names(list) {
            match Step::parse(&item) {
                Ok(step) => {
                    if step.args.iter().any(|arg| arg.contains(char::is_whitespace)) {
                        self.resplit.insert(step.script.clone());
                    }
                    if step.args.iter().any(|arg| arg.contains(['*', '?', '['])) {
                        self.notes.push(format!(
                            "{item:?} of {of}: xCAT puts names of files in place of the pattern; \
                             here the script gets the pattern"
                        ));
                    }
                    steps.push(Value::String(item));
                }
                Err(e) => self.notes.push(format!("a script of {of}: {e} ({})", e.hint())),
            }
        }
        steps
    }

    /// What no section can say.
    fn leftovers(&mut self) {
        let xcat = self.xcat;
        let nodes = xcat.nodes();
        let mut known: BTreeSet<String> = nodes.iter().flat_map(|n| xcat.groups_of(n)).collect();
        known.extend(nodes);
        known.extend(xcat.dynamic.iter().cloned());
        known.insert(DEFAULTS.to_owned());
        for row in xcat.scripts.keys().filter(|row| !known.contains(*row)) {
            self.notes.push(format!(
                "the scripts of {row}: no node has that name, or is in a group of that name, as \
                 these files tell"
            ));
        }
        for group in &xcat.dynamic {
            if xcat.scripts.contains_key(group) || xcat.attributes.contains_key(group) {
                let name = key(group);
                self.notes.push(format!(
                    "the group {group}: a rule tells who is in it; write its nodes as \
                     [groups.{name}] nodes = \"…\""
                ));
            }
        }
        let unknown = |method: &&str| !is_method(method) && !xcat.images.contains_key(*method);
        let images = xcat.nodes().into_iter().filter_map(|node| {
            xcat.attribute(&node, "provmethod").filter(unknown).map(str::to_owned)
        });
        for image in images.collect::<BTreeSet<_>>() {
            self.notes.push(format!(
                "scripts of the image {image}, if it has any: give what `lsdef -t osimage -l -z` \
                 prints, too"
            ));
        }
    }
}

/// Ways of provisioning that name no image.
fn is_method(method: &str) -> bool {
    matches!(method, "install" | "netboot" | "statelite" | "boot")
}

fn is_yes(value: Option<&String>) -> bool {
    value.is_some_and(|v| matches!(v.to_ascii_lowercase().as_str(), "1" | "yes" | "y"))
}

/// A name as a part of a heading.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !name.is_empty() && name.chars().all(bare) {
        true => name.to_owned(),
        false => Value::String(name.to_owned()).to_string(),
    }
}

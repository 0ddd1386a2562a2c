//! A `site.toml` that gives the same scripts in the same order to the same nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use provost_plan::{mypostscript, nodes};
use toml::Value;

use super::environment::Environments;
use super::factor::{Content, Factored, Section, factor};
use super::inventory::key;
use super::notes::Notes;
use super::xcat::{DEFAULTS, Scripts, Xcat, is_method, names};

/// A `site.toml`, and what couldn't be carried over.
pub(super) struct Imported {
    pub(super) text: String,
    pub(super) notes: Notes,
}

/// Writes the `site.toml`. `read` is what nodes run by their own files; without it, it follows from the
/// tables.
pub(super) fn write(
    xcat: &Xcat,
    read: Option<BTreeMap<String, Content>>,
    notes: Notes,
) -> Imported {
    let mut out = Writer { xcat, text: HEAD.to_owned(), notes, served: BTreeSet::new() };
    let is_read = read.is_some();
    let images = if is_read { Vec::new() } else { out.images() };
    let mut groups = if is_read { Vec::new() } else { out.groups() };
    let contents = read.unwrap_or_else(|| out.contents());
    let of_images = images.iter().flat_map(|image| image.content.env.keys().cloned()).collect();
    let groups_of = |node: &str| xcat.groups_of(node);
    let Factored { defaults, groups: shared, nodes } = factor(contents, groups_of, &of_images);
    out.defaults(defaults, is_read);
    for mut section in shared {
        let there = groups.iter_mut().find(|group| group.name == section.name);
        match there {
            Some(there) if there.nodes == section.nodes => there.content.env = section.content.env,
            Some(_) => {
                // Other nodes have that group's scripts.
                section.name += "-env";
                groups.push(section);
            }
            None => groups.push(section),
        }
    }
    for Section { name, nodes, content } in images.into_iter().chain(groups) {
        let heading = format!("[groups.{}]", key(&name));
        out.section(&heading, Some(&nodes), &content.scripts, &content.env, &name);
    }
    for (names, content) in nodes {
        let folded = nodes::fold(&names);
        let heading = format!("[nodes.{}]", key(&folded));
        out.section(&heading, None, &content.scripts, &content.env, &folded);
    }
    if !is_read {
        out.leftovers();
        out.environments().note_missing();
    }
    Imported { text: out.text, notes: out.notes }
}

const HEAD: &str =
    "# Written by `provostctl import xcat` from an xCAT management node's tables.\n\n";

struct Writer<'a> {
    xcat: &'a Xcat,
    text: String,
    notes: Notes,
    /// The nodes whose own sections need no scripts: a group's has them.
    served: BTreeSet<String>,
}

impl Writer<'_> {
    fn environments(&mut self) -> Environments<'_> {
        Environments::new(self.xcat, &mut self.notes)
    }

    /// The section of all nodes, which have the variables `common`.
    fn defaults(&mut self, common: BTreeMap<String, String>, is_read: bool) {
        let xcat = self.xcat;
        let mut env = if is_read { BTreeMap::new() } else { self.environments().of_all() };
        env.extend(common);
        let scripts = xcat.row(DEFAULTS);
        if !xcat.has_scripts {
            self.notes.add(
                "the scripts of xcatdefaults, which come before those of images and nodes: add the \
                 output of `tabdump postscripts`"
                    .to_owned(),
            );
        }
        let heading = match is_yes(xcat.site.get("runbootscripts")) {
            true => "[defaults]\nrunbootscripts = true",
            false => "[defaults]",
        };
        self.section(heading, None, &scripts, &env, DEFAULTS);
    }

    /// The images, as groups of the nodes that have them.
    fn images(&mut self) -> Vec<Section> {
        let xcat = self.xcat;
        let mut sections = Vec::new();
        for (image, attributes) in &xcat.images {
            let has_it = |node: &String| xcat.attribute(node, "provmethod").as_ref() == Some(image);
            let nodes = self.possible(xcat.nodes().into_iter().filter(has_it).collect());
            let scripts = Scripts::of(attributes);
            self.unnamed(image, &scripts);
            let env = self.environments().of_image(image);
            if !(nodes.is_empty() || scripts.is_none() && env.is_empty()) {
                let content = Content { scripts, env };
                sections.push(Section { name: format!("osimage-{image}"), nodes, content });
            }
        }
        sections
    }

    /// Notes an image with scripts that nodes name only by its parts: whether they run depends on
    /// xCAT's version.
    fn unnamed(&mut self, image: &str, scripts: &Scripts) {
        let xcat = self.xcat;
        let by_its_parts = |node: &String| {
            let parts = ["os", "arch", "provmethod", "profile"];
            let parts: Option<Vec<_>> =
                parts.map(|of| xcat.attribute(node, of)).into_iter().collect();
            parts.is_some_and(|parts| is_method(&parts[2]) && parts.join("-") == *image)
        };
        let nodes: Vec<_> = xcat.nodes().into_iter().filter(by_its_parts).collect();
        if !(nodes.is_empty() || scripts.is_none()) {
            self.notes.add(format!(
                "the scripts of the image {image}: the provmethod of {} names no image, and then an \
                 old xCAT runs them, and a new one doesn't; to run them: chdef provmethod={image}",
                nodes::fold(&nodes)
            ));
        }
    }

    /// The scripts that nodes get from their groups. In a site.toml the groups add up; in xCAT the
    /// first group that has scripts counts. So each node is written to the one group that has just
    /// what it gets.
    fn groups(&mut self) -> Vec<Section> {
        let xcat = self.xcat;
        let mut alike: BTreeMap<(String, Scripts), Vec<String>> = BTreeMap::new();
        for node in self.possible(xcat.nodes()) {
            let scripts = xcat.scripts(&node);
            let mut groups = xcat.groups_of(&node);
            groups.retain(|group| !xcat.row(group).is_none());
            let just = groups.iter().find(|group| xcat.row(group) == scripts);
            // A group with other scripts can't give its name.
            let several = if groups.len() > 1 { groups.join("+") } else { String::new() };
            let name = just.cloned().unwrap_or(several);
            if xcat.row(&node).is_none() && !name.is_empty() && !scripts.is_none() {
                alike.entry((name, scripts)).or_default().push(node);
            }
        }
        let mut names = BTreeSet::new();
        let mut sections = Vec::new();
        for ((name, scripts), nodes) in alike {
            let is_a_group = !xcat.row(&name).is_none();
            if (is_a_group || nodes.len() > 1) && names.insert(name.clone()) {
                self.served.extend(nodes.iter().cloned());
                let content = Content { scripts, env: BTreeMap::new() };
                sections.push(Section { name, nodes, content });
            }
        }
        sections
    }

    /// What each node has of its own, besides what a group's section gives it.
    fn contents(&mut self) -> BTreeMap<String, Content> {
        let mut contents = BTreeMap::new();
        for node in self.possible(self.xcat.nodes()) {
            let env = self.environments().of_node(&node);
            let served = self.served.contains(&node);
            let scripts = if served { Scripts::default() } else { self.xcat.scripts(&node) };
            contents.insert(node, Content { scripts, env });
        }
        contents
    }

    /// The nodes whose names can be used.
    fn possible(&mut self, nodes: Vec<String>) -> Vec<String> {
        let (good, bad): (Vec<_>, Vec<_>) =
            nodes.into_iter().partition(|node| provost_plan::is_node_name(node));
        for node in bad {
            let note = format!("the node {node:?}: its name can't be used");
            self.notes.add(note);
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
        let post = self.list(&scripts.postscripts, env, of);
        let boot = self.list(&scripts.postbootscripts, env, of);
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

    /// The steps of a list as xCAT splits it: at each comma. Their words are made by `env`, the section's.
    fn list(&mut self, list: &str, env: &BTreeMap<String, String>, of: &str) -> Vec<Value> {
        let mut steps = Vec::new();
        for item in names(list) {
            if let Some(unknown) = mypostscript::variables(&item).find(|v| !env.contains_key(*v)) {
                self.notes.add(format!(
                    "{item:?} of {of}: ${unknown} isn't known here; write the step with its value, or import by \
                     --mypostscripts"
                ));
                continue;
            }
            match mypostscript::step(&item, env) {
                Ok(step) => {
                    if step.args.iter().any(|arg| arg.contains(['*', '?', '['])) {
                        self.notes.add(format!(
                            "{item:?} of {of}: xCAT replaces the pattern by file names; \
                             here the script gets the pattern"
                        ));
                    }
                    steps.push(Value::String(step.to_string()));
                }
                Err(e) => self.notes.add(format!("a script of {of}: {} ({})", e.message, e.hint)),
            }
        }
        steps
    }

    /// Notes what a section can't have.
    fn leftovers(&mut self) {
        let xcat = self.xcat;
        let nodes = xcat.nodes();
        let mut known: BTreeSet<String> = nodes.iter().flat_map(|n| xcat.groups_of(n)).collect();
        known.extend(nodes);
        known.extend(xcat.dynamic.iter().cloned());
        known.insert(DEFAULTS.to_owned());
        let rows = xcat.attributes.keys().filter(|row| !xcat.row(row).is_none());
        for row in rows.filter(|row| !known.contains(*row)) {
            self.notes.add(format!(
                "the scripts of {row}: these files have no node and no group of that name"
            ));
        }
        let is_ppc64 = |node: &&String| xcat.attribute(node, "arch").as_deref() == Some("ppc64");
        let ppc64: Vec<_> = xcat.nodes().iter().filter(is_ppc64).cloned().collect();
        if !ppc64.is_empty() {
            self.notes.add(format!(
                "setbootfromdisk and setbootfromnet, which xCAT adds to the postscripts of {}, because \
                 their arch is ppc64",
                nodes::fold(&ppc64)
            ));
        }
        for group in &xcat.dynamic {
            if xcat.attributes.contains_key(group) {
                let name = key(group);
                self.notes.add(format!(
                    "the group {group}: a rule decides its nodes; set them as \
                     [groups.{name}] nodes = \"…\""
                ));
            }
        }
        let unknown = |method: &String| !is_method(method) && !xcat.images.contains_key(method);
        let nodes = xcat.nodes().into_iter();
        let images = nodes.filter_map(|node| xcat.attribute(&node, "provmethod").filter(unknown));
        for image in images.collect::<BTreeSet<_>>() {
            self.notes.add(format!(
                "scripts of the image {image}, if it has any: add the output of `lsdef -t osimage -l \
                 -z`"
            ));
        }
    }
}

fn is_yes(value: Option<&String>) -> bool {
    value.is_some_and(|v| matches!(v.to_ascii_lowercase().as_str(), "1" | "yes" | "y"))
}

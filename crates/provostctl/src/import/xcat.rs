//! What an xCAT management node prints: tables as CSV, node definitions as stanzas.

use std::collections::BTreeMap;

/// Tables and definitions, put together.
#[derive(Default)]
pub(super) struct Xcat {
    /// The site table.
    pub(super) site: BTreeMap<String, String>,
    /// The postscripts table, by node, group or `xcatdefaults`.
    pub(super) scripts: BTreeMap<String, Scripts>,
    /// The attributes of nodes and groups, from nodetype and noderes.
    pub(super) attributes: BTreeMap<String, BTreeMap<String, String>>,
    /// The groups of each node, in its own order, from nodelist.
    groups: BTreeMap<String, Vec<String>>,
    /// The groups whose members a rule tells.
    pub(super) dynamic: Vec<String>,
    /// The attributes of nodes as lsdef shows them: groups' and defaults' are merged into them.
    pub(super) defined: BTreeMap<String, BTreeMap<String, String>>,
    /// The scripts of images, by the images' names.
    pub(super) images: BTreeMap<String, Scripts>,
    /// Whether there was a postscripts table, which says more than lsdef does.
    pub(super) has_scripts: bool,
}

/// A row of the postscripts table.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Scripts {
    pub(super) postscripts: String,
    pub(super) postbootscripts: String,
}

impl Scripts {
    /// As lsdef shows them.
    fn of(attributes: &BTreeMap<String, String>) -> Self {
        let of = |name| attributes.get(name).cloned().unwrap_or_default();
        Self { postscripts: of("postscripts"), postbootscripts: of("postbootscripts") }
    }

    /// These, and then `rest`.
    pub(super) fn then(&self, rest: &Self) -> Self {
        let both = |one: &str, other: &str| format!("{one},{other}");
        Self {
            postscripts: both(&self.postscripts, &rest.postscripts),
            postbootscripts: both(&self.postbootscripts, &rest.postbootscripts),
        }
    }
}

/// Why a file can't be read.
pub(super) struct Unreadable {
    pub(super) line: usize,
    pub(super) what: String,
}

/// How xCAT calls the row that all nodes have.
pub(super) const DEFAULTS: &str = "xcatdefaults";

impl Xcat {
    /// Takes in one file; its content tells what it is.
    pub(super) fn read(&mut self, text: &str) -> Result<(), Unreadable> {
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        match first.strip_prefix('#') {
            Some(header) if header.contains(',') => self.table(text),
            _ => self.stanzas(text),
        }
    }

    /// The nodes, by name.
    pub(super) fn nodes(&self) -> Vec<String> {
        let mut nodes: Vec<_> = self.groups.keys().chain(self.defined.keys()).cloned().collect();
        nodes.sort();
        nodes.dedup();
        nodes
    }

    /// A node's groups, in its own order.
    pub(super) fn groups_of(&self, node: &str) -> Vec<String> {
        let defined = || {
            let groups = self.defined.get(node).and_then(|attributes| attributes.get("groups"));
            groups.map(|groups| names(groups))
        };
        self.groups.get(node).cloned().or_else(defined).unwrap_or_default()
    }

    /// Those of them that have scripts.
    pub(super) fn groups_with_scripts(&self, node: &str) -> Vec<String> {
        let mut groups = self.groups_of(node);
        groups.retain(|group| self.scripts.contains_key(group));
        groups
    }

    /// What a node has as `name`: its own, else that of the first of its groups that has one.
    pub(super) fn attribute(&self, node: &str, name: &str) -> Option<&str> {
        let of = |key: &str| self.attributes.get(key).and_then(|a| a.get(name));
        let own = of(node).or_else(|| self.groups_of(node).iter().find_map(|group| of(group)));
        own.or_else(|| self.defined.get(node).and_then(|a| a.get(name))).map(String::as_str)
    }

    /// What a node runs by its own row; by all that lsdef shows, if there is no table.
    pub(super) fn own_scripts(&self, node: &str) -> Scripts {
        if self.has_scripts {
            return self.scripts.get(node).cloned().unwrap_or_default();
        }
        self.defined.get(node).map(Scripts::of).unwrap_or_default()
    }

    fn table(&mut self, text: &str) -> Result<(), Unreadable> {
        let mut rows = rows(text)?.into_iter();
        let (_, mut header) = rows.next().unwrap_or_default();
        if let Some(first) = header.first_mut() {
            *first = first.trim_start_matches('#').to_owned();
        }
        let keys: Vec<&str> = header.iter().map(String::as_str).collect();
        for (line, row) in rows {
            if row.len() > header.len() {
                let what = format!("{} columns, where the table has {}", row.len(), header.len());
                return Err(Unreadable { line, what });
            }
            let row: BTreeMap<&str, String> = keys.iter().copied().zip(row).collect();
            let of = |name: &str| row.get(name).cloned().unwrap_or_default();
            if matches!(of("disable").to_ascii_lowercase().as_str(), "1" | "yes" | "y") {
                continue;
            }
            match keys[..] {
                ["key", "value", ..] => {
                    self.site.insert(of("key"), of("value"));
                }
                ["node", "postscripts", ..] => {
                    self.has_scripts = true;
                    let (postscripts, postbootscripts) = (of("postscripts"), of("postbootscripts"));
                    self.scripts.insert(of("node"), Scripts { postscripts, postbootscripts });
                }
                ["node", "groups", ..] => {
                    self.groups.insert(of("node"), names(&of("groups")));
                }
                ["groupname", ..] => {
                    if of("grouptype") == "dynamic" || !of("wherevals").is_empty() {
                        self.dynamic.push(of("groupname"));
                    }
                }
                ["node", ..] if keys.contains(&"provmethod") || keys.contains(&"installnic") => {
                    let attributes = self.attributes.entry(of("node")).or_default();
                    for (name, value) in &row {
                        if !matches!(*name, "node" | "comments" | "disable") && !value.is_empty() {
                            attributes.insert((*name).to_owned(), value.clone());
                        }
                    }
                }
                _ => {
                    let what = format!("a table with the columns {} isn't known", keys.join(","));
                    return Err(Unreadable { line: 1, what });
                }
            }
        }
        Ok(())
    }

    /// `NAME:` and below it `attribute=value`, indented.
    fn stanzas(&mut self, text: &str) -> Result<(), Unreadable> {
        let mut node: Option<String> = None;
        for (line, text) in (1..).zip(text.lines()) {
            let bare = text.trim();
            if bare.is_empty() || bare.starts_with('#') {
                continue;
            }
            let indented = text.starts_with([' ', '\t']);
            match (&node, bare.strip_suffix(':'), bare.split_once('=')) {
                (_, Some(name), _) if !indented => {
                    self.defined.insert(name.to_owned(), BTreeMap::new());
                    node = Some(name.to_owned());
                }
                (Some(node), _, Some((name, value))) if indented => {
                    let attributes = self.defined.entry(node.clone()).or_default();
                    attributes.insert(name.to_owned(), value.to_owned());
                }
                _ => {
                    let what = "this is neither a table nor a stanza".to_owned();
                    return Err(Unreadable { line, what });
                }
            }
        }
        let is = |a: &BTreeMap<String, String>, what| a.get("objtype").is_some_and(|o| o == what);
        let images = self.defined.iter().filter(|(_, a)| is(a, "osimage"));
        self.images.extend(images.map(|(name, a)| (name.clone(), Scripts::of(a))));
        self.defined.retain(|_, a| is(a, "node") || !a.contains_key("objtype"));
        Ok(())
    }
}

/// Splits a list of names.
pub(super) fn names(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|s| !s.is_empty()).map(str::to_owned).collect()
}

/// The rows of a table as `tabdump` prints it, each with its line: commas between, `"` around
/// what isn't empty, and `""` for one within.
fn rows(text: &str) -> Result<Vec<(usize, Vec<String>)>, Unreadable> {
    let mut rows = Vec::new();
    let (mut line, mut begins) = (1, 1);
    let (mut row, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                if row.len() > 1 {
                    rows.push((begins, std::mem::take(&mut row)));
                }
                row.clear();
                begins = line;
            }
            c => cell.push(c),
        }
    }
    if quoted {
        let what = "the quote that this row opens isn't closed".to_owned();
        return Err(Unreadable { line: begins, what });
    }
    row.push(cell);
    if row.len() > 1 {
        rows.push((begins, row));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_as_it_is_dumped() {
        let rows =
            rows("#a,b,c\n\"x, y\",,\"say \"\"so\"\"\"\n\n\"two\nlines\",\"\",z").ok().unwrap();
        let cells: Vec<Vec<&str>> =
            rows.iter().map(|(_, row)| row.iter().map(String::as_str).collect()).collect();
        assert_eq!(cells, [["#a", "b", "c"], ["x, y", "", "say \"so\""], ["two\nlines", "", "z"]]);
        assert_eq!(rows[2].0, 4);
        assert_eq!(super::rows("#a,b\n\"x,y\n").err().unwrap().line, 2);
    }
}

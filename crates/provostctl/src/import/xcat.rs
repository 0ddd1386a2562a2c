//! What an xCAT management node prints: tables as CSV, node definitions as stanzas.

use std::collections::BTreeMap;

use super::unreadable::Unreadable;

/// Tables and definitions, put together.
#[derive(Default)]
pub(super) struct Xcat {
    /// The site table.
    pub(super) site: BTreeMap<String, String>,
    /// The attributes of nodes and groups, from postscripts, nodetype and noderes.
    pub(super) attributes: BTreeMap<String, Attributes>,
    /// The groups of each node, in its own order, from nodelist.
    groups: BTreeMap<String, Vec<String>>,
    /// The lines of the networks table, each with its columns in order.
    pub(super) networks: Vec<Vec<(String, String)>>,
    /// The rows of the routes table, by name.
    pub(super) routes: BTreeMap<String, Attributes>,
    /// The package lists that images name, by path, where they could be read.
    pub(super) lists: BTreeMap<String, String>,
    /// The groups whose members a rule decides.
    pub(super) dynamic: Vec<String>,
    /// The attributes of nodes as lsdef shows them: groups' are merged into them, and without `-z`
    /// the scripts of `xcatdefaults`.
    pub(super) defined: BTreeMap<String, Attributes>,
    /// The attributes of images.
    pub(super) images: BTreeMap<String, Attributes>,
    /// Whether there was a postscripts table; nothing else has the scripts of `xcatdefaults`.
    pub(super) has_scripts: bool,
}

/// A row or a stanza without its empty values, by the names of the columns.
pub(super) type Attributes = BTreeMap<String, String>;

/// xCAT's names of the two lists of scripts.
const LISTS: [&str; 2] = ["postscripts", "postbootscripts"];

/// The two lists of scripts.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Scripts {
    pub(super) postscripts: String,
    pub(super) postbootscripts: String,
}

impl Scripts {
    pub(super) fn by(of: impl Fn(&str) -> Option<String>) -> Self {
        let [postscripts, postbootscripts] = LISTS.map(|list| of(list).unwrap_or_default());
        Self { postscripts, postbootscripts }
    }

    /// Those of a row or a stanza.
    pub(super) fn of(attributes: &Attributes) -> Self {
        Self::by(|list| attributes.get(list).cloned())
    }

    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Both, by their names.
    pub(super) fn lists(self) -> [(&'static str, String); 2] {
        let [postscripts, postbootscripts] = LISTS;
        [(postscripts, self.postscripts), (postbootscripts, self.postbootscripts)]
    }
}

/// The row of all nodes.
pub(super) const DEFAULTS: &str = "xcatdefaults";
/// At the end of a value: the value of the node's next group is appended.
const NEXT_RECORD: &str = "+=NEXTRECORD";

impl Xcat {
    /// Reads one file; its content shows what it is.
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

    /// Sets a node's groups.
    pub(super) fn set_groups(&mut self, node: &str, groups: Vec<String>) {
        self.groups.insert(node.to_owned(), groups);
    }

    /// A node's groups, in its own order.
    pub(super) fn groups_of(&self, node: &str) -> Vec<String> {
        let defined = || {
            let groups = self.defined.get(node).and_then(|attributes| attributes.get("groups"));
            groups.map(|groups| names(groups))
        };
        self.groups.get(node).cloned().or_else(defined).unwrap_or_default()
    }

    /// The scripts that a row of the postscripts table has.
    pub(super) fn row(&self, name: &str) -> Scripts {
        self.attributes.get(name).map(Scripts::of).unwrap_or_default()
    }

    /// What a node runs besides the scripts of `xcatdefaults` and its image.
    pub(super) fn scripts(&self, node: &str) -> Scripts {
        let defaults = self.attributes.get(DEFAULTS);
        Scripts::by(|list| {
            let all = self.attribute(node, list)?;
            // lsdef without `-z` shows them first.
            let rest = defaults.and_then(|row| all.strip_prefix(row.get(list)?));
            Some(
                rest.filter(|rest| rest.is_empty() || rest.starts_with(',')).unwrap_or(&all).into(),
            )
        })
    }

    /// A node's attribute: the one that lsdef shows, else its own, else that of the first of its
    /// groups that has one. Groups add up only where site.hierarchicalattrs names the attribute, or
    /// a value ends with `+=NEXTRECORD`.
    pub(super) fn attribute(&self, node: &str, name: &str) -> Option<String> {
        let of = |all: &BTreeMap<_, Attributes>, key: &str| all.get(key)?.get(name).cloned();
        if let Some(shown) = of(&self.defined, node) {
            return Some(shown);
        }
        let groups = self.groups_of(node);
        let rows = std::iter::once(node).chain(groups.iter().map(String::as_str));
        let mut values = rows.filter_map(|row| of(&self.attributes, row));
        let mut value = values.next()?;
        for next in values {
            if let Some(before) = value.strip_suffix(NEXT_RECORD) {
                value = before.to_owned() + &next;
            } else if let Some(between) = self.between(name) {
                value = value + between + &next;
            } else {
                break;
            }
        }
        Some(value.replace(NEXT_RECORD, ""))
    }

    /// The separator between the values of groups, where they add up.
    fn between(&self, name: &str) -> Option<&str> {
        let adding = self.site.get("hierarchicalattrs")?;
        adding.split(',').find_map(|item| {
            let (attribute, between) = item.trim().split_once(':').unwrap_or((item.trim(), ","));
            (attribute == name).then_some(between)
        })
    }

    fn table(&mut self, text: &str) -> Result<(), Unreadable> {
        let mut rows = rows(text)?.into_iter();
        let Row { cells: mut header, .. } = rows.next().unwrap_or_default();
        if let Some(first) = header.first_mut() {
            *first = first.trim_start_matches('#').to_owned();
        }
        let keys: Vec<&str> = header.iter().map(String::as_str).collect();
        for Row { line, cells: row } in rows {
            if row.len() > header.len() {
                let what = format!("{} columns; the table has {}", row.len(), header.len());
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
                ["node", "groups", ..] => {
                    self.groups.insert(of("node"), names(&of("groups")));
                }
                ["netname", ..] => {
                    let column = |key: &&str| ((*key).to_owned(), of(key));
                    self.networks.push(keys.iter().map(column).collect());
                }
                ["routename", ..] => {
                    let columns = row.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
                    self.routes.insert(of("routename"), columns.collect());
                }
                ["groupname", ..] => {
                    if of("grouptype") == "dynamic" || !of("wherevals").is_empty() {
                        self.dynamic.push(of("groupname"));
                    }
                }
                ["node", ..]
                    if ["postscripts", "provmethod", "installnic"]
                        .iter()
                        .any(|of_table| keys.contains(of_table)) =>
                {
                    self.has_scripts |= keys.contains(&"postscripts");
                    let attributes = self.attributes.entry(of("node")).or_default();
                    for (name, value) in &row {
                        if !matches!(*name, "node" | "comments" | "disable") && !value.is_empty() {
                            attributes.insert((*name).to_owned(), value.clone());
                        }
                    }
                }
                _ => {
                    let what = format!("unknown table with the columns {}", keys.join(","));
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
                    if !value.is_empty() {
                        attributes.insert(name.to_owned(), value.to_owned());
                    }
                }
                _ => {
                    let what = "neither a table nor a stanza".to_owned();
                    return Err(Unreadable { line, what });
                }
            }
        }
        let is = |a: &Attributes, what| a.get("objtype").is_some_and(|o| o == what);
        let images = self.defined.iter().filter(|(_, a)| is(a, "osimage"));
        self.images.extend(images.map(|(name, a)| (name.clone(), a.clone())));
        self.defined.retain(|_, a| is(a, "node") || !a.contains_key("objtype"));
        Ok(())
    }
}

/// Ways of provisioning that don't name an image.
pub(super) fn is_method(method: &str) -> bool {
    matches!(method, "install" | "netboot" | "statelite" | "boot")
}

/// Splits a list of names.
pub(super) fn names(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|s| !s.is_empty()).map(str::to_owned).collect()
}

/// One row of a table.
#[derive(Default)]
struct Row {
    /// Its first line in the file, from 1.
    line: usize,
    cells: Vec<String>,
}

/// The rows of a table as `tabdump` prints it: separated by commas, with `"` around values, and
/// `""` for a quote in one.
fn rows(text: &str) -> Result<Vec<Row>, Unreadable> {
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
                    rows.push(Row { line: begins, cells: std::mem::take(&mut row) });
                }
                row.clear();
                begins = line;
            }
            c => cell.push(c),
        }
    }
    if quoted {
        let what = "the quote that begins here isn't closed".to_owned();
        return Err(Unreadable { line: begins, what });
    }
    row.push(cell);
    if row.len() > 1 {
        rows.push(Row { line: begins, cells: row });
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
            rows.iter().map(|row| row.cells.iter().map(String::as_str).collect()).collect();
        assert_eq!(cells, [["#a", "b", "c"], ["x, y", "", "say \"so\""], ["two\nlines", "", "z"]]);
        assert_eq!(rows[2].line, 4);
        assert_eq!(super::rows("#a,b\n\"x,y\n").err().unwrap().line, 2);
    }
}

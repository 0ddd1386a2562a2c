//! What xCAT's management node hands its nodes today: `mypostscript.NODE`, which has all that its tables and
//! files make of a node.

use std::collections::BTreeMap;
use std::path::Path;

use provost_fs::read_given_text;
use provost_plan::mypostscript::{Group, List, MyPostscript};
use provost_plan::{Step, nodes};
use provost_steplog::wording;

use super::factor::Content;
use super::inventory::Env;
use super::notes::Notes;
use super::xcat::{Attributes, DEFAULTS, Scripts, Xcat, names};
use crate::failure::Failure;

/// How each file's name begins.
const PREFIX: &str = "mypostscript.";
/// The most bytes that are read of one.
const MOST: u64 = 16 << 20;
/// What Provost sets itself, and what only bash on the node can say.
const NOT_CARRIED: [&str; 2] = ["NODE", "PATH"];

/// What a node's file says.
pub(super) struct Handed {
    pub(super) env: Env,
    /// What runs, in order: the words of each line.
    pub(super) steps: BTreeMap<&'static str, Vec<(Group, String)>>,
    /// The variables whose values only bash on the node can say.
    pub(super) computed: Vec<String>,
    /// What no plan can have of the lists, and why.
    pub(super) unusable: Vec<String>,
}

/// The names of the lists in `site.toml`.
pub(super) const LISTS: [(&str, List); 2] =
    [("postscripts", List::Postscripts), ("postbootscripts", List::Postbootscripts)];

/// Reads the folder's files, by node.
pub(super) fn read(folder: &Path, notes: &mut Notes) -> Result<BTreeMap<String, Handed>, Failure> {
    let hint = "name the folder of xCAT's files, usually /tftpboot/mypostscripts, which has them after \
                chdef -t site precreatemypostscripts=1 and updatenode or nodeset";
    let failed =
        |e: std::io::Error| Failure::new(format!("reading {}: {e}", folder.display()), hint);
    let mut all = BTreeMap::new();
    let mut computed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let Some(node) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let path = entry.path();
        let text = read_given_text(&path, MOST)
            .map_err(|e| Failure::new(format!("reading {}: {e}", path.display()), hint))?;
        let file = MyPostscript::parse(&text)
            .map_err(|e| Failure::new(format!("{}: {e}", path.display()), e.hint().to_owned()))?;
        let (mut env, not_literal) = exported(&file.preamble);
        for variable in &not_literal {
            computed.entry(variable.clone()).or_default().push(node.to_owned());
        }
        // What a line names.
        let mut variables = env.clone();
        variables.insert("NODE".to_owned(), node.to_owned());
        env.retain(|name, value| !(NOT_CARRIED.contains(&name.as_str()) || value.is_empty()));
        let (mut steps, mut unusable) = (BTreeMap::new(), Vec::new());
        for (name, list) in LISTS {
            if let Some(e) = file.cut_short(list) {
                unusable.push(format!("{name}: {e}"));
                notes.add(format!("{} of {node}: {e} ({})", list_of(list), e.hint()));
            }
            for group in Group::ALL {
                for step in file.steps(list, Some(group), &variables) {
                    match step {
                        Ok(step) => {
                            steps.entry(name).or_insert_with(Vec::new).push((group, words(&step)))
                        }
                        Err(e) => {
                            let (what, hint) = (e.message, e.hint);
                            unusable.push(format!("{name}: {}", without_place(&what)));
                            notes.add(format!("{} of {node}: {what} ({hint})", list_of(list)));
                        }
                    }
                }
            }
        }
        let computed = not_literal;
        all.insert(node.to_owned(), Handed { env, steps, computed, unusable });
    }
    if all.is_empty() {
        let error = format!("{} has no file mypostscript.NODE", folder.display());
        return Err(Failure::new(error, hint));
    }
    for (variable, mut of) in computed {
        of.sort();
        notes.add(format!(
            "{variable} of {}: bash computes its value; set it as env",
            nodes::fold(&of)
        ));
    }
    Ok(all)
}

/// A step as a line of a list: its words, which have no blanks.
pub(super) fn words(step: &Step) -> String {
    let words: Vec<&str> =
        std::iter::once(&step.script).chain(&step.args).map(String::as_str).collect();
    words.join(" ")
}

/// What is wrong with a line, without the line's number, which isn't the same in each file.
fn without_place(message: &str) -> &str {
    let placed = message.strip_prefix("mypostscript, line ");
    placed.and_then(|placed| placed.split_once(": ")).map_or(message, |(_, what)| what)
}

fn list_of(list: List) -> &'static str {
    LISTS.iter().find(|(_, other)| *other == list).map_or("", |(name, _)| name)
}

/// The same as tables, and what each node has besides what all have.
pub(super) fn as_tables(
    all: &BTreeMap<String, Handed>,
    notes: &mut Notes,
) -> (Xcat, BTreeMap<String, Content>) {
    let mut xcat = Xcat::default();
    xcat.has_scripts = true;
    let list = |handed: &Handed, is_in: &dyn Fn(Group) -> bool| {
        Scripts::by(|name| {
            let steps = handed.steps.get(name).into_iter().flatten();
            let steps: Vec<&str> =
                steps.filter(|(group, _)| is_in(*group)).map(|(_, step)| &**step).collect();
            Some(steps.join(","))
        })
    };
    let defaults = |handed: &Handed| list(handed, &|group| group == Group::Defaults);
    let mut of_all = all.values().map(defaults);
    let first = of_all.next().unwrap_or_default();
    let is_common = of_all.all(|other| other == first);
    if is_common {
        let row = first.lists().into_iter().map(|(name, text)| (name.to_owned(), text));
        xcat.attributes.insert(DEFAULTS.to_owned(), Attributes::from_iter(row));
    }
    let yes = |handed: &Handed| handed.env.get("RUNBOOTSCRIPTS").cloned();
    xcat.site.extend(all.values().find_map(yes).map(|value| ("runbootscripts".to_owned(), value)));
    let mut contents = BTreeMap::new();
    for (node, handed) in all {
        if !provost_plan::is_node_name(node) {
            notes.add(format!("the node {node:?}: its name can't be used"));
            continue;
        }
        let groups = handed.env.get("GROUP").map(|groups| names(groups)).unwrap_or_default();
        xcat.set_groups(node, groups);
        let scripts = list(handed, &|group| !is_common || group != Group::Defaults);
        for (name, steps) in &handed.steps {
            let mut steps: Vec<&String> = steps.iter().map(|(_, step)| step).collect();
            let many = steps.len();
            steps.sort();
            steps.dedup();
            if steps.len() < many {
                let again = wording::count(many - steps.len(), "script");
                notes.add(format!("{again} in {name} of {node}: listed twice; here it runs once"));
            }
        }
        contents.insert(node.clone(), Content { scripts, env: handed.env.clone() });
    }
    (xcat, contents)
}

/// What the preamble assigns and exports, and the variables whose values aren't written there.
fn exported(preamble: &str) -> (Env, Vec<String>) {
    let (mut env, mut computed) = (Env::new(), Vec::new());
    let mut rest = preamble;
    while !rest.is_empty() {
        let line = rest.lines().next().unwrap_or_default();
        let assignment = line.strip_prefix("export ").unwrap_or(line);
        let begin = line.len() - assignment.len();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = assignment.split_once('=').map(|(name, _)| name);
        let name = name.filter(|name| !name.is_empty() && name.chars().all(is_name));
        let mut end = line.len();
        if let Some(name) = name {
            let value = &rest[begin + name.len() + 1..];
            match word(value) {
                Some((text, length)) => {
                    end = end.max(begin + name.len() + 1 + length);
                    env.insert(name.to_owned(), text);
                }
                None if NOT_CARRIED.contains(&name) => {}
                None => computed.push(name.to_owned()),
            }
        }
        rest = &rest[end..];
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    (env, computed)
}

/// The text of the word that `value` begins with, and its length there; none if bash computes it.
fn word(value: &str) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut chars = value.char_indices();
    let mut quote = None;
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() || c == ';' => return Some((text, at)),
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '$' | '`') | (None, '(' | '&' | '|' | '<' | '>') => return None,
            (None | Some('"'), '\\') => text.push(chars.next()?.1),
            (_, c) => text.push(c),
        }
    }
    quote.is_none().then_some((text, value.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_that_bash_would_give() {
        let preamble = "NODE='n1'\nexport NODE\nPATH=`dirname $0`:$PATH\nexport PATH\nA='two\nlines'\n\
                        export A\nB=\"it's\"\nexport C=plain\nD=$(id)\nexport D\nE=''\\''x'\n";
        let (env, computed) = exported(preamble);
        let value = |name: &str| env.get(name).map(String::as_str);
        assert_eq!(value("A"), Some("two\nlines"));
        assert_eq!((value("B"), value("C"), value("E")), (Some("it's"), Some("plain"), Some("'x")));
        assert_eq!(computed, ["D"]);
    }
}

//! xCAT's `mypostscript`: a preamble of shell assignments, then lists of scripts between markers.
//!
//! bash evaluates the preamble, elsewhere; the lists are read here, by what it has found, so that
//! nothing in them can become a pattern or a second command.

mod error;
mod lists;
mod values;
mod words;
mod write;

use std::collections::BTreeMap;

use crate::Step;
pub use error::MyPostscriptError;
use lists::Marker;
pub use lists::{Group, List, section};
pub use words::{UnusableLine, step, variables};
pub use write::write;

/// What an xCAT management node has one node run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MyPostscript {
    /// What bash has to evaluate: assignments and `export` lines.
    pub preamble: String,
    lines: Vec<Listed>,
    cut_short: Vec<(List, MyPostscriptError)>,
}

/// A line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Listed {
    list: List,
    group: Option<Group>,
    number: usize,
    text: String,
}

impl MyPostscript {
    /// Reads the whole file, in which U+FFFD stands for what isn't UTF-8. Outside comments that is
    /// an error, because scripts would get another value than the table has. A file that is cut
    /// short, or isn't a `mypostscript` at all, is an error too: running nothing must not look like
    /// having nothing to run. A missing list, though xCAT's template always has both, concerns that
    /// list alone: see [`cut_short`](Self::cut_short); a line that is no step concerns that step alone.
    pub fn parse(text: &str) -> Result<Self, MyPostscriptError> {
        let mut preamble = String::new();
        let (mut listed, mut cut_short) = (Vec::new(), Vec::new());
        let mut open: Option<(List, usize)> = None;
        let mut group: Option<Group> = None;
        let mut lists = Vec::new();
        let last = text.lines().count();
        for (number, line) in (1..).zip(text.lines()) {
            let refused = |what: String, hint: &str| MyPostscriptError {
                line: number,
                what,
                hint: hint.to_owned(),
            };
            let fits = |list, of| open.is_some_and(|(is_open, _)| is_open == list) && group == of;
            match Marker::read(line) {
                Some(Marker { begins: true, group: None, list }) if open.is_none() => {
                    open = Some((list, number));
                    lists.push(list);
                }
                Some(Marker { begins: false, group: None, list }) if fits(list, None) => {
                    open = None;
                }
                Some(Marker { begins: true, group: of @ Some(_), list }) if fits(list, None) => {
                    group = of;
                }
                Some(Marker { begins: false, group: of @ Some(_), list }) if fits(list, of) => {
                    group = None;
                }
                Some(_) => {
                    let what = format!("{:?} doesn't belong here", line.trim());
                    return Err(refused(what, MARKERS));
                }
                None => {}
            }
            let item = line.trim();
            let is_text = item.starts_with('#') || !line.contains(char::REPLACEMENT_CHARACTER);
            let foreign = || {
                let name = values::assigned(item.trim_start_matches("export "));
                let of = name.map_or("this line".to_owned(), |name| format!("the value of {name}"));
                refused(format!("{of} isn't UTF-8"), UTF8)
            };
            match open {
                None if lists.is_empty() && !is_text => return Err(foreign()),
                None if lists.is_empty() => preamble.extend([line, "\n"]),
                Some((list, _)) if !item.is_empty() && !item.starts_with('#') => {
                    listed.push(Listed { list, group, number, text: item.to_owned() });
                }
                _ => {}
            }
        }
        if let Some((_, line)) = open {
            let what = "the list that begins here has no end: the file is cut short".to_owned();
            return Err(MyPostscriptError { line, what, hint: MARKERS.to_owned() });
        }
        let ends = |what: String| MyPostscriptError { line: last, what, hint: MARKERS.to_owned() };
        if lists.is_empty() {
            return Err(ends("there is no list of scripts: this isn't a mypostscript".to_owned()));
        }
        for list in List::ALL.into_iter().filter(|list| !lists.contains(list)) {
            let what = format!("there is no list of {}: the file is cut short", list.name());
            cut_short.push((list, ends(what)));
        }
        values::check(&preamble)?;
        Ok(Self { preamble, lines: listed, cut_short })
    }

    /// The steps of a list, in order; of one group only, if one is named. Their words are made by `env`,
    /// what the preamble exports. A step that is listed twice runs twice, as with xCAT.
    pub fn steps(
        &self,
        list: List,
        group: Option<Group>,
        env: &BTreeMap<String, String>,
    ) -> Vec<Result<Step, UnusableLine>> {
        let selected =
            |line: &&Listed| line.list == list && (group.is_none() || line.group == group);
        self.lines.iter().filter(selected).map(|line| line.step(env)).collect()
    }

    /// The names of all scripts, as far as no variable stands for them.
    pub fn scripts(&self) -> impl Iterator<Item = String> {
        self.lines.iter().map(|line| words::name(&line.text))
    }

    /// Why a list is missing, if it is. Then it must not count as empty.
    pub fn cut_short(&self, list: List) -> Option<&MyPostscriptError> {
        self.cut_short.iter().find(|(of, _)| *of == list).map(|(_, e)| e)
    }
}

impl Listed {
    fn step(&self, env: &BTreeMap<String, String>) -> Result<Step, UnusableLine> {
        let read = match self.text.contains(char::REPLACEMENT_CHARACTER) {
            false => words::step(&self.text, env),
            true => Err(UnusableLine {
                script: words::name(&self.text),
                message: "this line isn't UTF-8".to_owned(),
                hint: UTF8,
            }),
        };
        read.map_err(|e| {
            let message = format!("mypostscript, line {}: {}", self.number, e.message);
            UnusableLine { message, ..e }
        })
    }
}

/// The hint where a marker is missing or in the wrong place.
const MARKERS: &str = "write it anew on the management node with `updatenode` or `nodeset`, and \
     check that the web server serves that file, whole";

/// The hint where something isn't UTF-8.
const UTF8: &str = "write it in UTF-8 into the xCAT table that it comes from (see `tabdump` and \
     `lsdef`), then write the node's mypostscript anew";

#[cfg(test)]
mod tests;

//! xCAT's `mypostscript`: a preamble of shell assignments, then lists of scripts between markers.
//!
//! bash evaluates the preamble, elsewhere; the lists are read here, so that nothing in them can
//! become a pattern or a second command.

mod values;
mod write;

use crate::Step;
pub use write::write;

/// What a management node of xCAT's has one node run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MyPostscript {
    /// What bash has to evaluate: assignments and `export` lines.
    pub preamble: String,
    steps: Vec<Listed>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Listed {
    list: List,
    group: Option<Group>,
    step: Result<Step, MyPostscriptError>,
}

/// One of the two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// What runs in the installer, or at a diskless boot.
    Postscripts,
    /// What runs once the node has booted.
    Postbootscripts,
}

/// Whom a part of a list comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// `xcatdefaults` of the postscripts table.
    Defaults,
    /// The node's image.
    Osimage,
    /// The node and its groups.
    Node,
}

/// A `mypostscript` that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("mypostscript, line {line}: {what}")]
pub struct MyPostscriptError {
    line: usize,
    what: String,
    hint: String,
}

impl MyPostscriptError {
    /// What an admin can do about it.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl MyPostscript {
    /// Reads the whole file, in which U+FFFD stands for what isn't UTF-8; but for comments it is
    /// refused, since scripts would get something else than the table has. One that is cut short, or isn't a `mypostscript` at all, is refused:
    /// running nothing must not look like having nothing to run. A mistake in a list is its own, as
    /// is that it isn't there, though xCAT's template always has both: what doesn't run that list
    /// can do without.
    pub fn parse(text: &str) -> Result<Self, MyPostscriptError> {
        let mut preamble = String::new();
        let mut steps = Vec::new();
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
                    let step = Step::parse(item).map_err(|e| refused(e.to_string(), &e.hint()));
                    let step = if is_text { step } else { Err(foreign()) };
                    steps.push(Listed { list, group, step });
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
            for group in Group::ALL {
                steps.push(Listed { list, group: Some(group), step: Err(ends(what.clone())) });
            }
        }
        values::check(&preamble)?;
        Ok(Self { preamble, steps })
    }

    /// The steps of a list, in order; of one group only, if one is named. A step that stands there
    /// twice runs twice, as xCAT has it.
    pub fn steps(&self, list: List, group: Option<Group>) -> Vec<Step> {
        self.read(list, group).flatten().cloned().collect()
    }

    /// The first line of these that can't be read, if there is one: then they must not run.
    pub fn mistake(&self, list: List, group: Option<Group>) -> Option<&MyPostscriptError> {
        self.read(list, group).find_map(|step| step.as_ref().err())
    }

    fn read(
        &self,
        list: List,
        group: Option<Group>,
    ) -> impl Iterator<Item = &Result<Step, MyPostscriptError>> {
        let wanted = move |listed: &&Listed| {
            listed.list == list && (group.is_none() || listed.group == group)
        };
        self.steps.iter().filter(wanted).map(|listed| &listed.step)
    }
}

impl List {
    /// Both, in the order in which they run.
    pub const ALL: [Self; 2] = [Self::Postscripts, Self::Postbootscripts];

    fn name(self) -> &'static str {
        match self {
            Self::Postscripts => "postscripts",
            Self::Postbootscripts => "postbootscripts",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|list| list.name() == name)
    }
}

impl Group {
    const ALL: [Self; 3] = [Self::Defaults, Self::Osimage, Self::Node];

    fn name(self) -> &'static str {
        match self {
            Self::Defaults => "defaults",
            Self::Osimage => "osimage",
            Self::Node => "node",
        }
    }
}

/// Reads the name of a part of the lists, as `updatenode -P` gives it: `postscripts-start-here`,
/// `node-postbootscripts-start-here`.
pub fn section(name: &str) -> Option<(List, Option<Group>)> {
    let marker = Marker::named(name).filter(|marker| marker.begins)?;
    Some((marker.list, marker.group))
}

const MARKERS: &str = "make it anew on the management node, by `updatenode` or `nodeset`, and see \
     that what the web server hands out is that file, whole";

const UTF8: &str = "write it in UTF-8 into the xCAT table that it comes from (see `tabdump` and \
     `lsdef`), then make the node's mypostscript anew";

/// Where a list, or a group's part of it, begins or ends.
struct Marker {
    begins: bool,
    group: Option<Group>,
    list: List,
}

impl Marker {
    /// Reads `# postscripts-start-here` and the like; the blanks after `#` vary.
    fn read(line: &str) -> Option<Self> {
        Self::named(line.trim().strip_prefix('#')?.trim_start())
    }

    fn named(name: &str) -> Option<Self> {
        let start = name.strip_suffix("-start-here");
        let part = start.or_else(|| name.strip_suffix("-end-here"))?;
        let (group, list) = match part.split_once('-') {
            None => (None, part),
            Some((group, list)) => {
                (Some(Group::ALL.into_iter().find(|of| of.name() == group)?), list)
            }
        };
        Some(Self { begins: start.is_some(), group, list: List::named(list)? })
    }
}

#[cfg(test)]
mod tests;

//! xCAT's `mypostscript`: a preamble of shell assignments, then lists of scripts between markers.
//!
//! bash evaluates the preamble, elsewhere; the lists are read here, so that nothing in them can
//! become a pattern or a second command.

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
    step: Step,
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
    /// Reads the whole file. One that is cut short, or isn't a `mypostscript` at all, is refused:
    /// running nothing must not look like having nothing to run.
    pub fn parse(text: &str) -> Result<Self, MyPostscriptError> {
        let mut preamble = String::new();
        let mut steps = Vec::new();
        let mut open: Option<(List, usize)> = None;
        let mut group: Option<Group> = None;
        let mut lists = 0;
        let last = text.lines().count();
        for (number, line) in (1..).zip(text.lines()) {
            let refuse = |what: String, hint: &str| {
                Err(MyPostscriptError { line: number, what, hint: hint.to_owned() })
            };
            match (Marker::read(line), open) {
                (Some(Marker::Begin(list)), None) => {
                    open = Some((list, number));
                    lists += 1;
                }
                (Some(Marker::End(list)), Some((is_open, _)))
                    if is_open == list && group.is_none() =>
                {
                    open = None;
                }
                (Some(Marker::BeginGroup(of, list)), Some((is_open, _)))
                    if is_open == list && group.is_none() =>
                {
                    group = Some(of);
                }
                (Some(Marker::EndGroup(of, list)), Some((is_open, _)))
                    if is_open == list && group == Some(of) =>
                {
                    group = None;
                }
                (Some(_), _) => {
                    return refuse(format!("{:?} doesn't belong here", line.trim()), MARKERS);
                }
                (None, None) if lists == 0 => {
                    preamble.push_str(line);
                    preamble.push('\n');
                }
                (None, None) => {}
                (None, Some((list, _))) => {
                    let item = line.trim();
                    if item.is_empty() || item.starts_with('#') {
                        continue;
                    }
                    match Step::parse(item) {
                        Ok(step) => {
                            steps.push(Listed { list, group, step });
                        }
                        Err(e) => return refuse(e.to_string(), &e.hint()),
                    }
                }
            }
        }
        if let Some((_, line)) = open {
            let what = "the list that begins here has no end: the file is cut short".to_owned();
            return Err(MyPostscriptError { line, what, hint: MARKERS.to_owned() });
        }
        if lists == 0 {
            let what = "there is no list of scripts: this isn't a mypostscript".to_owned();
            return Err(MyPostscriptError { line: last, what, hint: MARKERS.to_owned() });
        }
        check_quotes(&preamble)?;
        Ok(Self { preamble, steps })
    }

    /// The steps of a list, in order; of one group only, if one is named. A step that stands there
    /// twice runs twice, as xCAT has it.
    pub fn steps(&self, list: List, group: Option<Group>) -> Vec<Step> {
        let wanted =
            |listed: &&Listed| listed.list == list && (group.is_none() || listed.group == group);
        self.steps.iter().filter(wanted).map(|listed| listed.step.clone()).collect()
    }
}

impl List {
    const ALL: [Self; 2] = [Self::Postscripts, Self::Postbootscripts];

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
    match Marker::named(name)? {
        Marker::Begin(list) => Some((list, None)),
        Marker::BeginGroup(group, list) => Some((list, Some(group))),
        Marker::End(_) | Marker::EndGroup(..) => None,
    }
}

const MARKERS: &str = "make it anew on the management node, by `updatenode` or `nodeset`, and see \
     that what the web server hands out is that file, whole";

enum Marker {
    Begin(List),
    End(List),
    BeginGroup(Group, List),
    EndGroup(Group, List),
}

impl Marker {
    /// Reads `# postscripts-start-here` and the like; the blanks after `#` vary.
    fn read(line: &str) -> Option<Self> {
        Self::named(line.trim().strip_prefix('#')?.trim_start())
    }

    fn named(name: &str) -> Option<Self> {
        let (name, begins) =
            match (name.strip_suffix("-start-here"), name.strip_suffix("-end-here")) {
                (Some(name), _) => (name, true),
                (_, Some(name)) => (name, false),
                _ => return None,
            };
        let Some((group, list)) = name.split_once('-') else {
            let list = List::named(name)?;
            return Some(if begins { Self::Begin(list) } else { Self::End(list) });
        };
        let group = Group::ALL.into_iter().find(|of| of.name() == group)?;
        let list = List::named(list)?;
        Some(if begins { Self::BeginGroup(group, list) } else { Self::EndGroup(group, list) })
    }
}

/// Checks that the preamble's quotes are closed. A lone one in a value pairs with the next value's
/// first one, so that bash would run what is meant as text, or find out at the last line; a value
/// that has several lines ends with its quote.
fn check_quotes(preamble: &str) -> Result<(), MyPostscriptError> {
    let mut open: Option<(usize, &str, char)> = None;
    for (number, line) in (1..).zip(preamble.lines()) {
        let (rest, inherited) = match open {
            None => (line, None),
            Some((_, _, quote)) => match line.split_once(quote) {
                None => continue,
                Some((_, rest)) => (rest, open.take()),
            },
        };
        match (inherited, unclosed(rest)) {
            (Some(lone), _) if !rest.trim().is_empty() => return Err(lone_quote(lone)),
            (_, Some(quote)) => open = Some((number, line, quote)),
            (_, None) => {}
        }
    }
    open.map_or(Ok(()), |lone| Err(lone_quote(lone)))
}

fn lone_quote((line, text, quote): (usize, &str, char)) -> MyPostscriptError {
    let text = text.trim_start();
    let assignment = text.strip_prefix("export ").unwrap_or(text);
    let name = assignment.split_once('=').map_or("a variable", |(name, _)| name.trim());
    MyPostscriptError {
        line,
        what: format!("the value of {name} has a lone {quote}, so that bash can't read it"),
        hint: format!(
            "take the quote out of the xCAT table that {name} comes from (see `tabdump site` and \
             `lsdef`), then make the node's mypostscript anew"
        ),
    }
}

/// The quote that is open at the end of a line.
fn unclosed(line: &str) -> Option<char> {
    let mut quote = None;
    let mut before = ' ';
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None | Some('"'), '\\') => {
                chars.next();
            }
            (None, '\'' | '"') => quote = Some(c),
            (None, '#') if before.is_whitespace() => return None,
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
        before = c;
    }
    quote
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
## made by xCAT
SITEMASTER='10.0.0.1'
export SITEMASTER
PATH=`dirname $0`:/bin:$PATH
export PATH # that isn't all
NOTE='two
lines'

# postscripts-start-here
# defaults-postscripts-start-here
syslog
#defaults-postscripts-end-here
# osimage-postscripts-start-here
# osimage-postscripts-end-here
#  node-postscripts-start-here
## mount, later
t \"a b\" c
t *
# node-postscripts-end-here
# postscripts-end-here
# postbootscripts-start-here
# defaults-postbootscripts-start-here
otherpkgs
# defaults-postbootscripts-end-here
# postbootscripts-end-here
";

    fn names(steps: &[Step]) -> Vec<String> {
        steps.iter().map(Step::to_string).collect()
    }

    #[test]
    fn lists_are_read_and_the_preamble_is_left_to_bash() {
        let read = MyPostscript::parse(GOOD).unwrap();
        assert!(read.preamble.ends_with("lines'\n\n"));
        assert_eq!(names(&read.steps(List::Postscripts, None)), ["syslog", "t 'a b' c", "t '*'"]);
        assert_eq!(read.steps(List::Postscripts, Some(Group::Node)).len(), 2);
        assert_eq!(names(&read.steps(List::Postbootscripts, Some(Group::Defaults))), ["otherpkgs"]);
        assert!(read.steps(List::Postbootscripts, Some(Group::Node)).is_empty());
        let group = Some(Group::Osimage);
        assert_eq!(
            section("osimage-postbootscripts-start-here"),
            Some((List::Postbootscripts, group))
        );
        assert_eq!(section("postscripts-start-here"), Some((List::Postscripts, None)));
        assert_eq!(section("syslog"), None);
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_line() {
        for (from, to, line, what) in [
            ("'10.0.0.1'", "'it's'", 2, "value of SITEMASTER has a lone '"),
            ("'10.0.0.1'", "'it\"s'\nX=\"", 3, "value of X has a lone"),
            ("'10.0.0.1'", "'it's'\nexport X='that's'", 2, "value of SITEMASTER has a lone"),
            ("'two\nlines'\n", "'a lone\n", 6, "value of NOTE has a lone"),
            ("syslog\n", "syslog; rm -rf /\n", 11, "`;`"),
            ("syslog\n", "syslog `id`\n", 11, "for a shell"),
            ("syslog\n", "../../bin/sh\n", 11, "`..`"),
            ("# postbootscripts-end-here\n", "", 21, "no end"),
            ("#defaults-postscripts-end-here\n", "", 12, "doesn't belong here"),
            (GOOD, "<html>\nNot here\n</html>\n", 3, "isn't a mypostscript"),
            (GOOD, "", 0, "isn't a mypostscript"),
        ] {
            let bad = GOOD.replacen(from, to, 1);
            let error = MyPostscript::parse(&bad).unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.to_string().contains(what), "{error}");
            assert!(!error.hint().is_empty());
        }
    }
}

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
## mount, l\u{fffd}ter
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
    fn what_a_site_has_added_to_the_preamble_is_left_to_bash() {
        for own in [
            "NOTE='two\nlines'; export NOTE\n",
            "awk '\n{ print \"it is\" }\n' /etc/hosts >/dev/null\n",
            "NOTE=$(sed '\ns/a/b/' /etc/issue)\n",
            "greet() {\n  echo 'good\n  morning' you\n}\nexport -f greet\n",
            "cat <<EOF >/dev/null\nit's\nEOF\n",
            "X=$'it\\'s'\nexport X\n",
            "X=\"$(echo \"it's\")\"\nexport X\n",
            "X='a\nb' Y='c'\nexport X Y\n",
            "X='a\nY=b c\nZ='\nY=1 Z='2'\nexport Y\n",
            "X='it'\\''s' # it's\nexport X\n",
            "X='/opt/bin':$PATH\nexport X\n",
            "X='/opt/bin':'/opt/sbin'\nexport X\n",
            "X='a'; Y='b'\nexport X Y\n",
            "X=1; echo $X >/dev/null\nexport X\n",
            "X=(a 'b c')\nexport X\n",
            "X=a\\ b\nexport X\n",
            "LC_ALL=C sort /etc/hosts >/dev/null\nexport X\n",
        ] {
            let text = GOOD.replacen("NOTE='two\nlines'\n", own, 1);
            assert!(MyPostscript::parse(&text).unwrap().preamble.contains(own));
        }
    }

    #[test]
    fn a_long_preamble_is_read_once() {
        let own = "A=1\nB='\n'\n".repeat(100_000) + "C='it's'\nexport C\n";
        let error = MyPostscript::parse(&(own + GOOD)).unwrap_err();
        assert_eq!(error.line, 300_001);
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_line() {
        for (from, to, line, what) in [
            ("'10.0.0.1'", "'it's'", 2, "value of SITEMASTER has a ' in it"),
            ("'10.0.0.1'", "'it's'\nexport X='that's'", 2, "value of SITEMASTER has a ' in it"),
            ("'10.0.0.1'", "it's", 2, "value of SITEMASTER has a ' in it"),
            ("'10.0.0.1'", "'the nodes' admin's'", 2, "value of SITEMASTER has more than one word"),
            ("'10.0.0.1'", "'nodes'; touch x; echo 's phone'", 2, "more than one word"),
            ("'10.0.0.1'", "'rock 'n' roll'", 2, "value of SITEMASTER has a ' in it"),
            ("'10.0.0.1'", "\"a\"\"", 2, "value of SITEMASTER has a \" in it"),
            ("'10.0.0.1'", "a b", 2, "value of SITEMASTER has more than one word"),
            ("# postbootscripts-end-here\n", "", 21, "no end"),
            ("#defaults-postscripts-end-here\n", "", 12, "doesn't belong here"),
            ("'10.0.0.1'", "'caf\u{fffd}'", 2, "value of SITEMASTER isn't UTF-8"),
            ("two\nlines", "two\nlin\u{fffd}s", 7, "this line isn't UTF-8"),
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

    #[test]
    fn a_list_that_is_cut_off_is_a_mistake_of_that_list_alone() {
        let (cut, _) = GOOD.split_once("# postbootscripts-start-here").unwrap();
        let read = MyPostscript::parse(cut).unwrap();
        for group in [None, Some(Group::Node)] {
            let error = read.mistake(List::Postbootscripts, group).unwrap();
            assert!(error.to_string().contains("line 20: there is no list of postbootscripts"));
            assert_eq!(read.mistake(List::Postscripts, group), None);
        }
    }

    #[test]
    fn a_line_that_makes_no_sense_is_a_mistake_of_its_list_alone() {
        for (to, what) in [
            ("syslog; rm -rf /\n", "`;`"),
            ("syslog `id`\n", "for a shell"),
            ("../../bin/sh\n", "`..`"),
            ("tell caf\u{fffd}\n", "this line isn't UTF-8"),
        ] {
            let read = MyPostscript::parse(&GOOD.replacen("syslog\n", to, 1)).unwrap();
            for group in [None, Some(Group::Defaults)] {
                let error = read.mistake(List::Postscripts, group).unwrap();
                assert!(error.line == 11 && error.to_string().contains(what), "{error}");
                assert!(!error.hint().is_empty());
            }
            assert_eq!(read.mistake(List::Postscripts, Some(Group::Node)), None);
            assert_eq!(read.mistake(List::Postbootscripts, None), None);
        }
    }
}

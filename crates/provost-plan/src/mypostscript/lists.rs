//! The lists of a `mypostscript`, and the comments that mark where they begin and end.

/// One of the two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Run in the installer, or at a diskless boot.
    Postscripts,
    /// Run when the node has booted.
    Postbootscripts,
}

/// Where a part of a list comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// `xcatdefaults` of the postscripts table.
    Defaults,
    /// The node's image.
    Osimage,
    /// The node and its groups.
    Node,
}

impl List {
    /// Both, in the order in which they run.
    pub const ALL: [Self; 2] = [Self::Postscripts, Self::Postbootscripts];

    pub(super) fn name(self) -> &'static str {
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
    /// All of them, in the order in which they run.
    pub const ALL: [Self; 3] = [Self::Defaults, Self::Osimage, Self::Node];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Defaults => "defaults",
            Self::Osimage => "osimage",
            Self::Node => "node",
        }
    }
}

/// Where a list, or a group's part of it, begins or ends.
pub(super) struct Marker {
    pub(super) begins: bool,
    pub(super) group: Option<Group>,
    pub(super) list: List,
}

impl Marker {
    /// Reads `# postscripts-start-here` and the like; the blanks after `#` vary.
    pub(super) fn read(line: &str) -> Option<Self> {
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

/// Reads the name of a part of the lists, as `updatenode -P` gives it: `postscripts-start-here`,
/// `node-postbootscripts-start-here`.
pub fn section(name: &str) -> Option<(List, Option<Group>)> {
    let marker = Marker::named(name).filter(|marker| marker.begins)?;
    Some((marker.list, marker.group))
}

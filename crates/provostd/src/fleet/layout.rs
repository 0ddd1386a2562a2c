//! Where each node stands on the map: in its rack, else in its group, and of a big site in a cell with
//! others. It changes with the site alone, not with what nodes report.

use std::cmp::Ordering;
use std::iter::Peekable;
use std::str::Bytes;
use std::sync::{Arc, Mutex, PoisonError};

use provost_plan::nodes::fold;

use super::snapshot::Snapshot;
use crate::config::page::Rack;
use crate::published::site_groups::{Membership, SiteGroups};

/// How many cells the map has at most, but for one in each section that isn't full.
const MOST_CELLS: usize = 2_000;
/// How many sections: of more, each becomes a cell.
const MOST_SECTIONS: usize = 200;
/// The longest folded set that names a cell's nodes, in bytes; of a longer one the first and the last are named.
const LONGEST_SET: usize = 120;

/// Draws the layout, and keeps it until the site changes.
pub(crate) struct Layouts {
    groups: SiteGroups,
    racks: Vec<Rack>,
    last: Mutex<Option<Last>>,
}

struct Last {
    snapshot: Arc<Snapshot>,
    membership: Arc<Membership>,
    layout: Arc<Layout>,
}

/// The map without its colors.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// In their order.
    pub(crate) sections: Vec<Section>,
    /// How many nodes the fullest cell has.
    pub(crate) most_in_cell: usize,
    /// Whether sections are racks.
    pub(crate) has_racks: bool,
}

/// A rack, a group, or a row whose racks are cells.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) title: String,
    /// The row of the machine room.
    pub(crate) row: Option<String>,
    pub(crate) is_rack: bool,
    /// Its nodes, where a set of a bearable length names them.
    pub(crate) set: Option<String>,
    pub(crate) cells: Vec<Cell>,
}

/// One node, or several.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// What it is called: the nodes, or a rack.
    pub(crate) label: String,
    /// Its nodes, where a set of a bearable length names them.
    pub(crate) set: Option<String>,
    /// Their indexes in the snapshot.
    pub(crate) members: Vec<u32>,
}

/// Nodes that stand together.
struct Block {
    title: String,
    row: Option<String>,
    is_rack: bool,
    members: Vec<u32>,
}

impl Layouts {
    pub(crate) fn new(groups: SiteGroups, racks: Vec<Rack>) -> Self {
        Self { groups, racks, last: Mutex::default() }
    }

    /// The groups of the site.
    pub(crate) fn groups(&self) -> Arc<Membership> {
        self.groups.read()
    }

    /// The rack that a node is in.
    pub(crate) fn rack(&self, node: &str) -> Option<&Rack> {
        self.racks.iter().find(|rack| rack.nodes.iter().any(|name| name == node))
    }

    /// The layout of these nodes. It takes as long as sorting them, where they are others than before.
    pub(crate) fn of(&self, snapshot: &Arc<Snapshot>) -> Arc<Layout> {
        let membership = self.groups.read();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.as_mut()
            && Arc::ptr_eq(&last.membership, &membership)
            && has_same_names(&last.snapshot, snapshot)
        {
            last.snapshot = Arc::clone(snapshot);
            return Arc::clone(&last.layout);
        }
        let layout = Arc::new(Layout::new(snapshot, &membership, &self.racks));
        let snapshot = Arc::clone(snapshot);
        *last = Some(Last { snapshot, membership, layout: Arc::clone(&layout) });
        layout
    }
}

/// Whether the nodes have the same indexes in both. Those that haven't changed are the same in memory.
fn has_same_names(a: &Snapshot, b: &Snapshot) -> bool {
    let mut pairs = a.members.iter().zip(&b.members);
    a.members.len() == b.members.len()
        && pairs.all(|(a, b)| Arc::ptr_eq(a, b) || a.node.name == b.node.name)
}

impl Layout {
    fn new(snapshot: &Snapshot, membership: &Membership, racks: &[Rack]) -> Self {
        let blocks = blocks(snapshot, membership, racks);
        let name = |index: &u32| snapshot.members[*index as usize].node.name.as_str();
        let cell = |members: &[u32], title: Option<&str>| {
            let names: Vec<String> = members.iter().map(|index| name(index).to_owned()).collect();
            let set = Some(fold(&names)).filter(|set| set.len() <= LONGEST_SET);
            let label = match (title, names.as_slice()) {
                (Some(title), _) => title.to_owned(),
                (None, [first, .., last]) => {
                    set.clone().unwrap_or_else(|| format!("{first} … {last}"))
                }
                (None, _) => names.concat(),
            };
            Cell { label, set, members: members.to_vec() }
        };
        let mut sections = Vec::<Section>::new();
        if blocks.len() > MOST_SECTIONS {
            // As many blocks in a cell as it takes.
            let per_cell = blocks.len().div_ceil(MOST_CELLS);
            for of_row in blocks.chunk_by(|a, b| a.row == b.row) {
                let cells = of_row.chunks(per_cell).map(|blocks| {
                    let members: Vec<u32> =
                        blocks.iter().flat_map(|block| &block.members).copied().collect();
                    let title = match blocks {
                        [first, .., last] => format!("{} … {}", first.title, last.title),
                        _ => blocks.iter().map(|block| block.title.as_str()).collect(),
                    };
                    cell(&members, Some(&title))
                });
                let title =
                    of_row[0].row.clone().map_or("All".to_owned(), |row| format!("Row {row}"));
                sections.push(Section {
                    title,
                    row: None,
                    is_rack: false,
                    set: None,
                    cells: cells.collect(),
                });
            }
        } else {
            let per_cell = snapshot.members.len().div_ceil(MOST_CELLS).max(1);
            for Block { title, row, is_rack, members } in blocks {
                let names: Vec<String> =
                    members.iter().map(|index| name(index).to_owned()).collect();
                let set = Some(fold(&names)).filter(|set| set.len() <= LONGEST_SET);
                let cells = members.chunks(per_cell).map(|members| cell(members, None)).collect();
                sections.push(Section { title, row, is_rack, set, cells });
            }
        }
        let cells = sections.iter().flat_map(|section| &section.cells);
        let most_in_cell = cells.map(|cell| cell.members.len()).max().unwrap_or_default();
        Self { sections, most_in_cell, has_racks: !racks.is_empty() }
    }
}

/// The nodes by racks in the order of the machine room, or by groups; then all others, by groups and by name.
fn blocks(snapshot: &Snapshot, membership: &Membership, racks: &[Rack]) -> Vec<Block> {
    let mut is_placed = vec![false; snapshot.members.len()];
    let mut take = |names: &[String]| -> Vec<u32> {
        let mut members = Vec::new();
        for name in names {
            if let Some(index) = snapshot.index(name)
                && !std::mem::replace(&mut is_placed[index], true)
            {
                members.push(index as u32);
            }
        }
        members
    };
    let mut blocks = Vec::new();
    for Rack { name, row, nodes } in racks {
        let (title, row) = (name.clone(), row.clone());
        blocks.push(Block { title, row, is_rack: true, members: take(nodes) });
    }
    let mut rest = Vec::new();
    for (group, nodes) in &membership.groups {
        let mut members = take(nodes);
        sort(&mut members, snapshot);
        rest.push(Block { title: group.clone(), row: None, is_rack: false, members });
    }
    let others = is_placed.iter().enumerate().filter(|(_, is_placed)| !**is_placed);
    let mut others: Vec<u32> = others.map(|(index, _)| index as u32).collect();
    sort(&mut others, snapshot);
    if racks.is_empty() {
        let has_groups = rest.iter().any(|block| !block.members.is_empty());
        let title = if has_groups { "In no group" } else { "All nodes" };
        rest.push(Block { title: title.to_owned(), row: None, is_rack: false, members: others });
        blocks.extend(rest);
    } else {
        let in_groups = rest.into_iter().flat_map(|block| block.members);
        let members = in_groups.chain(others).collect();
        blocks.push(Block { title: "In no rack".to_owned(), row: None, is_rack: false, members });
    }
    blocks.retain(|block| !block.members.is_empty());
    blocks
}

fn sort(members: &mut [u32], snapshot: &Snapshot) {
    let name = |index: &u32| snapshot.members[*index as usize].node.name.as_str();
    members.sort_by(|a, b| by_numbers(name(a), name(b)));
}

/// The order in which people count: `n2` before `n10`.
fn by_numbers(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.bytes().peekable(), b.bytes().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                number(&mut left).cmp(&number(&mut right))
            }
            (None, None) => return a.cmp(b),
            _ => left.next().cmp(&right.next()),
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// The number that comes next, cut off where it is too long for any name.
fn number(bytes: &mut Peekable<Bytes<'_>>) -> u64 {
    let mut number = 0_u64;
    while let Some(digit) = bytes.next_if(u8::is_ascii_digit) {
        number = number.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    }
    number
}

#[cfg(test)]
mod tests {
    use provost_plan::nodes::expand;
    use provost_store::Node;

    use super::*;

    fn snapshot(set: &str) -> Snapshot {
        let mut names = expand(set).unwrap();
        names.sort();
        let node = |name| Node { name, ..Node::default() };
        Snapshot::of(names.into_iter().map(node).collect(), 0)
    }

    fn membership(groups: &[(&str, &str)]) -> Membership {
        let group = |(name, set): &(&str, &str)| ((*name).to_owned(), expand(set).unwrap());
        Membership::new(groups.iter().map(group).collect())
    }

    fn rack(name: &str, set: &str) -> Rack {
        Rack { name: name.to_owned(), row: Some("A".to_owned()), nodes: expand(set).unwrap() }
    }

    /// Each section with the labels of its cells.
    fn shown(layout: &Layout) -> Vec<String> {
        let line = |section: &Section| {
            let cells: Vec<&str> = section.cells.iter().map(|cell| cell.label.as_str()).collect();
            format!("{}: {}", section.title, cells.join(" "))
        };
        layout.sections.iter().map(line).collect()
    }

    #[test]
    fn nodes_stand_by_groups_then_by_name() {
        let groups = membership(&[("compute", "cn[1-11],gone"), ("gpu", "cn[10-12]")]);
        let layout = Layout::new(&snapshot("cn[1-3,10-12],login,a"), &groups, &[]);
        let expected = ["compute: cn1 cn2 cn3 cn10 cn11", "gpu: cn12", "In no group: a login"];
        assert_eq!(shown(&layout), expected);
        assert_eq!(layout.sections[0].set.as_deref(), Some("cn[1-3,10-11]"));
    }

    #[test]
    fn racks_come_first_and_nodes_without_one_last() {
        let groups = membership(&[("z", "cn9"), ("y", "cn[1-9]")]);
        let racks = [rack("r2", "cn[3-4]"), rack("r1", "cn2,cn1"), rack("r3", "gone")];
        let layout = Layout::new(&snapshot("cn[1-4,9],a"), &groups, &racks);
        assert_eq!(shown(&layout), ["r2: cn3 cn4", "r1: cn2 cn1", "In no rack: cn9 a"]);
        assert!(layout.has_racks && layout.sections[0].row.is_some());
    }

    #[test]
    fn of_many_nodes_a_cell_has_several() {
        let layout = Layout::new(&snapshot("n[00001-99999]"), &Membership::default(), &[]);
        let [all] = layout.sections.as_slice() else { panic!("{}", layout.sections.len()) };
        assert_eq!((all.cells.len(), layout.most_in_cell), (2_000, 50));
        assert_eq!(all.cells[1].label, "n[00051-00100]");
        let members: usize = all.cells.iter().map(|cell| cell.members.len()).sum();
        assert_eq!(members, 99_999);
    }

    #[test]
    fn of_many_racks_each_is_a_cell() {
        let racks: Vec<Rack> = (0..300)
            .map(|n| {
                rack(&format!("r{n:03}"), &format!("n[{}-{}]", n * 10 + 10000, n * 10 + 10009))
            })
            .collect();
        let layout = Layout::new(&snapshot("n[10000-12999],x"), &Membership::default(), &racks);
        let titles: Vec<_> = layout.sections.iter().map(|s| (&*s.title, s.cells.len())).collect();
        assert_eq!(titles, [("Row A", 300), ("All", 1)]);
        assert_eq!(layout.sections[0].cells[7].label, "r007");
        assert_eq!(layout.sections[0].cells[7].members.len(), 10);
    }

    #[test]
    fn people_count_in_numbers() {
        let mut names = ["n10", "n2", "n02", "n1", "m3x", "n", "n1b2", "n1b10"];
        names.sort_by(|a, b| by_numbers(a, b));
        assert_eq!(names, ["m3x", "n", "n1", "n1b2", "n1b10", "n02", "n2", "n10"]);
    }
}

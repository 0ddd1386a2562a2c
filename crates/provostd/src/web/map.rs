//! The map: each node, or some nodes together, as a cell in the color of what is worst.

use provost_store::{Node, Status, UpdateStatus};

use super::action::of_node;
use super::numbers::grouped;
use super::page::encoded;
use crate::fleet::layout::{Cell, Layout, Section};
use crate::fleet::snapshot::Snapshot;

/// Up to how many cells they are large enough for a finger …
const LARGE: usize = 128;
/// … and up to how many they are larger than the smallest.
const MEDIUM: usize = 700;

/// How a node looks on the map, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Look {
    Failed,
    FailedInRerun,
    /// It installs or boots.
    Busy,
    Defined,
    Booted,
}

/// How many nodes of a cell or a section have each look.
type Counts = [usize; Look::ALL.len()];

/// The map, as its template shows it.
pub(super) struct Map {
    pub(super) rows: Vec<Row>,
    pub(super) legend: Vec<Key>,
    /// How many nodes a cell has, where that is more than one.
    pub(super) most_in_cell: usize,
    /// Whether nothing short names the nodes of some cell.
    pub(super) has_unnamed: bool,
    /// How large cells are, a class of style.
    pub(super) size: &'static str,
    /// What a section is.
    pub(super) what: &'static str,
    /// How many nodes fail, for who hears the page.
    pub(super) summary: String,
}

/// Sections that stand in one row of the machine room.
pub(super) struct Row {
    pub(super) title: Option<String>,
    pub(super) sections: Vec<Part>,
}

/// A section.
pub(super) struct Part {
    pub(super) title: String,
    /// The list of its nodes.
    pub(super) href: Option<String>,
    pub(super) cells: Vec<Colored>,
    pub(super) is_rack: bool,
    /// How many of its nodes have each look, in the legend's order, and how many there are.
    pub(super) counts: Counts,
    pub(super) count: usize,
}

/// A cell.
pub(super) struct Colored {
    /// Its class of style.
    pub(super) look: &'static str,
    pub(super) href: String,
    pub(super) title: String,
    /// Whether it has more nodes than its address names.
    pub(super) is_unnamed: bool,
    /// Whether fewer than half of its nodes look so.
    pub(super) is_part: bool,
}

/// A color, and what it means.
pub(super) struct Key {
    pub(super) look: &'static str,
    pub(super) word: &'static str,
    pub(super) count: String,
    pub(super) is_empty: bool,
}

impl Look {
    /// In their order.
    const ALL: [Self; 5] =
        [Self::Failed, Self::FailedInRerun, Self::Busy, Self::Defined, Self::Booted];

    fn of(node: &Node) -> Self {
        match node.status {
            Status::Failed => Self::Failed,
            _ if node.updatestatus == Some(UpdateStatus::Failed) => Self::FailedInRerun,
            Status::Booted => Self::Booted,
            Status::Defined => Self::Defined,
            _ => Self::Busy,
        }
    }

    /// Its class of style, short because each cell has it.
    fn class(self) -> &'static str {
        match self {
            Self::Failed => "f",
            Self::FailedInRerun => "r",
            Self::Busy => "b",
            Self::Defined => "d",
            Self::Booted => "g",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::FailedInRerun => "failed in a rerun",
            Self::Busy => "installing or booting",
            Self::Defined => "defined",
            Self::Booted => "booted",
        }
    }
}

impl Map {
    /// The nodes of `snapshot` where `layout` has them.
    pub(super) fn new(snapshot: &Snapshot, layout: &Layout) -> Self {
        let mut all = Counts::default();
        let mut rows = Vec::<Row>::new();
        for section in &layout.sections {
            let part = Part::of(section, snapshot);
            all.iter_mut().zip(part.counts).for_each(|(all, count)| *all += count);
            match rows.last_mut().filter(|row| row.title == section.row) {
                Some(row) => row.sections.push(part),
                None => rows.push(Row { title: section.row.clone(), sections: vec![part] }),
            }
        }
        let legend = Look::ALL.into_iter().zip(all);
        let legend = legend
            .map(|(look, count)| Key {
                look: look.class(),
                word: look.word(),
                count: grouped(count),
                is_empty: count == 0,
            })
            .collect();
        let mut parts = rows.iter().flat_map(|row| &row.sections);
        let has_unnamed = parts.any(|part| part.cells.iter().any(|cell| cell.is_unnamed));
        let cells: usize = layout.sections.iter().map(|section| section.cells.len()).sum();
        Self {
            rows,
            legend,
            size: if cells <= LARGE {
                "large"
            } else if cells <= MEDIUM {
                "medium"
            } else {
                "small"
            },
            most_in_cell: layout.most_in_cell,
            has_unnamed,
            what: if layout.has_racks { "Rack" } else { "Group" },
            summary: summary(&all),
        }
    }
}

impl Part {
    fn of(section: &Section, snapshot: &Snapshot) -> Self {
        let mut counts = Counts::default();
        let color = |cell: &Cell| Colored::of(cell, snapshot, &mut counts);
        let cells = section.cells.iter().map(color).collect();
        Self {
            title: section.title.clone(),
            href: section.set.as_ref().map(|set| of_set(set)),
            cells,
            is_rack: section.is_rack,
            count: counts.iter().sum(),
            counts,
        }
    }
}

impl Colored {
    /// Adds its nodes to `all`.
    fn of(cell: &Cell, snapshot: &Snapshot, all: &mut Counts) -> Self {
        let mut counts = Counts::default();
        let mut worst: Option<(Look, &Node)> = None;
        for index in &cell.members {
            // The layout is that of a snapshot with the same nodes.
            let Some(member) = snapshot.members.get(*index as usize) else { continue };
            let look = Look::of(&member.node);
            counts[look as usize] += 1;
            if worst.is_none_or(|(worst, _)| look < worst) {
                worst = Some((look, &member.node));
            }
        }
        all.iter_mut().zip(counts).for_each(|(all, count)| *all += count);
        let Some((look, node)) = worst else {
            let (href, title) = ("/nodes".to_owned(), cell.label.clone());
            return Self { look: "", href, title, is_unnamed: true, is_part: false };
        };
        let is_one = cell.members.len() == 1 && cell.label == node.name;
        let status = match look {
            Look::Busy => node.status.as_str(),
            _ => look.word(),
        };
        if is_one {
            let title = match &node.detail.stage {
                Some(stage) if look < Look::Defined => {
                    format!("{} {status} in {stage}", node.name)
                }
                _ => format!("{} {status}", node.name),
            };
            let (look, href) = (look.class(), of_node(&node.name));
            return Self { look, href, title, is_unnamed: false, is_part: false };
        }
        let unnamed = if cell.set.is_none() { " (can't be selected)" } else { "" };
        Self {
            look: look.class(),
            is_part: counts[look as usize] * 2 < cell.members.len(),
            // Where no set names them, its worst node stands for it.
            href: cell.set.as_ref().map_or_else(|| of_node(&node.name), |set| of_set(set)),
            title: format!("{}: {}{unnamed}", cell.label, summary(&counts)),
            is_unnamed: cell.set.is_none(),
        }
    }
}

/// The list of the nodes of a folded set.
fn of_set(set: &str) -> String {
    format!("/nodes?q={}", encoded(set))
}

/// How many nodes have each look, of those that there are.
fn summary(counts: &Counts) -> String {
    let counts = Look::ALL.into_iter().zip(counts).filter(|(_, count)| **count > 0);
    let counts: Vec<String> =
        counts.map(|(look, count)| format!("{count} {}", look.word())).collect();
    counts.join(", ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Instant;

    use askama::Template;
    use provost_plan::nodes::expand;

    use super::*;
    use crate::config::page::Rack;
    use crate::fleet::layout::Layouts;
    use crate::published::PublishedFolder;
    use crate::published::site_groups::SiteGroups;

    #[derive(Template)]
    #[template(path = "map.html")]
    struct Alone {
        map: Map,
    }

    fn layouts(racks: Vec<Rack>) -> Layouts {
        let www = PublishedFolder::new(std::path::Path::new("/nonexistent"));
        Layouts::new(SiteGroups::new(www), racks)
    }

    /// Nodes, of which those of `failed` have failed.
    fn nodes(set: &str, failed: &[&str]) -> Arc<Snapshot> {
        let mut names = expand(set).unwrap();
        names.sort();
        let node = |name: String| {
            let has_failed = failed.contains(&name.as_str());
            let status = if has_failed { Status::Failed } else { Status::Booted };
            Node { name, status, ..Node::default() }
        };
        Arc::new(Snapshot::of(names.into_iter().map(node).collect(), 0))
    }

    #[test]
    fn a_cell_shows_its_worst_node() {
        let snapshot = nodes("n[00001-10000]", &["n00007", "n09999"]);
        let map = Map::new(&snapshot, &layouts(Vec::new()).of(&snapshot));
        let cells = &map.rows[0].sections[0].cells;
        assert_eq!((cells.len(), map.most_in_cell), (2_000, 5));
        let failed: Vec<&Colored> = cells.iter().filter(|cell| cell.look == "f").collect();
        assert_eq!(failed.len(), 2);
        assert_eq!(failed[0].title, "n[00006-00010]: 1 failed, 4 booted");
        assert_eq!(failed[0].href, "/nodes?q=n%5B00006%2D00010%5D");
        assert_eq!(map.summary, "2 failed, 9998 booted");
        // One of five is seen as less than all of them.
        assert!(failed[0].is_part && cells.iter().filter(|cell| cell.is_part).count() == 2);
        assert!(!map.has_unnamed);
    }

    #[test]
    fn a_cell_whose_nodes_have_no_short_set_says_that_it_cant_be_selected() {
        let letters =
            |n: u32| (0..60).map(|at| char::from(b'a' + (n >> (at % 13) & 1) as u8)).collect();
        let names: Vec<String> = (0..4_001).map(letters).collect();
        let snapshot = nodes(&names.join(","), &[]);
        let map = Map::new(&snapshot, &layouts(Vec::new()).of(&snapshot));
        let cell = &map.rows[0].sections[0].cells[0];
        assert!(cell.is_unnamed && cell.href.starts_with("/nodes/"), "{}", cell.href);
        assert!(cell.title.ends_with(": 3 booted (can't be selected)"), "{}", cell.title);
        let text = Alone { map }.render().unwrap();
        assert!(text.contains("No short set names the nodes of some cells"), "{text}");
    }

    #[test]
    fn the_map_of_a_big_site_is_small_and_soon_made() {
        let names = "n[00001-99999],m1";
        let rack = |n: usize| Rack {
            name: format!("r{n:04}"),
            row: Some(format!("{}", n / 100)),
            nodes: (n * 43..(n + 1) * 43).map(|n| format!("n{n:05}")).collect(),
        };
        let failed: Vec<String> = (1..3000).map(|n| format!("n{:05}", n * 33)).collect();
        let failed: Vec<&str> = failed.iter().map(String::as_str).collect();
        let snapshot = nodes(names, &failed);
        for racks in [Vec::new(), (0..2326).map(rack).collect()] {
            let layouts = layouts(racks);
            layouts.of(&snapshot);
            let began = Instant::now();
            let map = Map::new(&snapshot, &layouts.of(&snapshot));
            let text = Alone { map }.render().unwrap();
            println!("{} bytes in {:?}", text.len(), began.elapsed());
            assert!(text.len() < 330_000, "{}", text.len());
        }
    }
}

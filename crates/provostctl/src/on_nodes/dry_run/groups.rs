//! Nodes with the same result of a dry run.

use std::collections::BTreeMap;

use provost_plan::nodes::fold;
use provost_steplog::terminal::escape_cell;
use serde_json::{Value, json};

use super::super::row::{Outcome, Row, head};
use super::document::{Document, without_name};

/// All of them, by what is the same.
#[derive(Default)]
pub(super) struct Groups(BTreeMap<String, Group>);

/// The nodes with one result.
pub(super) struct Group {
    pub(super) nodes: Vec<String>,
    /// How it went on the node that was first.
    pub(super) row: Row,
    /// What that node has found; none where it has found nothing out.
    pub(super) document: Option<Document>,
    /// Whether the others differ in their names.
    pub(super) differ_in_name: bool,
}

impl Groups {
    /// Adds the result of one node.
    pub(super) fn add(&mut self, row: &Row, document: Option<Document>) {
        let node = row.node.as_str();
        let why = format!("{} {:?}", head(&row.detail), row.detail.error_message);
        let found = document.as_ref().map_or(String::new(), |document| document.same(node));
        let key = format!("{}\n{}\n{found}", row.outcome.as_str(), without_name(&why, node));
        let has_name = key.contains("NODE");
        let group = self.0.entry(key).or_insert_with(|| Group {
            nodes: Vec::new(),
            row: row.clone(),
            document: None,
            differ_in_name: false,
        });
        // Whichever node was fastest, the same one is shown each time.
        if group.nodes.iter().all(|other| node < other.as_str()) {
            (group.row, group.document) = (row.clone(), document);
        }
        group.nodes.push(node.to_owned());
        group.differ_in_name = has_name && group.nodes.len() > 1;
    }

    /// Those where all is well first, of these the largest; then those that failed.
    pub(super) fn sorted(self) -> Vec<Group> {
        let mut all: Vec<Group> = self.0.into_values().collect();
        let place = |group: &Group| {
            let outcome = Outcome::ALL.iter().position(|outcome| *outcome == group.row.outcome);
            (outcome, usize::MAX - group.nodes.len())
        };
        all.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.nodes.cmp(&b.nodes)));
        all
    }
}

impl Group {
    /// For programs.
    pub(super) fn json(&self) -> Value {
        let mut group = json!({
            "result": self.row.outcome.as_str(),
            "count": self.nodes.len(),
            "nodes": fold(&self.nodes),
        });
        let row = self.row.json();
        for key in ["exitCode", "detail", "hint"] {
            if let Some(value) = row.get(key) {
                group[key] = value.clone();
            }
        }
        if let Some(document) = &self.document {
            group["node"] = escape_cell(&self.row.node).into();
            group["dryRun"] = document.all.clone();
        }
        group
    }
}

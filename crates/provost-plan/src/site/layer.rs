use std::collections::{BTreeMap, BTreeSet};

use crate::Step;

/// What one section gives to some nodes.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    /// The section, such as `groups.gpu`.
    pub(super) name: String,
    /// None for all nodes.
    pub(super) nodes: Option<BTreeSet<String>>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) env_secret: BTreeMap<String, String>,
    pub(super) postscripts: Vec<Step>,
    pub(super) postbootscripts: Vec<Step>,
    pub(super) runbootscripts: Option<bool>,
}

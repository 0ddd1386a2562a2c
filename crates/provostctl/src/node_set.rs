use std::str::FromStr;

use provost_plan::nodes;

/// Nodes, each once.
#[derive(Clone, Debug)]
pub(crate) struct NodeSet {
    pub(crate) names: Vec<String>,
}

/// One node.
#[derive(Clone, Debug)]
pub(crate) struct NodeName(pub(crate) String);

impl FromStr for NodeName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match provost_plan::is_node_name(text) {
            true => Ok(Self(text.to_owned())),
            false => Err("not a node's name\n  hint: name one node, such as cn001".into()),
        }
    }
}

impl NodeSet {
    /// The nodes as one short text.
    pub(crate) fn folded(&self) -> String {
        nodes::fold(&self.names)
    }
}

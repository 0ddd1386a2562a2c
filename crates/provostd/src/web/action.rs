//! What may be done with nodes.

use super::page::encoded;
use crate::admin::accounts::{Actor, May};
use crate::admin::jobs::order::Order;

/// A change of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Continue,
    Boot,
    Rerun,
    Release,
    Remove,
}

impl Action {
    pub(super) const ALL: [Self; 5] =
        [Self::Continue, Self::Boot, Self::Rerun, Self::Release, Self::Remove];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Continue => Order::Continue.word(),
            Self::Boot => Order::Boot.word(),
            Self::Rerun => Order::Rerun.word(),
            Self::Release => "release",
            Self::Remove => "remove",
        }
    }

    /// What nodes are to do, where it isn't provostd that does it.
    pub(super) fn order(self) -> Option<Order> {
        match self {
            Self::Continue => Some(Order::Continue),
            Self::Boot => Some(Order::Boot),
            Self::Rerun => Some(Order::Rerun),
            Self::Release | Self::Remove => None,
        }
    }

    /// What is done with `nodes`.
    pub(super) fn title(self, nodes: &str) -> String {
        match self {
            Self::Continue => format!("Continue {nodes}"),
            Self::Boot => format!("Boot {nodes}"),
            Self::Rerun => format!("Rerun on {nodes}"),
            Self::Release => format!("Release {nodes}"),
            Self::Remove => format!("Remove {nodes}"),
        }
    }

    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Continue => {
                "Runs what the last kickstart or boot left unfinished, from the step that failed on, with what \
                 is published now."
            }
            Self::Boot => {
                "Runs all postscripts of a boot, without a reboot, with what is published now."
            }
            Self::Rerun => {
                "Runs one script, with the arguments of each node's plan. It finishes no boot."
            }
            Self::Release => {
                "Forgets failed attempts: a node that the guard held runs again at its next boot."
            }
            Self::Remove => {
                "Removes all that is known: status, runs, logs, token, identity. This can't be undone."
            }
        }
    }

    /// Where the browser goes when provostd has done it to one node.
    pub(super) fn then(self, node: &str) -> String {
        match self {
            Self::Remove => "/nodes".to_owned(),
            _ => of_node(node),
        }
    }
}

/// The address of its page.
pub(super) fn of_node(node: &str) -> String {
    format!("/nodes/{}", encoded(node))
}

/// Whether `actor` may change anything.
fn operates(actor: Option<&Actor>) -> bool {
    actor.is_some_and(|actor| actor.may() >= May::OPERATE)
}

/// What `actor` may do with a node: a label and an address each.
pub(super) fn links(actor: Option<&Actor>, node: &str) -> Vec<(String, String)> {
    let link =
        |action: Action| (action.title(node), format!("{}/{}", of_node(node), action.word()));
    if operates(actor) { Action::ALL.into_iter().map(link).collect() } else { Vec::new() }
}

/// What `actor` may do with the nodes that the query of a list selects.
pub(super) fn links_of_all(actor: Option<&Actor>, query: &str) -> Vec<(String, String)> {
    let link = |action: Action| (action.title("these"), format!("/act/{}?{query}", action.word()));
    if operates(actor) { Action::ALL.into_iter().map(link).collect() } else { Vec::new() }
}

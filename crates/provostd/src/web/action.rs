//! What may be done with a node.

use super::page::encoded;
use crate::admin::accounts::{Actor, May};

/// A change of a node.
#[derive(Clone, Copy)]
pub(super) enum Action {
    Continue,
    Release,
    Remove,
}

impl Action {
    const ALL: [Self; 3] = [Self::Continue, Self::Release, Self::Remove];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Release => "release",
            Self::Remove => "remove",
        }
    }

    pub(super) fn title(self, node: &str) -> String {
        match self {
            Self::Continue => format!("Continue {node}"),
            Self::Release => format!("Release {node}"),
            Self::Remove => format!("Remove {node}"),
        }
    }

    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Continue => {
                "It runs what its last kickstart or boot left unfinished, from the step that failed on, with \
                 what is published now."
            }
            Self::Release => {
                "Its failed attempts are forgotten: it runs again at its next boot, if the guard held it."
            }
            Self::Remove => {
                "All that is known of it is removed: status, runs, logs, token, identity. This can't be \
                 undone."
            }
        }
    }

    /// Where the browser goes when it is done.
    pub(super) fn then(self, node: &str) -> String {
        match self {
            Self::Continue | Self::Release => of_node(node),
            Self::Remove => "/nodes".to_owned(),
        }
    }
}

/// The address of its page.
pub(super) fn of_node(node: &str) -> String {
    format!("/nodes/{}", encoded(node))
}

/// What `actor` may do with a node, which there is a program to continue by or not: a label and an address each.
pub(super) fn links(actor: Option<&Actor>, node: &str, continues: bool) -> Vec<(String, String)> {
    let may = actor.is_some_and(|actor| actor.may() >= May::OPERATE);
    let is_there = |action: &Action| may && (continues || !matches!(action, Action::Continue));
    let link =
        |action: Action| (action.title(node), format!("{}/{}", of_node(node), action.word()));
    Action::ALL.into_iter().filter(is_there).map(link).collect()
}

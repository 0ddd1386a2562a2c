//! Where the web page shows what a message is about.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use provost_plan::nodes::fold;
use provost_store::{NoticeKind, failure_id};

use super::group::Group;

/// The longest set of nodes in an address, in characters.
const MOST: usize = 1000;

/// The page of a group's nodes; `page` is the URL of the web page.
pub(super) fn link(group: &Group, page: &str) -> String {
    let id = group.first().node.as_deref().and_then(failure_id);
    let path = match (group.kind(), &group.nodes()[..], id) {
        (NoticeKind::Pending, ..) => "pending".to_owned(),
        (NoticeKind::StormDone, ..) | (_, [], _) => String::new(),
        (_, [node], _) => return link_of_node(node, page),
        (NoticeKind::Failed, _, Some(id)) => format!("nodes?cause={id}"),
        (_, nodes, _) => {
            let set = fold(nodes);
            if set.len() <= MOST {
                format!("nodes?q={}", encoded(&set))
            } else {
                "nodes".to_owned()
            }
        }
    };
    format!("{}/{path}", page.trim_end_matches('/'))
}

/// The page of a node.
pub(super) fn link_of_node(node: &str, page: &str) -> String {
    format!("{}/nodes/{}", page.trim_end_matches('/'), encoded(node))
}

fn encoded(text: &str) -> impl std::fmt::Display {
    utf8_percent_encode(text, NON_ALPHANUMERIC)
}

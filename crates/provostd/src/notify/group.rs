//! Notices that are told together: forty nodes with one cause are one message.

use std::collections::{BTreeMap, HashMap};

use jiff::{SignedDuration, Timestamp};
use provost_store::{Notice, NoticeKind, Queued, failure_id};

/// Notices that are delivered at once, the oldest first; there is at least one.
#[derive(Debug)]
pub(super) struct Group(pub(super) Vec<Queued>);

impl Group {
    /// The oldest one, which tells what all of them are.
    pub(super) fn first(&self) -> &Notice {
        &self.0[0].notice
    }

    pub(super) fn kind(&self) -> NoticeKind {
        self.first().kind
    }

    pub(super) fn ids(&self) -> Vec<i64> {
        self.0.iter().map(|queued| queued.id).collect()
    }

    /// The names of the nodes; a node may have failed twice.
    pub(super) fn nodes(&self) -> Vec<String> {
        let names = self.0.iter().filter_map(|queued| queued.notice.node.as_ref());
        let mut names: Vec<String> = names.map(|node| node.name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// What the notices of a group have in common.
type Key = (NoticeKind, String);

fn key(notice: &Notice, id: i64) -> Key {
    let node = notice.node.as_deref();
    let common = match notice.kind {
        NoticeKind::Failed => node.and_then(failure_id),
        NoticeKind::Lost => node.and_then(|node| node.detail.stage.clone()),
        NoticeKind::StormDone => Some(id.to_string()),
        NoticeKind::Booted | NoticeKind::Held | NoticeKind::Pending | NoticeKind::Other(_) => None,
    };
    (notice.kind, common.unwrap_or_default())
}

/// Groups of `most` notices at most, in the order in which they are to be delivered: of one node, what
/// happened later is in a later group, or in the same.
pub(super) fn groups(queued: Vec<Queued>, most: usize) -> Vec<Group> {
    // By how many other things have happened to the node before.
    let mut levels = BTreeMap::<usize, Vec<Group>>::new();
    let mut open = HashMap::<(usize, Key), usize>::new();
    let mut last_of_node = HashMap::<String, (usize, Key)>::new();
    for queued in queued {
        let key = key(&queued.notice, queued.id);
        let name = queued.notice.node.as_ref().map_or("", |node| &node.name).to_owned();
        let level = match last_of_node.get(&name) {
            Some((level, last)) if *last == key => *level,
            Some((level, _)) => level + 1,
            None => 0,
        };
        last_of_node.insert(name, (level, key.clone()));
        let groups = levels.entry(level).or_default();
        let fits = |at: &usize| groups[*at].0.len() < most;
        let at = open.get(&(level, key.clone())).copied().filter(fits).unwrap_or_else(|| {
            groups.push(Group(Vec::new()));
            groups.len() - 1
        });
        open.insert((level, key), at);
        groups[at].0.push(queued);
    }
    levels.into_values().flatten().collect()
}

/// Whether the oldest of these has waited for `window`, in which others with its cause have come.
pub(super) fn is_ripe(queued: &[Queued], window: SignedDuration, now: Timestamp) -> bool {
    // A clock that was set back makes nothing wait for longer.
    queued.first().is_some_and(|first| now.duration_since(first.notice.at).abs() >= window)
}

#[cfg(test)]
mod tests {
    use provost_store::{Detail, Node, Status};

    use super::*;

    fn queued(id: i64, node: &str, kind: NoticeKind, message: &str) -> Queued {
        let error_message = Some(message.to_owned());
        let detail = Detail { stage: Some("mount".into()), error_message, ..Detail::default() };
        let node = Node { name: node.into(), status: Status::Failed, detail, ..Default::default() };
        let at = Timestamp::from_second(1000 + id).unwrap();
        Queued { id, notice: Notice::of(kind, node, at) }
    }

    fn ids(groups: &[Group]) -> Vec<Vec<i64>> {
        groups.iter().map(Group::ids).collect()
    }

    #[test]
    fn nodes_with_one_cause_are_together_and_each_nodes_order_stays() {
        use NoticeKind::{Booted, Failed};
        let all = vec![
            queued(1, "a", Failed, "no disk"),
            queued(2, "b", Failed, "no network at all"),
            queued(3, "c", Failed, "no disk"),
            queued(4, "a", Booted, ""),
            // Not with the first: this node has booted meanwhile.
            queued(5, "a", Failed, "no disk"),
            queued(6, "d", Failed, "no disk"),
            queued(7, "d", Booted, ""),
        ];
        let groups = groups(all, 100);
        assert_eq!(ids(&groups), [vec![1, 3, 6], vec![2], vec![4, 7], vec![5]]);
        assert_eq!(groups[0].nodes(), ["a", "c", "d"]);
    }

    #[test]
    fn a_group_is_no_longer_than_allowed_and_waits_for_its_window() {
        let all = (0..250).map(|id| queued(id, &format!("n{id}"), NoticeKind::Booted, ""));
        let of_100 = groups(all.collect(), 100);
        assert_eq!(of_100.iter().map(|g| g.0.len()).collect::<Vec<_>>(), [100, 100, 50]);
        let two = [1, 2].map(|id| queued(id, "a", NoticeKind::Booted, ""));
        let is_ripe = |now| {
            is_ripe(&two, SignedDuration::from_secs(10), Timestamp::from_second(now).unwrap())
        };
        assert_eq!([1005, 1010, 1011, 900].map(is_ripe), [false, false, true, true]);
    }
}

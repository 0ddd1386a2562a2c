//! Nodes that try to report and have no valid token or identity: what `provostctl pending` shows. They are kept
//! in memory, because anybody can name any node.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use provost_api::AuthFailure;
use provost_api::admins::PendingNode;
use provost_plan::is_node_name;
use provost_record::now;

use super::pending_nodes::PendingNodes;

/// How many nodes are kept. The ones that haven't tried for the longest time make room for others.
const MOST: usize = 10_000;
/// How many new ones are logged …
const LOGGED: u32 = 10;
/// … in this time.
const LOG_PERIOD: Duration = Duration::from_secs(60);

pub(crate) struct Pending {
    known: Mutex<Known>,
    /// Who is told of new ones.
    pub(crate) tell: PendingNodes,
}

#[derive(Default)]
struct Known {
    next: u64,
    /// The longest ago come first: their numbers grow.
    by_age: BTreeMap<u64, PendingNode>,
    by_node: HashMap<String, u64>,
    /// When the log's period began, and how many were logged in it.
    logged: Option<(Instant, u32)>,
}

impl Pending {
    pub(crate) fn new(tell: PendingNodes) -> Self {
        Self { known: Mutex::default(), tell }
    }

    /// A request about `node` was refused; `hint` is what an admin can do. A name that no node can have isn't
    /// kept.
    pub(crate) fn add(&self, node: &str, address: IpAddr, why: AuthFailure, hint: &str) {
        if !is_node_name(node) {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let last = now();
        let entry = match known.take(node) {
            Some(before) => PendingNode {
                address,
                why,
                last,
                hint: Some(hint.to_owned()),
                attempts: before.attempts.map(|before| before + 1),
                ..before
            },
            None => {
                if known.log(node, address, why, hint) {
                    self.tell.tell(node, format!("{address}: {}", why.words()), hint);
                }
                PendingNode {
                    node: node.to_owned(),
                    address,
                    why,
                    last,
                    since: last,
                    attempts: Some(1),
                    key: None,
                    hint: Some(hint.to_owned()),
                }
            }
        };
        let number = known.next;
        known.next += 1;
        known.by_node.insert(entry.node.clone(), number);
        known.by_age.insert(number, entry);
        if known.by_age.len() > MOST
            && let Some((_, oldest)) = known.by_age.pop_first()
        {
            known.by_node.remove(&oldest.node);
        }
    }

    /// The node has a valid token now, or is removed.
    pub(crate) fn remove(&self, node: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).take(node);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).by_age.len()
    }

    /// All of them, by name.
    pub(crate) fn list(&self) -> Vec<PendingNode> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = known.by_age.values().cloned().collect();
        all.sort_by(|a, b| a.node.cmp(&b.node));
        all
    }
}

impl Known {
    fn take(&mut self, node: &str) -> Option<PendingNode> {
        let number = self.by_node.remove(node)?;
        self.by_age.remove(&number)
    }

    /// Logs a new one, unless that would fill the log. Returns whether it did.
    fn log(&mut self, node: &str, address: IpAddr, why: AuthFailure, hint: &str) -> bool {
        let (began, count) =
            self.logged.filter(|(at, _)| at.elapsed() < LOG_PERIOD).unwrap_or((Instant::now(), 0));
        self.logged = Some((began, count.saturating_add(1)));
        let why = why.words();
        if count < LOGGED {
            tracing::warn!(hint, "{node} at {address} tries to report with {why}");
        } else if count == LOGGED {
            let hint = "list all: provostctl pending";
            tracing::warn!(hint, "more nodes try to report without a valid token or identity");
        }
        count < LOGGED
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn a_flood_of_names_leaves_the_newest_ten_thousand() {
        let pending = Pending::new(PendingNodes::new(None));
        let add = |name: &str| pending.add(name, Ipv4Addr::LOCALHOST.into(), AuthFailure::Missing, "");
        for n in 0..100_000 {
            add(&format!("n{n:05}"));
            // It keeps trying.
            if n % 5_000 == 0 {
                add("cn001");
            }
        }
        let all = pending.list();
        assert_eq!(all.len(), MOST);
        assert_eq!((all[0].node.as_str(), all[0].attempts), ("cn001", Some(20)));
        assert_eq!(all[MOST - 1].node, "n99999");
        let known = pending.known.lock().unwrap();
        assert_eq!((known.by_node.len(), known.by_age.len()), (MOST, MOST));
        assert_eq!(known.logged.unwrap().1, 100_001);
    }

    #[test]
    fn a_name_that_no_node_can_have_is_not_kept() {
        let pending = Pending::new(PendingNodes::new(None));
        for name in ["", "a b", "..", "x\u{1b}[31m", "a/b", &"x".repeat(10_000)] {
            pending.add(name, Ipv4Addr::LOCALHOST.into(), AuthFailure::Unknown, "");
        }
        assert!(pending.list().is_empty());
    }
}

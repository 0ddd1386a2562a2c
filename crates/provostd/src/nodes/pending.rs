//! Nodes that ask for something of ours and can't get on, because they have no valid token or identity: what
//! `provostctl pending` shows. They are kept in memory, because anybody can name any node.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use provost_api::AuthFailure;
use provost_api::admins::PendingNode;
use provost_plan::is_node_name;
use provost_record::now;
use provost_store::Network;

use super::pending_nodes::PendingNodes;

/// How many nodes are kept. The ones that haven't tried for the longest time make room for others.
const MOST: usize = 10_000;
/// How many of one [client](Network::of_client): more of them are one, without a name.
const OF_CLIENT: usize = 256;
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
    /// The numbers of each name, by client: a stranger who gives a node's name hides nothing of the node. The
    /// empty name has what named no node.
    by_name: HashMap<String, HashMap<Network, u64>>,
    /// How many each client has.
    of_client: HashMap<Network, usize>,
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
        let client = Network::of_client(address);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.has_room(node, client) {
            if known.add(node, address, why, hint) && known.log(node, address, why, hint) {
                self.tell.tell(node, format!("{address}: {}", why.words()), hint);
            }
        } else {
            known.add("", address, AuthFailure::TooMany, "list all: provostctl pending --long");
        }
    }

    /// A request from `address` that names no node can't be served.
    pub(crate) fn add_unnamed(&self, address: IpAddr, why: AuthFailure, hint: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.add("", address, why, hint) {
            known.log("", address, why, hint);
        }
    }

    /// The node at `address` has proved who it is.
    pub(crate) fn let_in(&self, node: &str, address: IpAddr) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(node);
        known.remove_unnamed(address);
    }

    /// What asked from `address` without a name has one now.
    pub(crate) fn remove_unnamed(&self, address: IpAddr) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove_unnamed(address);
    }

    /// The node is removed.
    pub(crate) fn remove(&self, node: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(node);
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
    fn has_room(&self, node: &str, client: Network) -> bool {
        let is_known = || self.by_name.get(node).is_some_and(|of| of.contains_key(&client));
        self.of_client.get(&client).is_none_or(|count| *count < OF_CLIENT) || is_known()
    }

    /// Adds one, or that it has tried again. Returns whether it is new.
    fn add(&mut self, node: &str, address: IpAddr, why: AuthFailure, hint: &str) -> bool {
        let (client, last) = (Network::of_client(address), now());
        let before = self.by_name.get(node).and_then(|of| of.get(&client)).copied();
        let before = before.and_then(|number| self.take(number));
        let (since, attempts) = match &before {
            Some(before) => (before.since, before.attempts.map(|attempts| attempts + 1)),
            None => (last, Some(1)),
        };
        let (node, hint) = (node.to_owned(), Some(hint.to_owned()));
        // A node that got no key because nothing is published for it reports by that key as well.
        let (why, hint) = match &before {
            Some(before)
                if (before.why, why) == (AuthFailure::Unpublished, AuthFailure::UnknownKey) =>
            {
                (before.why, before.hint.clone())
            }
            _ => (why, hint),
        };
        let number = self.next;
        self.next += 1;
        self.by_name.entry(node.clone()).or_default().insert(client, number);
        *self.of_client.entry(client).or_default() += 1;
        let entry = PendingNode { node, address, why, last, since, attempts, key: None, hint };
        self.by_age.insert(number, entry);
        let oldest = self.by_age.first_key_value().map(|(number, _)| *number);
        if let Some(oldest) = oldest.filter(|_| self.by_age.len() > MOST) {
            self.take(oldest);
        }
        before.is_none()
    }

    fn remove(&mut self, node: &str) {
        let numbers = self.by_name.get(node).into_iter().flat_map(HashMap::values);
        for number in numbers.copied().collect::<Vec<_>>() {
            self.take(number);
        }
    }

    fn remove_unnamed(&mut self, address: IpAddr) {
        let unnamed = self.by_name.get("").and_then(|of| of.get(&Network::of_client(address)));
        if let Some(number) = unnamed.copied() {
            self.take(number);
        }
    }

    fn take(&mut self, number: u64) -> Option<PendingNode> {
        let entry = self.by_age.remove(&number)?;
        let client = Network::of_client(entry.address);
        if let Some(of_name) = self.by_name.get_mut(&entry.node) {
            of_name.remove(&client);
            if of_name.is_empty() {
                self.by_name.remove(&entry.node);
            }
        }
        if let Some(count) = self.of_client.get_mut(&client) {
            *count -= 1;
            if *count == 0 {
                self.of_client.remove(&client);
            }
        }
        Some(entry)
    }

    /// Logs a new one, unless that would fill the log. Returns whether it did.
    fn log(&mut self, node: &str, address: IpAddr, why: AuthFailure, hint: &str) -> bool {
        let (began, count) =
            self.logged.filter(|(at, _)| at.elapsed() < LOG_PERIOD).unwrap_or((Instant::now(), 0));
        self.logged = Some((began, count.saturating_add(1)));
        let why = why.words();
        if count < LOGGED {
            match node {
                "" => tracing::warn!(hint, "{address} can't go on: {why}"),
                node => tracing::warn!(hint, "{node} at {address} can't go on: {why}"),
            }
        } else if count == LOGGED {
            let hint = "list all: provostctl pending";
            tracing::warn!(hint, "more nodes can't go on");
        }
        count < LOGGED
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn pending() -> Pending {
        Pending::new(PendingNodes::new(None))
    }

    #[test]
    fn a_flood_of_names_from_one_address_pushes_nobody_out_and_is_one_in_the_end() {
        let pending = pending();
        let add = |name: &str, address: [u8; 4]| {
            pending.add(name, address.into(), AuthFailure::Missing, "hint")
        };
        add("cn001", [10, 0, 0, 1]);
        for n in 0..100_000 {
            add(&format!("n{n:05}"), [10, 0, 0, 2]);
        }
        // He gives the node's name as well, which hides nothing of the node.
        add("n00000", [10, 0, 0, 1]);
        add("cn001", [10, 0, 0, 1]);
        let all = pending.list();
        assert_eq!(all.len(), 1 + 1 + OF_CLIENT + 1);
        let of = |name: &str| all.iter().filter(|one| one.node == name).collect::<Vec<_>>();
        assert_eq!((of("").len(), of("")[0].why), (1, AuthFailure::TooMany));
        assert_eq!(of("")[0].attempts, Some(100_000 - OF_CLIENT as u64));
        assert_eq!((of("cn001")[0].attempts, of("n00000").len()), (Some(2), 2));
        pending.remove("n00000");
        assert_eq!(pending.count(), OF_CLIENT + 1);
    }

    #[test]
    fn a_flood_from_all_addresses_leaves_the_newest_ten_thousand() {
        let pending = pending();
        let add = |name: &str, address: Ipv4Addr| {
            pending.add(name, address.into(), AuthFailure::Missing, "hint")
        };
        for n in 0..100_000 {
            add(&format!("n{n:05}"), Ipv4Addr::from_bits(n / 200));
            // It keeps trying.
            if n % 5_000 == 0 {
                add("cn001", Ipv4Addr::LOCALHOST);
            }
        }
        let all = pending.list();
        assert_eq!(all.len(), MOST);
        assert_eq!((all[0].node.as_str(), all[0].attempts), ("cn001", Some(20)));
        assert_eq!(all[MOST - 1].node, "n99999");
        let known = pending.known.lock().unwrap();
        assert_eq!((known.by_name.len(), known.by_age.len()), (MOST, MOST));
        assert_eq!(known.of_client.values().sum::<usize>(), MOST);
        assert_eq!(known.logged.unwrap().1, 100_001);
    }

    #[test]
    fn a_name_that_no_node_can_have_is_not_kept() {
        let pending = pending();
        for name in ["", "a b", "..", "x\u{1b}[31m", "a/b", &"x".repeat(10_000)] {
            pending.add(name, Ipv4Addr::LOCALHOST.into(), AuthFailure::Unknown, "");
        }
        assert!(pending.list().is_empty());
    }
}

use jiff::Timestamp;

use crate::{Answer, Claim, Lost, Node, Released, ReportedGenerations, Standing};

/// What is remembered of nodes, besides their records.
pub trait NodeStates {
    /// Stores a claim about a node; an unknown node becomes known. Returns whether the claim is
    /// accepted: not of a node that has ever reported with a token. `at` is the server's time.
    fn claim(&self, claim: Claim, at: Timestamp) -> Answer<'_, bool>;

    /// The names of all nodes, in order.
    fn names(&self) -> Answer<'_, Vec<String>>;

    /// One node.
    fn node<'a>(&'a self, name: &'a str) -> Answer<'a, Option<Node>>;

    /// The node of a run. If two nodes use the same id, it is the first one's.
    fn node_of_run<'a>(&'a self, run: &'a str) -> Answer<'a, Option<String>>;

    /// What each node has fetched.
    fn seen(&self) -> Answer<'_, Vec<(String, ReportedGenerations)>>;

    /// Whether a node has ever reported with its token.
    fn has_reported<'a>(&'a self, node: &'a str) -> Answer<'a, bool>;

    /// A node's attempts, without its run `current`. An unknown node has none.
    fn standing<'a>(&'a self, node: &'a str, current: Option<&'a str>) -> Answer<'a, Standing>;

    /// Forgets the attempts of nodes, all or none: `Err` has the unknown ones. `at` is the
    /// server's time.
    fn release(
        &self,
        nodes: Vec<String>,
        at: Timestamp,
    ) -> Answer<'_, Result<Vec<Released>, Vec<String>>>;

    /// Notes that nodes were sent a boot at the server's time `at`, until they report a kickstart or a
    /// boot; without a time, that they weren't. Returns those that are known.
    fn note_boot_sent(&self, nodes: Vec<String>, at: Option<Timestamp>) -> Answer<'_, Vec<String>>;

    /// When the next node may count as lost if it reports nothing: not later than it does, but sooner if
    /// it has reported since, which [`lose`](Self::lose) finds out. The caller adds its margin, here and
    /// there.
    fn next_due(&self) -> Answer<'_, Option<Timestamp>>;

    /// Marks all nodes as lost that were due by `due`, until they report again. `at` is the
    /// server's time.
    fn lose(&self, due: Timestamp, at: Timestamp) -> Answer<'_, Vec<Lost>>;

    /// Restarts the deadlines of all nodes at the server's time `at`, because no daemon received
    /// reports before.
    fn restart_deadlines(&self, at: Timestamp) -> Answer<'_, ()>;
}

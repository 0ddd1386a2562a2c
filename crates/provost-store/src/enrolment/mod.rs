//! Which keys are nodes' identities, and how a node comes by one.

#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) mod decide;
mod network;

use std::net::IpAddr;

use jiff::Timestamp;

use crate::Answer;
pub use network::Network;

/// How many keys that wait for an admin are kept of one node from one [client](Network::of_client). The first
/// stays; of the others the one that hasn't asked again for the longest time makes room for another.
pub(crate) const KEYS_OF_NODE_AND_CLIENT: i64 = 4;
/// How many of one client in all: then no other is kept.
pub const KEYS_OF_CLIENT: i64 = 256;
/// How many of one node in all: then no other is kept.
pub const KEYS_OF_NODE: i64 = 64;

/// The SHA-256 of a public key.
pub type KeyDigest = [u8; 32];

/// A join token: with it a node enrols once.
#[derive(Clone, Debug)]
pub struct Join {
    /// The node that it is for.
    pub node: String,
    /// The digest; the token itself isn't stored.
    pub sha256: [u8; 32],
    /// When it was made.
    pub since: Timestamp,
    /// Until when it counts.
    pub until: Timestamp,
    /// From where it counts, if not from everywhere.
    pub from: Option<Network>,
}

/// A join token that wasn't used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedJoin {
    /// The node that it is for.
    pub node: String,
    /// When it was made.
    pub since: Timestamp,
    /// Until when it counts.
    pub until: Timestamp,
}

/// What a node asks for, with a key of which it has the secret part.
#[derive(Clone, Debug)]
pub struct EnrolmentRequest {
    /// The node that it says it is.
    pub node: String,
    /// Its key.
    pub key: KeyDigest,
    /// The digest of its join token, if it has one.
    pub join: Option<[u8; 32]>,
    /// Where it comes from.
    pub by: IpAddr,
    /// The address that its plan has, if it has one.
    pub planned: Option<IpAddr>,
    /// Whether the connection has proved to be the key's owner's, now.
    pub is_proven: bool,
    /// Until when an identity counts that is given now.
    pub until: Timestamp,
}

/// What becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Enrolled {
    /// The key is the node's identity …
    Identity {
        /// … until then.
        until: Timestamp,
        /// Whether it wasn't before.
        is_new: bool,
    },
    /// An admin has to approve it.
    Pending,
    /// It is refused.
    Refused(EnrolmentRefusal),
}

/// Why a key doesn't become an identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnrolmentRefusal {
    /// It was revoked.
    Revoked(Timestamp),
    /// It is the identity of this other node.
    OtherNodes(String),
    /// An admin has rejected it.
    Rejected,
    /// In a window another key was first.
    SecondKey,
    /// No admin can approve it: [`KEYS_OF_NODE`] of the node wait already.
    TooManyOfNode,
    /// The same: [`KEYS_OF_CLIENT`] of this client wait already.
    TooManyOfClient(Network),
    /// The join token isn't the node's, or was replaced by another one.
    UnknownJoin,
    /// The join token was used before.
    SpentJoin(Timestamp),
    /// The join token has ended.
    EndedJoin(Timestamp),
    /// The join token doesn't count from where the request comes: only from here.
    ElsewhereJoin(String),
}

/// A key that waits for an admin, or was refused because it came second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingKey {
    /// The node that it says it is.
    pub node: String,
    /// The key.
    pub key: KeyDigest,
    /// Where its last request came from.
    pub by: IpAddr,
    /// When it came first.
    pub since: Timestamp,
    /// When it came last.
    pub last: Timestamp,
    /// Whether the node has another key already.
    pub is_second: bool,
}

/// A node's identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The node.
    pub node: String,
    /// The key.
    pub key: KeyDigest,
    /// Since when it is.
    pub since: Timestamp,
    /// Until when it counts.
    pub until: Timestamp,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
}

/// Why no key of a node is approved or rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotPending {
    /// None is pending, or not this one.
    None,
    /// More than one: these.
    Many(Vec<KeyDigest>),
    /// It is the identity of this other node.
    OtherNodes(String),
}

/// Where the identities of nodes are kept, and what leads to them. A change that returned `Ok` is
/// durable. `at` is the server's time.
pub trait Enrolment {
    /// Sets nodes' join tokens, each in place of the node's earlier one.
    fn set_joins(&self, joins: Vec<Join>) -> Answer<'_, ()>;

    /// Opens a window for each of `nodes`: until then its first key becomes its identity, while it is
    /// defined or installing.
    fn open_windows(&self, nodes: Vec<String>, until: Timestamp) -> Answer<'_, ()>;

    /// Closes the windows of `nodes`, or all. Returns those that were open.
    fn close_windows(&self, nodes: Option<Vec<String>>, at: Timestamp) -> Answer<'_, Vec<String>>;

    /// The nodes whose windows are open, with their ends.
    fn windows(&self, at: Timestamp) -> Answer<'_, Vec<(String, Timestamp)>>;

    /// Whether the window of `node` is open.
    fn has_window<'a>(&'a self, node: &'a str, at: Timestamp) -> Answer<'a, bool>;

    /// Decides about a request, and keeps what follows. An unknown node that gets an identity becomes
    /// known.
    fn enrol(&self, request: EnrolmentRequest, at: Timestamp) -> Answer<'_, Enrolled>;

    /// The keys that wait for an admin, by node.
    fn pending_keys(&self) -> Answer<'_, Vec<PendingKey>>;

    /// Makes a pending key the node's identity until `until`: `key`, or the only one. Returns which.
    fn approve<'a>(
        &'a self,
        node: &'a str,
        key: Option<KeyDigest>,
        until: Timestamp,
        at: Timestamp,
    ) -> Answer<'a, Result<KeyDigest, NotPending>>;

    /// Rejects a pending key for good: `key`, or the only one. Returns which.
    fn reject<'a>(
        &'a self,
        node: &'a str,
        key: Option<KeyDigest>,
    ) -> Answer<'a, Result<KeyDigest, NotPending>>;

    /// Revokes the identities of nodes, with their tokens and all that could lead to another
    /// identity; all or none: `Err` has the unknown ones. Returns the identities. A full disk takes it, if it has a
    /// [reserve](crate::Quotas::reserve).
    fn revoke(
        &self,
        nodes: Vec<String>,
        at: Timestamp,
    ) -> Answer<'_, Result<Vec<Identity>, Vec<String>>>;

    /// The identity that a key is or was.
    fn identity_of_key(&self, key: KeyDigest) -> Answer<'_, Option<Identity>>;

    /// The identities of nodes that end before `end`, by node.
    fn identities_until(&self, end: Timestamp) -> Answer<'_, Vec<Identity>>;

    /// The nodes whose join tokens weren't used and are valid at the time `at`, by node.
    fn unused_joins(&self, at: Timestamp) -> Answer<'_, Vec<UnusedJoin>>;

    /// A node's identity; else the one that was revoked last.
    fn identity<'a>(&'a self, node: &'a str) -> Answer<'a, Option<Identity>>;
}

use jiff::Timestamp;

use crate::Answer;

/// A node and the SHA-256 of its token.
#[derive(Clone, Debug)]
pub struct Token {
    /// The node that may use it.
    pub node: String,
    /// The digest; the token itself isn't stored.
    pub sha256: [u8; 32],
}

/// The tokens of nodes that have no identity.
pub trait Tokens {
    /// Sets nodes' tokens, all or none, each in place of the node's earlier one. An unknown node
    /// becomes known. Returns the nodes that were unknown. `at` is the server's time.
    fn set_tokens(&self, tokens: Vec<Token>, at: Timestamp) -> Answer<'_, Vec<String>>;

    /// The same, but the token that a node has counts until `old_until`, or until the new one was
    /// used. Where the one that it has was never used itself, the one before it still counts.
    fn rotate_tokens(
        &self,
        tokens: Vec<Token>,
        old_until: Timestamp,
        at: Timestamp,
    ) -> Answer<'_, Vec<String>>;

    /// Those of `names` that have no token, in their order.
    fn without_token(&self, names: Vec<String>) -> Answer<'_, Vec<String>>;

    /// The digests by which a node can prove who it is: of its valid tokens, and of its join token while that
    /// can be used. `at` is the server's time.
    fn digests_of<'a>(&'a self, node: &'a str, at: Timestamp) -> Answer<'a, Vec<[u8; 32]>>;

    /// The node whose token has this digest, at the server's time `at`. With that its earlier token
    /// has ended.
    fn token_owner(&self, sha256: [u8; 32], at: Timestamp) -> Answer<'_, Option<String>>;
}

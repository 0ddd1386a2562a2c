//! Headers of our own, in lower case.

/// On a request for a plan: the run that asks for it.
pub const RUN: &str = "provost-run";
/// On a plan: a [`Directive`](crate::Directive).
pub const DIRECTIVE: &str = "provost-directive";
/// Where the guard holds the node: why, in printable ASCII.
pub const REASON: &str = "provost-reason";
/// Where it doesn't: when an admin released the node last, RFC 3339. Failures before it are forgotten.
pub const RELEASED: &str = "provost-released";
/// On a plan: the newest generation of the bundle for all nodes. Plans stay as they are where only scripts change.
pub const BUNDLE: &str = "provost-bundle";
/// On a plan: [`RENEW`] where half of the time of the node's identity is over. The node asks no clock of its own.
pub const IDENTITY: &str = "provost-identity";
/// The node is to ask for a new certificate of its key.
pub const RENEW: &str = "renew";
/// In the same header of the answer to a node without an identity: an open window gives it one; while its key waits for
/// an admin: an open window would.
pub const WINDOW: &str = "window";
/// On a signed file: its signature, in base64. A node needs both, and another request would take another connection.
pub const FILE_SIGNATURE: &str = "provost-signature";
/// On a node's log: [`SUCCESS`] where it is a [`LogKind::Success`](crate::LogKind).
pub const LOG: &str = "provost-log";
/// The log isn't of a failed step.
pub const SUCCESS: &str = "success";
/// On a webhook: `sha256=` and the HMAC of the body by the receiver's secret, in hexadecimal digits.
pub const WEBHOOK_SIGNATURE: &str = "provost-signature";

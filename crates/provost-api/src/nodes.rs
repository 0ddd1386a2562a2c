//! The nodes' API: what a node asks the management node for and sends to it, and the answers.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Directive, Route};

/// `GET`: what is published for all nodes.
pub const MANIFEST: Route = Route("/manifest.toml");
/// `GET`: its signature.
pub const MANIFEST_SIGNATURE: Route = Route("/manifest.toml.minisig");
/// `GET`: the manifest of a channel or generation, or its signature.
pub const NAMED_MANIFEST: Route = Route("/manifests/{name}");
/// `GET`: until when what is published is valid; of a channel's bundle with `?generation=N`.
pub const REFRESH: Route = Route("/refresh.toml");
/// `GET`: its signature.
pub const REFRESH_SIGNATURE: Route = Route("/refresh.toml.minisig");
/// `GET`: a file by its digest.
pub const OBJECT: Route = Route("/objects/{folder}/{name}");
/// `GET`: all files, or those of a generation.
pub const PACK: Route = Route("/packs/{name}");
/// `GET`: the node's program.
pub const PROGRAM: Route = Route("/bin/{sha256}/provost");
/// `GET`: the script that makes a machine a node, by the digest that `provostctl enroll open` prints.
pub const INSTALL_SH: Route = Route("/install.sh");
/// `GET`: a node's own plan, or its signature.
pub const PLAN: Route = Route("/plans/{name}");
/// `GET`: a node's own secrets.
pub const SECRETS: Route = Route("/secrets/{name}");
/// `POST`, a certificate request (PEM): a node asks for its identity.
pub const ENROL: Route = Route("/v1/nodes/{node}/enroll");
/// `POST`, text: public ssh host keys of a node that has an identity, one a line, as in `ssh_host_ed25519_key.pub`, or a
/// certificate that it has of one. The answer is text: the certificate of each, in the same order.
pub const SSH_HOST_CERTIFICATES: Route = Route("/v1/nodes/{node}/ssh-host-certificates");
/// `POST`, text: an installer says that it couldn't begin, a [`NotBegun`].
pub const NOT_BEGUN: Route = Route("/v1/nodes/{node}/not-begun");
/// `POST`, a JSON array of records: a node reports.
pub const RECORDS: Route = Route("/v1/nodes/{node}/records");
/// `PUT`, text: the log of a step.
pub const LOG: Route = Route("/v1/nodes/{node}/runs/{run}/logs/{name}");
/// `POST`, a [`Beat`]: how a step goes that runs.
pub const BEAT: Route = Route("/v1/nodes/{node}/runs/{run}/beat");

/// What an installer's script has in place of a program's digest, before the architecture that it has none for.
pub const NO_PROGRAM: &str = "none-for-";

/// What an installer's script says where it couldn't get the node's program, which would report by itself. As text
/// it is `PROOF`, a line break, `RUN SHA256`, a line break, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotBegun<'a> {
    /// By what the node proves who it is, without showing its token to others on the network: the SHA-256 of
    /// `TOKEN TEXT`, where both are the hexadecimal SHA-256, of the token and of what follows the first line.
    pub proof: &'a str,
    /// What follows the first line.
    pub text: &'a str,
    /// The id of the run, a random UUID: the same text again counts once.
    pub run: &'a str,
    /// The digest of the program, or [`NO_PROGRAM`] and the node's architecture where the script has none for it.
    pub sha256: &'a str,
    /// Why not, one line of printable ASCII.
    pub reason: &'a str,
}

impl<'a> NotBegun<'a> {
    /// Reads it.
    pub fn parse(body: &'a [u8]) -> Option<Self> {
        let (proof, text) = str::from_utf8(body).ok()?.split_once('\n')?;
        let (head, reason) = text.split_once('\n')?;
        let (run, sha256) = head.split_once(' ')?;
        Some(Self { proof, text, run, sha256, reason })
    }

    /// The node's architecture, as uname(1) calls it, if the script has no program for it.
    pub fn architecture(&self) -> Option<&'a str> {
        let name = self.sha256.strip_prefix(NO_PROGRAM)?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
    }
}

/// How the step ended that a log is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// One that failed: it comes at once.
    Failure,
    /// Any other one, or a try that was repeated. It comes after the run, waits while others report, and is the first
    /// to go where a node is over its quota.
    Success,
}

/// The answer to a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Acknowledgement {
    /// The number of the last record of the batch, which is durable now with all before it.
    pub acked: u64,
    /// Whether the node may run.
    #[serde(default)]
    pub directive: Directive,
    /// Why it may not, in printable ASCII.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a node says of a step that runs for long, or whose script has come to another stage of its
/// own. It is no record: the management node shows it while the step runs, and keeps nothing of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Beat {
    /// The stage that runs.
    pub stage: String,
    /// The name of its log, `NN-SCRIPT`.
    pub log: String,
    /// How long it has run.
    pub elapsed_ms: u64,
    /// The last line that it printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The stage of its own that the script is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner: Option<InnerStage>,
    /// Whether the step has ended: the last beat comes then of a step whose log is followed, or that
    /// was in a stage of its own.
    #[serde(default)]
    pub ended: bool,
    /// What the log has grown by, where somebody follows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
}

/// The stage that a running script is in, as it records it itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InnerStage {
    /// What the script calls the service that the stage is of.
    pub service: String,
    /// The stage's name.
    pub stage: String,
    /// When it began, by the node's clock.
    pub since: Timestamp,
}

/// Whole lines of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Growth {
    /// Where in the log they begin, in bytes.
    pub from: u64,
    /// Where they end.
    pub to: u64,
    /// Their text; bytes that aren't UTF-8 are replaced.
    pub text: String,
}

/// The answer to a beat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BeatAnswer {
    /// Whether the next ones come each second, with what the step's log has grown by.
    pub follow: bool,
}

/// The answer to a node whose key waits for an admin (202).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnrolmentPending {
    /// Always.
    pub pending: bool,
    /// The key's fingerprint.
    pub key: String,
    /// The command that approves it.
    pub hint: String,
}

use serde::{Deserialize, Serialize};

/// What a node says of a step that runs for long. It is no record: the management node shows it
/// while the step runs, and keeps nothing of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Whether the step has ended: of a step whose log is followed, the last beat comes then.
    #[serde(default)]
    pub ended: bool,
    /// What the log has grown by, where somebody follows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
}

/// Whole lines of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Growth {
    /// Where in the log they begin, in bytes.
    pub from: u64,
    /// Where they end.
    pub to: u64,
    /// Their text; bytes that aren't UTF-8 are replaced.
    pub text: String,
}

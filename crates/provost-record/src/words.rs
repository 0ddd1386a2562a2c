//! The vocabulary of a record: each word means one thing, and there are no others.

use serde::{Deserialize, Serialize};

/// What began or ended. OpenShift knows exactly these eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// A run begins.
    #[serde(rename = "service start")]
    ServiceStart,
    /// A run has ended.
    #[serde(rename = "service end")]
    ServiceEnd,
    /// A stage begins.
    #[serde(rename = "stage start")]
    StageStart,
    /// A stage has ended.
    #[serde(rename = "stage end")]
    StageEnd,
    /// A unit's pre-command begins.
    #[serde(rename = "pre-command start")]
    PreCommandStart,
    /// A unit's pre-command has ended.
    #[serde(rename = "pre-command end")]
    PreCommandEnd,
    /// A unit's post-command begins.
    #[serde(rename = "post-command start")]
    PostCommandStart,
    /// A unit's post-command has ended.
    #[serde(rename = "post-command end")]
    PostCommandEnd,
}

impl Phase {
    /// Whether it ends a run, or a command before or after one.
    pub fn is_last(self) -> bool {
        matches!(self, Self::ServiceEnd | Self::PreCommandEnd | Self::PostCommandEnd)
    }
}

/// How something ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It succeeded.
    Success,
    /// It failed.
    Failure,
}

/// What kind of failure it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// The script ended with an exit status other than 0.
    Exit,
    /// A signal ended the script.
    Signal,
    /// The script, or the whole run, exceeded its time limit.
    Timeout,
    /// A signal from outside ended the run, or a crash cut it off.
    Interrupted,
    /// The script isn't in the bundle.
    Missing,
    /// The script could not be started: rights, format, interpreter.
    Exec,
    /// Something could not be fetched from any server.
    Fetch,
    /// Something that was fetched isn't what was signed.
    Verify,
    /// The configuration is wrong, or the command line.
    Config,
    /// This node itself is in the way: a full or read-only disk, missing rights, a lock that
    /// another process holds.
    Local,
    /// The guard holds the node: too many attempts have failed.
    Held,
    /// A reboot failed, or would have been one more than allowed. On an end that is a success: the
    /// step asked for a reboot, after which the run goes on.
    Reboot,
    /// The node stopped reporting. No node reports this; the management node finds it.
    Lost,
}

impl Cause {
    /// The word that stands in the record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::Signal => "signal",
            Self::Timeout => "timeout",
            Self::Interrupted => "interrupted",
            Self::Missing => "missing",
            Self::Exec => "exec",
            Self::Fetch => "fetch",
            Self::Verify => "verify",
            Self::Config => "config",
            Self::Local => "local",
            Self::Held => "held",
            Self::Reboot => "reboot",
            Self::Lost => "lost",
        }
    }
}

impl Cause {
    /// The same for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Exit | Self::Signal => "failed",
            Self::Timeout => "time-out",
            Self::Interrupted => "interrupted",
            Self::Missing => "missing script",
            Self::Exec => "could not be started",
            Self::Fetch => "fetch error",
            Self::Verify => "verification error",
            Self::Config => "configuration error",
            Self::Local => "local error",
            Self::Held => "held",
            Self::Reboot => "reboot error",
            Self::Lost => "lost",
        }
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// The three uses. Each has a journal of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// From an installer's `%post`: the postscripts.
    Kickstart,
    /// At a boot.
    Boot,
    /// Started by an admin.
    Run,
}

impl Service {
    /// All of them, in the order of a node's life.
    pub const ALL: [Self; 3] = [Self::Kickstart, Self::Boot, Self::Run];

    /// The word that stands in the record and names the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kickstart => "kickstart",
            Self::Boot => "boot",
            Self::Run => "run",
        }
    }

    /// The command that runs what a run of it left unfinished. An admin's own run has none: what it
    /// ran is on its command line.
    pub fn continue_command(self) -> Option<&'static str> {
        match self {
            Self::Kickstart => Some("provost kickstart --continue"),
            Self::Boot => Some("provost boot --continue"),
            Self::Run => None,
        }
    }
}

impl std::fmt::Display for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

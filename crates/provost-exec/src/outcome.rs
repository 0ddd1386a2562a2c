use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure_location::FailureLocation;
use crate::process::NotStarted;

/// What the keeper reports while the program runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It takes longer than [`Limits::slow`].
    Slow,
    /// It took too long, or the run is to end: the tree has got SIGTERM.
    Terminating,
    /// SIGTERM did not end it in time: the tree has got SIGKILL.
    Killing,
    /// The last line that it printed; reported at most a few times a second.
    Line(String),
}

/// How it went.
#[derive(Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// How the program ended.
    pub end: EndCause,
    /// The signal that ended it, where its time was over.
    pub ended_by: Option<String>,
    /// Where in the script it failed, where that is known; or the command for which it waited when its
    /// time was over.
    pub place: Option<FailureLocation>,
    /// How many processes began a command, if commands were traced.
    pub commands: u64,
    /// How many of them ended otherwise than by exit status 0.
    pub commands_failed: u64,
    /// The last lines of output, oldest first; blank ones are left out.
    pub last_lines: Vec<String>,
    /// Descendants that outlived the program, each `PID COMM`.
    pub leaked: Vec<String>,
    /// Wall time by the monotonic clock, pauses left out.
    pub duration: Duration,
    /// How long before this was reported the program itself had ended.
    pub ended_ago: Duration,
    /// What the program and its waited-for descendants used.
    pub usage: Usage,
    /// Why the log is incomplete, if it is.
    pub log_error: Option<String>,
}

impl Outcome {
    /// Of something that never ran, or of which no more is known.
    pub(crate) fn bare(end: EndCause, duration: Duration) -> Self {
        Self {
            end,
            ended_by: None,
            place: None,
            commands: 0,
            commands_failed: 0,
            last_lines: Vec::new(),
            leaked: Vec::new(),
            duration,
            ended_ago: Duration::ZERO,
            usage: Usage::default(),
            log_error: None,
        }
    }
}

/// How a program ended.
#[derive(Debug, Serialize, Deserialize)]
pub enum EndCause {
    /// By itself, with this status.
    Exit(i32),
    /// By a signal that Provost did not send.
    Signal {
        /// Its name, e.g. `SIGSEGV`.
        name: String,
        /// Whether the kernel wrote a core file.
        core: bool,
    },
    /// By itself with status 0, but it left descendants behind, which its policy forbids.
    Leaked,
    /// It took longer than this and was ended.
    TimedOut(Duration),
    /// It was ended because the run is to end, by this signal.
    Interrupted(String),
    /// It never began.
    NotStarted(NotStarted),
    /// Its keeper is gone; so is the program.
    KeeperLost,
    /// It never began: its keeper was lost before.
    NoKeeper,
}

/// What a program used.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Processor time in user mode.
    pub user: Duration,
    /// Processor time in the kernel.
    pub system: Duration,
    /// Peak resident memory of its largest process, in KiB.
    pub max_rss_kib: u64,
}

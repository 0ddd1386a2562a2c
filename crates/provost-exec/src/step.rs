use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{NotStarted, Place, Secrets};

/// One program to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    /// The program's path below `folder`; it runs as `./NAME`.
    pub name: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working folder.
    pub folder: PathBuf,
    /// Its whole environment; nothing is inherited.
    pub env: Vec<(String, String)>,
    /// Where its output goes.
    pub log: PathBuf,
    /// The file that bash reads first, so as to tell where a script fails
    /// (see [`install_trace`](crate::install_trace)).
    pub trace: Option<PathBuf>,
    /// Whether bash runs it if it is a shell script, and shows each command, as xCAT's debug mode
    /// has it.
    pub xtrace: bool,
    /// How long what may take.
    pub limits: Limits,
    /// What becomes of descendants that outlive it.
    pub leak: LeakPolicy,
    /// Whether [`Event::Line`] is wanted.
    pub lines: bool,
    /// What must not be seen in its output.
    pub secrets: Secrets,
}

/// How long what may take.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// After this the tree gets SIGTERM.
    pub timeout: Duration,
    /// After this [`Event::Slow`] is told, once.
    pub slow: Duration,
    /// So long after SIGTERM the tree gets SIGKILL.
    pub grace: Duration,
    /// So long descendants are waited for that hold the output after the program has ended.
    pub leak: Duration,
}

/// What becomes of descendants that outlive the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeakPolicy {
    /// They are named and left alone. What they print from then on is read and dropped.
    #[default]
    Warn,
    /// They are named and killed.
    Kill,
    /// They are named and killed, and the step has failed.
    Fail,
}

/// What is worth telling while the program runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It takes longer than [`Limits::slow`].
    Slow,
    /// It took too long, or the run is to end: the tree has got SIGTERM.
    Terminating,
    /// It did not heed SIGTERM in time: the tree has got SIGKILL.
    Killing,
    /// The last line that it printed; told a few times a second at the most.
    Line(String),
}

/// How it went.
#[derive(Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// How the program ended.
    pub ended: Ended,
    /// Where in the script it failed, where that is known.
    pub place: Option<Place>,
    /// The last lines of output, oldest first; blank ones are left out.
    pub last_lines: Vec<String>,
    /// Descendants that outlived the program, each `PID COMM`.
    pub leaked: Vec<String>,
    /// Wall time by the monotonic clock, pauses left out.
    pub duration: Duration,
    /// How long ago the program itself had ended when this was told.
    pub ended_ago: Duration,
    /// What the program and its waited-for descendants used.
    pub usage: Usage,
    /// Why the log is incomplete, if it is.
    pub log_error: Option<String>,
}

impl Outcome {
    /// Of something that never ran, or of which no more is known.
    pub(crate) fn bare(ended: Ended, duration: Duration) -> Self {
        Self {
            ended,
            place: None,
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
pub enum Ended {
    /// By itself, with this status.
    Exit(i32),
    /// By a signal that nobody here has sent.
    Signal {
        /// Its name, e.g. `SIGSEGV`.
        name: String,
        /// Whether the kernel wrote a core file.
        core: bool,
    },
    /// By itself and well, but it left descendants behind, which it must not.
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

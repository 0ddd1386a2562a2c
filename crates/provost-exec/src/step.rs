use std::path::PathBuf;
use std::time::Duration;

use provost_bundle::Digest;
use serde::{Deserialize, Serialize};

use crate::output::Secrets;

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
    /// What is found out about its commands.
    pub trace: Trace,
    /// The digest that the program must have to be run, if it was verified.
    pub digest: Option<Digest>,
    /// Whether bash notes where a bash script fails; it doesn't if `trace` is off.
    pub bash_trace: bool,
    /// Whether bash shows each command of a bash script in the log, builtins and functions, too.
    pub trace_lines: bool,
    /// Whether bash runs it if it is a shell script, and shows each command, as xCAT's debug mode
    /// has it.
    pub xtrace: bool,
    /// How long what may take.
    pub limits: Limits,
    /// What becomes of descendants that outlive it.
    pub leak: LeakPolicy,
    /// Whether [`Event::Line`] is reported.
    pub lines: bool,
    /// What must not be seen in its output.
    pub secrets: Secrets,
}

/// What is found out about a program's commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trace {
    /// Each process that it starts by exec stands in the log: what was run, and how it ended. Where
    /// that can't be had (see [`can_trace`](crate::can_trace)) the log's first line says so.
    #[default]
    Commands,
    /// The line where it fails, if it is a bash script.
    Lines,
    /// Nothing.
    Off,
}

/// How long what may take.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// After this the tree gets SIGTERM.
    pub timeout: Duration,
    /// After this [`Event::Slow`] is reported, once.
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

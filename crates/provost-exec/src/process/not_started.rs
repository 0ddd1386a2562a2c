use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A program that could not be started.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
#[error("starting {}: {why}", program.display())]
pub struct NotStarted {
    /// The program.
    pub program: PathBuf,
    /// Why.
    pub why: Why,
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
pub enum Why {
    /// There is no such file.
    #[error("there is no such file")]
    Missing,
    /// It is a folder, a device or the like.
    #[error("it isn't a file")]
    NotAFile,
    /// The interpreter that its first line names isn't there.
    #[error("its first line names the interpreter {0}, which isn't on this node")]
    NoInterpreter(String),
    /// The loader that it asks for, or that its interpreter does, isn't there.
    #[error("{0}, which has to load it or its interpreter, isn't on this node")]
    NoLoader(String),
    /// Its first line ends with a carriage return, which becomes part of the interpreter's name, or
    /// of its argument.
    #[error("its lines end as on Windows (CRLF), so that its first line asks for {0:?}")]
    Crlf(String),
    /// It is a program for another kind of machine, or none at all.
    #[error("it isn't a program for this machine")]
    WrongFormat,
    /// It isn't what was verified any more.
    #[error("it was changed after it was verified")]
    Changed,
    /// The same, while it ran.
    #[error("it was changed while it ran")]
    ChangedRunning,
    /// It may not be executed.
    #[error("permission denied")]
    Denied,
    /// Nothing on its file system may be executed.
    #[error("its file system is mounted noexec")]
    NoExec,
    /// Somebody is writing to it.
    #[error("it is being written to (text file busy)")]
    Busy,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// What a shell ends with that doesn't find a command or its interpreter (POSIX 2.8.2).
const NOT_FOUND: i32 = 127;

impl NotStarted {
    /// The exit status that a shell would have for it; none where a shell would find it.
    pub fn exit_status(&self) -> Option<i32> {
        matches!(self.why, Why::NoInterpreter(_) | Why::NoLoader(_) | Why::Crlf(_))
            .then_some(NOT_FOUND)
    }

    /// What an admin can do about it. Scripts are published; or the management node serves them as
    /// they are, out of the folder `served`.
    pub fn hint(&self, served: Option<&str>) -> String {
        let program = self.program.display();
        match (&self.why, served) {
            (Why::Missing, None) => "put it into the scripts' folder and publish again".to_owned(),
            (Why::Missing, Some(folder)) => format!("put it into {folder} on the management node"),
            (Why::Crlf(_), None) => "convert it with dos2unix, then publish again".to_owned(),
            (Why::Crlf(_), Some(folder)) => {
                format!("convert it with dos2unix, in {folder} on the management node")
            }
            (Why::Changed, _) => format!(
                "find what has changed it, such as a step before it: ls -lc {program}; the next run \
                 fetches it again"
            ),
            (Why::ChangedRunning, _) => format!(
                "find what changes it while it runs, such as the script itself: ls -lc {program}; the \
                 next run fetches it again"
            ),
            (Why::NotAFile, _) => "let the plan name a file".to_owned(),
            (Why::NoInterpreter(path), _) => {
                format!("install {path} on the node, or change the script's first line")
            }
            (Why::NoLoader(path), _) => {
                format!(
                    "install the C library with {path}, or a program that is built for this one"
                )
            }
            (Why::WrongFormat, _) => {
                "let it be a script, or a binary for this architecture".to_owned()
            }
            (Why::Denied, _) => format!("look at the mode of {program}, and of its interpreter"),
            (Why::NoExec, _) => {
                format!("mount it without noexec; findmnt -T {program} shows where it is mounted")
            }
            (Why::Busy, _) => format!("find who writes to {program}: fuser -v {program}"),
            (Why::Other(_), _) => format!("try it by hand on the node: {program}"),
        }
    }
}

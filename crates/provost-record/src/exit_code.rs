/// The exit status of `provost`, for scripts and units that call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// Everything that had to run has run and succeeded.
    Done = 0,
    /// A postscript failed.
    PostscriptFailed = 1,
    /// The command line, the configuration, or this node's disk or permissions are wrong.
    Usage = 2,
    /// The bundle or the plan could not be fetched, or did not verify.
    Fetch = 3,
    /// The guard holds the node: too many attempts have failed.
    Held = 4,
    /// A signal ended the run.
    Interrupted = 5,
    /// Another run is in progress.
    Busy = 6,
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

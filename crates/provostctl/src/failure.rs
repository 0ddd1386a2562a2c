use provost_steplog::wording::error_chain;

/// Why a command ends with another exit status than 0.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: String,
    pub(crate) hint: String,
    pub(crate) code: u8,
    /// Whether a retry may succeed: the daemon isn't there, or not yet.
    pub(crate) is_transient: bool,
}

/// Something failed, or isn't as it should be.
const FAILED: u8 = 1;
/// The command line is wrong.
pub(crate) const WRONG: u8 = 2;
/// Time is up, as with `timeout(1)`.
pub(crate) const TIMED_OUT: u8 = 124;

impl Failure {
    pub(crate) fn new(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { error: error.into(), hint: hint.into(), code: FAILED, is_transient: false }
    }

    /// With the text of a library's error and its sources.
    pub(crate) fn of(error: &dyn std::error::Error, hint: impl Into<String>) -> Self {
        Self::new(error_chain(error), hint)
    }

    pub(crate) fn with_code(self, code: u8) -> Self {
        Self { code, ..self }
    }
}

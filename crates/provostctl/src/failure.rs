/// Why a command ends with another exit code than 0. What an error of a library says is taken
/// over with its hint.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: String,
    pub(crate) hint: String,
    pub(crate) code: u8,
    /// Whether it may pass by itself: the daemon isn't there, or not yet.
    pub(crate) may_pass: bool,
}

/// Something went wrong, or isn't as it should be.
const FAILED: u8 = 1;
/// It was asked for in a wrong way.
pub(crate) const WRONG: u8 = 2;
/// Time is up, as `timeout(1)` has it.
pub(crate) const TIMED_OUT: u8 = 124;

impl Failure {
    pub(crate) fn new(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { error: error.into(), hint: hint.into(), code: FAILED, may_pass: false }
    }

    pub(crate) fn with_code(self, code: u8) -> Self {
        Self { code, ..self }
    }
}

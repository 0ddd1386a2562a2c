/// Why a command ends with another exit code than 0. What an error of a library says is taken
/// over with its hint.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: String,
    pub(crate) hint: String,
    pub(crate) code: u8,
}

/// Something went wrong, or isn't as it should be.
const FAILED: u8 = 1;
/// Time is up, as `timeout(1)` has it.
pub(crate) const TIMED_OUT: u8 = 124;

impl Failure {
    pub(crate) fn new(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { error: error.into(), hint: hint.into(), code: FAILED }
    }

    pub(crate) fn with_code(self, code: u8) -> Self {
        Self { code, ..self }
    }
}

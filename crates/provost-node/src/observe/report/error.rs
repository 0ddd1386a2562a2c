//! Why something isn't reported.

use crate::failure::Failure;

/// Whether to try again. The failure says why.
pub(super) enum ReportError {
    /// It may be taken later, or by another server.
    Retry(Failure),
    /// It would fail again.
    Abort(Failure),
}

impl ReportError {
    pub(super) fn failure(&self) -> &Failure {
        match self {
            Self::Retry(failure) | Self::Abort(failure) => failure,
        }
    }

    pub(super) fn into_failure(self) -> Failure {
        match self {
            Self::Retry(failure) | Self::Abort(failure) => failure,
        }
    }
}

//! Why something isn't reported.

use std::time::Duration;

use crate::failure::Failure;

/// Whether to try again. The failure says why.
pub(super) enum ReportError {
    /// It may be taken later, or by another server: no sooner than after this wait.
    Retry(Failure, Duration),
    /// It would fail again.
    Abort(Failure),
}

impl ReportError {
    pub(super) fn failure(&self) -> &Failure {
        match self {
            Self::Retry(failure, _) | Self::Abort(failure) => failure,
        }
    }

    /// How long the management node has asked to wait.
    pub(super) fn wait(&self) -> Duration {
        match self {
            Self::Retry(_, wait) => *wait,
            Self::Abort(_) => Duration::ZERO,
        }
    }

    pub(super) fn into_failure(self) -> Failure {
        match self {
            Self::Retry(failure, _) | Self::Abort(failure) => failure,
        }
    }
}

//! Why fetching failed, and what to do about it: the decision is made where the error is seen.

use std::time::Duration;

use provost_record::Cause;

use crate::failure::{Awaited, Failure};

/// An attempt at one server that failed.
pub struct FetchError {
    /// What is shown where no other attempt succeeds.
    pub failure: Failure,
    decision: Decision,
}

/// What to do after an attempt that failed.
#[derive(Clone, Copy, PartialEq)]
enum Decision {
    /// End the fetch: this node's disk or configuration is at fault, and no server can help.
    Abort,
    /// Ask the other servers alone: this one would fail again.
    GiveUp,
    /// The same, unless the requests met two generations, because one was published in between.
    GiveUpInconsistent,
    /// The same: nothing is published for this node.
    GiveUpUnpublished,
    /// The same: the server doesn't know this node.
    GiveUpUnknown,
    /// Ask this server again, but not often: nothing is published for this node yet.
    RetryUnpublished,
    /// Ask this server again: it can't serve now. It may have said after which wait it can.
    RetryBusy(Option<Duration>),
    /// Ask this server again: nothing came, or the answer broke off.
    RetrySilent,
}

impl FetchError {
    /// A failure of this node itself: no server is asked any more.
    pub fn abort(failure: Failure) -> Self {
        Self { failure, decision: Decision::Abort }
    }

    /// A failure that another attempt at the same server would only repeat.
    pub fn give_up(failure: Failure) -> Self {
        Self { failure, decision: Decision::GiveUp }
    }

    /// What doesn't fit together, or isn't there: it may be of two generations.
    pub fn inconsistent(failure: Failure) -> Self {
        Self { failure, decision: Decision::GiveUpInconsistent }
    }

    /// The server doesn't know by what this node proves who it is.
    pub fn unknown_here(failure: Failure) -> Self {
        Self { failure, decision: Decision::GiveUpUnknown }
    }

    /// The same, of what is published for this node: it may not be yet.
    pub(crate) fn for_this_node(self) -> Self {
        match self.decision {
            Decision::GiveUpInconsistent => Self { decision: Decision::GiveUpUnpublished, ..self },
            _ => self,
        }
    }

    /// The same for a run that can wait until it is published.
    pub(crate) fn awaited(self) -> Self {
        match self.decision {
            Decision::GiveUpUnpublished => {
                let failure = Failure { awaited: Some(Awaited::Plan), ..self.failure };
                Self { failure, decision: Decision::RetryUnpublished }
            }
            _ => self,
        }
    }

    /// Whether it waits for what isn't published yet.
    pub(crate) fn is_awaited(&self) -> bool {
        self.decision == Decision::RetryUnpublished
    }

    /// Whether the server doesn't know this node.
    pub(crate) fn is_unknown_here(&self) -> bool {
        self.decision == Decision::GiveUpUnknown
    }

    /// A refusal that may pass; the server may have asked to wait for `wait`.
    pub fn busy(failure: Failure, wait: Option<Duration>) -> Self {
        Self { failure, decision: Decision::RetryBusy(wait) }
    }

    /// No answer, or not all of it.
    pub fn silent(failure: Failure) -> Self {
        Self { failure, decision: Decision::RetrySilent }
    }

    /// Whether the fetch ends here.
    pub(crate) fn is_abort(&self) -> bool {
        self.decision == Decision::Abort
    }

    /// Whether the requests may have met two generations.
    pub fn is_inconsistent(&self) -> bool {
        matches!(
            self.decision,
            Decision::GiveUpInconsistent | Decision::GiveUpUnpublished | Decision::RetryUnpublished
        )
    }

    /// Whether no answer came, or not all of it.
    pub(crate) fn is_silent(&self) -> bool {
        self.decision == Decision::RetrySilent
    }

    /// Whether another attempt at this server may succeed.
    pub fn may_retry(&self) -> bool {
        matches!(
            self.decision,
            Decision::RetryBusy(_) | Decision::RetrySilent | Decision::RetryUnpublished
        )
    }

    /// How long the server asked to wait.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self.decision {
            Decision::RetryBusy(wait) => wait,
            _ => None,
        }
    }

    /// The same, after something else that was tried first had failed.
    pub fn after(self, before: &Failure) -> Self {
        let failure = self.failure.reworded(|text| format!("{}; {text}", before.text()));
        Self { failure, ..self }
    }

    /// The same, in other words.
    pub(super) fn reworded(self, change: impl FnOnce(String) -> String) -> Self {
        Self { failure: self.failure.reworded(change), ..self }
    }

    /// Which of many errors to show: the highest. A bad signature says more than a bad answer, and
    /// that more than none; what is wrong on this node comes first.
    pub(crate) fn rank(&self) -> u8 {
        match (self.decision, self.failure.cause) {
            (Decision::Abort, _) => 3,
            (_, Cause::Verify) => 2,
            (Decision::RetrySilent, _) => 0,
            _ => 1,
        }
    }
}

/// Why nothing was fetched.
pub struct NotFetched {
    /// The servers that were passed over before.
    pub passed_over: Vec<Failure>,
    /// What is shown as the failure of the fetch.
    pub failure: Failure,
}

impl From<Failure> for NotFetched {
    fn from(failure: Failure) -> Self {
        Self { passed_over: Vec::new(), failure }
    }
}

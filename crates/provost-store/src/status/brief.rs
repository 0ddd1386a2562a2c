//! The status alone of what is remembered of a node: to count a hundred thousand of them takes a fraction of
//! the time, and none of the memory, that it takes to read all of it.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Status;

/// As much of a [`NodeState`](crate::NodeState), in its JSON.
#[derive(Deserialize)]
pub(crate) struct BriefState {
    status: Status,
    #[serde(default)]
    life: Option<BriefLife>,
    #[serde(default)]
    claims: BriefClaims,
}

#[derive(Deserialize)]
struct BriefLife {
    #[serde(default)]
    lost: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
struct BriefClaims {
    #[serde(default)]
    status: Option<BriefClaim>,
}

#[derive(Deserialize)]
struct BriefClaim {
    status: Status,
}

impl BriefState {
    /// The one that the node is shown with.
    pub(crate) fn status(&self) -> Status {
        let is_lost = self.life.as_ref().is_some_and(|life| life.lost.is_some());
        match &self.claims.status {
            Some(claimed) => claimed.status,
            None if is_lost => Status::Failed,
            None => self.status,
        }
    }
}

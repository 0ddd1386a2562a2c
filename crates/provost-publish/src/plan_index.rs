//! The generation of each node's plan.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use provost_bundle::Digest;
use serde::{Deserialize, Serialize};

use crate::error::PublishError;
use crate::generations::Generations;

/// The file of the generations of all plans that were ever published, also of nodes that have
/// none now: a node may remember the generation of its own, and refuses an older one. No node can
/// have this name.
pub(crate) const PLAN_INDEX: &str = "plans/.generations.toml";

/// Which plan of a node was published last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanMark {
    pub(crate) generation: u64,
    /// Of the plan's body.
    pub(crate) sha256: Digest,
    /// Of its signature, which was right when it was written. None in what older versions wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) signature: Option<Digest>,
}

impl PlanMark {
    /// The mark of a plan with this body: of a new generation only if the body is another, or if
    /// the last one was less than `least`.
    pub(crate) fn next(last: Option<&Self>, body: &str, least: u64) -> Self {
        let sha256 = Digest::of(body.as_bytes());
        match last {
            Some(last) if last.sha256 == sha256 && last.generation >= least => *last,
            last => {
                let next = last.map_or(0, |last| last.generation).saturating_add(1);
                Self { generation: next.max(least), sha256, signature: None }
            }
        }
    }
}

/// How far the generations of a folder have counted.
pub(crate) fn generations(bundle: u64, marks: &BTreeMap<String, PlanMark>) -> Generations {
    Generations {
        bundle,
        highest_plan: marks.values().map(|mark| mark.generation).max().unwrap_or_default(),
        sum_of_plans: marks.values().map(|mark| mark.generation).sum(),
    }
}

pub(crate) fn index_text(marks: &BTreeMap<String, PlanMark>) -> Result<String, PublishError> {
    toml::to_string(marks).map_err(|e| {
        PublishError::disk("writing", Path::new(PLAN_INDEX), io::Error::other(e.to_string()))
    })
}

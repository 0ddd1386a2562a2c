//! Generations never go back, also where the published folder is lost or restored from a backup: nodes
//! refuse what is older than what they have seen.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use provost_bundle::Validity;
use serde::{Deserialize, Serialize};

/// How far the generations of a published folder have counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generations {
    /// The bundle's generation.
    pub bundle: u64,
    /// The highest generation of a plan.
    pub highest_plan: u64,
    /// The sum of the generations of all plans: each change of a plan makes it bigger.
    pub sum_of_plans: u64,
}

impl Generations {
    /// The further one of each.
    pub fn or_further(self, other: Self) -> Self {
        Self {
            bundle: self.bundle.max(other.bundle),
            highest_plan: self.highest_plan.max(other.highest_plan),
            sum_of_plans: self.sum_of_plans.max(other.sum_of_plans),
        }
    }
}

/// The generations that were used before, as far as others than the published folder know them.
#[derive(Clone, Debug, Default)]
pub struct Used {
    /// What was published last to this folder.
    pub published: Generations,
    /// The newest bundle that a node has reported.
    pub bundle: u64,
    /// The newest plan that each node has reported.
    pub plans: BTreeMap<String, u64>,
    /// The bundles that nodes have.
    pub bundles: BTreeSet<u64>,
    /// All new generations are above this one.
    pub above: u64,
}

impl Used {
    /// The least generation that the bundle may have, if the folder's is `found`.
    pub(crate) fn least_bundle(&self, found: u64) -> u64 {
        let used = self.published.bundle.max(self.bundle);
        let least = if found < used { used + 1 } else { 0 };
        least.max(self.first_above())
    }

    /// The least generation that the plan of `node` may have, if the folder's is `found`, and all of
    /// the folder have counted up to `counted`.
    pub(crate) fn least_plan(&self, node: &str, found: u64, counted: Generations) -> u64 {
        let published = match counted.sum_of_plans < self.published.sum_of_plans {
            true => self.published.highest_plan + 1,
            false => 0,
        };
        let reported = self.plans.get(node).copied().unwrap_or_default();
        let reported = if found < reported { reported + 1 } else { 0 };
        published.max(reported).max(self.first_above())
    }

    fn first_above(&self) -> u64 {
        if self.above > 0 { self.above + 1 } else { 0 }
    }
}

/// The first lines of a published plan.
#[derive(Clone, Copy)]
pub(crate) struct PlanHead {
    /// The plan's own generation.
    pub(crate) generation: u64,
    /// The generation of the manifest that it belongs to.
    pub(crate) manifest: u64,
    pub(crate) validity: Validity,
}

impl PlanHead {
    /// The plan with this body.
    pub(crate) fn with(&self, body: &str) -> String {
        let Self { generation, manifest, validity: Validity { made, expires } } = self;
        format!(
            "generation = {generation}\nmanifest = {manifest}\nmade = \"{made}\"\n\
             expires = \"{expires}\"\n{body}"
        )
    }

    /// The head of a published plan, and its body.
    pub(crate) fn split(text: &str) -> Option<(Self, &str)> {
        let (generation, rest) = value(text, "generation")?;
        let (manifest, rest) = value(rest, "manifest")?;
        let (made, rest) = value(rest, "made")?;
        let (expires, body) = value(rest, "expires")?;
        let time = |text: &str| text.trim_matches('"').parse::<Timestamp>().ok();
        let validity = Validity { made: time(made)?, expires: time(expires)? };
        let (generation, manifest) = (generation.parse().ok()?, manifest.parse().ok()?);
        Some((Self { generation, manifest, validity }, body))
    }
}

/// The value of the first line, if it is that of `key`, and the other lines.
fn value<'a>(text: &'a str, key: &str) -> Option<(&'a str, &'a str)> {
    let (line, rest) = text.split_once('\n')?;
    Some((line.strip_prefix(key)?.strip_prefix(" = ")?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: Generations = Generations { bundle: 24, highest_plan: 7, sum_of_plans: 30 };

    #[test]
    fn a_folder_that_is_up_to_date_counts_on() {
        let used = Used { published: LAST, bundle: 24, ..Used::default() };
        assert_eq!(used.least_bundle(24), 0);
        assert_eq!(used.least_plan("cn001", 3, LAST), 0);
    }

    #[test]
    fn a_folder_that_is_older_goes_on_above_what_was_used() {
        let plans = BTreeMap::from([("cn001".to_owned(), 9)]);
        let used = Used { published: LAST, bundle: 26, plans, ..Used::default() };
        let old = Generations { bundle: 23, sum_of_plans: 29, ..LAST };
        assert_eq!(used.least_bundle(23), 27);
        assert_eq!(used.least_plan("cn001", 7, old), 10);
        assert_eq!(used.least_plan("cn002", 7, old), 8);
        assert_eq!(used.least_plan("cn002", 7, LAST), 0);
        let above = Used { above: 50, ..used };
        assert_eq!((above.least_bundle(60), above.least_plan("cn002", 7, LAST)), (51, 51));
    }

    #[test]
    fn a_head_reads_back() {
        let validity = Validity { made: Timestamp::UNIX_EPOCH, expires: Timestamp::MAX };
        let text = PlanHead { generation: 3, manifest: 7, validity }.with("x = 1\ny = 2\n");
        let (head, body) = PlanHead::split(&text).unwrap();
        assert_eq!((head.generation, head.manifest, body), (3, 7, "x = 1\ny = 2\n"));
        assert_eq!(head.validity, validity);
        assert!(PlanHead::split("generation = 3\nx = 1\n").is_none());
    }
}

//! Generations never go back, also where the published folder is lost or restored from a backup: nodes
//! refuse what is older than what they have seen.

use std::collections::BTreeMap;

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
        let used = Used { published: LAST, bundle: 26, plans, above: 0 };
        let old = Generations { bundle: 23, sum_of_plans: 29, ..LAST };
        assert_eq!(used.least_bundle(23), 27);
        assert_eq!(used.least_plan("cn001", 7, old), 10);
        assert_eq!(used.least_plan("cn002", 7, old), 8);
        assert_eq!(used.least_plan("cn002", 7, LAST), 0);
        let above = Used { above: 50, ..used };
        assert_eq!((above.least_bundle(60), above.least_plan("cn002", 7, LAST)), (51, 51));
    }
}

//! Which plans stay as they were signed: one that says what it said needn't be signed or written
//! again with each new bundle. The manifest says from which bundle on the plans go with it; that range
//! has no two plans of a node but for what this bundle's own has seen, so that what an old bundle's plan
//! said can't come back with a newer one.

use std::collections::BTreeMap;

use provost_bundle::{Manifest, Validity};

use crate::generations::PlanHead;
use crate::prepared::Prepared;
use crate::previous::plan_path;

/// The plans that are published and right, with their heads.
pub(crate) struct SignedPlans<'p>(BTreeMap<&'p str, PlanHead>);

impl Prepared<'_> {
    /// The plans that can stay, of those that are to be published; `has_aged` says whether what was
    /// signed then has to be signed again.
    pub(crate) fn signed_plans(&self, has_aged: impl Fn(Validity) -> bool) -> SignedPlans<'_> {
        let signed = self.plans().filter_map(|(node, body)| {
            let mark = self.mark(node, body);
            let key = self.publication.key;
            let head = self.previous.signed_plan(&plan_path(node), &mark, body, key)?;
            (!has_aged(head.validity)).then_some((node.as_str(), head))
        });
        SignedPlans(signed.collect())
    }

    /// From which generation of the bundle on the plans go with the new one: the new one's own, if
    /// any plan differs from what the last bundle began with.
    pub(crate) fn plans_since(&self, signed: &SignedPlans<'_>) -> u64 {
        let generation = self.generation();
        if let Some(base) = self.base() {
            return base.plans_since();
        }
        let is_for_all =
            self.publication.channel.is_none() && self.previous.channel_bundles().nodes.is_empty();
        let Some(last) = self.previous.manifest().filter(|_| is_for_all) else {
            return generation;
        };
        let stays = |node: &String| {
            signed
                .head(node)
                .is_some_and(|head| goes_with(head, last) && head.validity.made <= last.created)
        };
        let is_same_key = last.key == self.publication.key.public_line();
        match is_same_key && self.published.iter().all(stays) {
            true => last.plans_since(),
            false => generation,
        }
    }
}

impl SignedPlans<'_> {
    /// The head of the node's plan, if that stays with this manifest.
    pub(crate) fn with(&self, node: &str, manifest: &Manifest) -> Option<&PlanHead> {
        self.head(node).filter(|head| goes_with(head, manifest))
    }

    fn head(&self, node: &str) -> Option<&PlanHead> {
        self.0.get(node)
    }
}

fn goes_with(head: &PlanHead, manifest: &Manifest) -> bool {
    manifest.goes_with_plan_of(head.manifest)
}

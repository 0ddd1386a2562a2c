//! What nodes that failed have in common, and the others don't.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Display, Formatter};

use jiff::Timestamp;

use super::fisher::{Fisher, Share};
use super::site_facts::SiteFacts;
use super::{failed_at, has_failed};
use crate::{FailureGroup, Node};

/// The share of nodes that failed which have a factor, at least, in percent. Else it isn't what they failed for.
const MOST_FAILED: usize = 80;
/// The share of the others which have it, at most, in percent.
const FEW_OTHERS: usize = 20;
/// How many nodes must have failed: one that stands alone always has something of its own.
const LEAST_FAILED: usize = 3;
/// How often chance may be taken for a factor, over all factors of a failure.
const ERROR_RATE: f64 = 0.01;
/// How many factors count at most for the correction: beyond it chance is rare enough.
const MOST_FACTORS: usize = 2_000;

/// What most nodes that failed have, and few others, and what chance doesn't explain.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// `script`, `bundle`, `server`, `program`, `group`, `time` or the name of a fact.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Of the nodes that failed.
    pub failed: Share,
    /// Of the nodes that haven't failed.
    pub others: Share,
    /// How probable it is that chance alone has distributed it so, or less evenly (Fisher's exact test, two-sided).
    pub probability: f64,
}

impl Display for Factor {
    /// `bundle 17: 24 of 24 failed have it, 0 of 488 others`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { name, value, failed, others, .. } = self;
        let name = match name.as_str() {
            "memoryMiB" => "memory in MiB",
            "server" => "management node",
            name => name,
        };
        write!(f, "{name} {value}: {} of {} failed have it, ", failed.having, failed.of)?;
        write!(f, "{} of {} others", others.having, others.of)
    }
}

/// How many nodes have which factors.
#[derive(Default)]
struct Counts<'a> {
    /// By name of a factor, of how many nodes it is known whether they have it.
    known: HashMap<&'static str, usize>,
    having: HashMap<(&'static str, Cow<'a, str>), usize>,
}

impl<'a> Counts<'a> {
    fn of(nodes: impl Iterator<Item = &'a Node>, site: &'a SiteFacts) -> Self {
        let mut counts = Self::default();
        let (mut bundles, mut times) = (BTreeMap::<u64, usize>::new(), HashMap::new());
        for node in nodes {
            if let Some(bundle) = node.bundle {
                *bundles.entry(bundle).or_default() += 1;
            }
            if let Some(at) = ended_at(node) {
                let half_hour = at.as_second().div_euclid(HALF_HOUR);
                *times.entry(half_hour).or_default() += 1;
                counts.note("time", 1);
            }
            for (name, value) in [("server", &node.server), ("program", &node.program)] {
                if let Some(value) = value {
                    counts.note(name, 1);
                    counts.add(name, Cow::Borrowed(value), 1);
                }
            }
            for name in FACTS {
                if let Some(value) = node.facts.get(name) {
                    counts.note(name, 1);
                    counts.add(name, Cow::Borrowed(value), 1);
                }
            }
            counts.note("group", 1);
            for group in site.groups_of(&node.name) {
                counts.add("group", Cow::Borrowed(group), 1);
            }
        }
        for (bundle, count) in bundles {
            counts.note("bundle", count);
            counts.add("bundle", Cow::Owned(bundle.to_string()), count);
            if let Some(versions) = site.versions_of(bundle) {
                counts.note("script", count);
                for version in versions {
                    counts.add("script", Cow::Borrowed(version), count);
                }
            }
        }
        // Each is in two of the hours, which overlap: so what happened within half an hour is in one of them.
        for (half_hour, count) in times {
            for begin in [half_hour - 1, half_hour] {
                counts.add("time", Cow::Owned(hour(begin)), count);
            }
        }
        counts
    }

    fn note(&mut self, name: &'static str, count: usize) {
        *self.known.entry(name).or_default() += count;
    }

    fn add(&mut self, name: &'static str, value: Cow<'a, str>, count: usize) {
        *self.having.entry((name, value)).or_default() += count;
    }
}

/// The nodes that haven't failed, by their factors: what the failed ones are compared with.
struct Others<'a> {
    site: &'a SiteFacts,
    counts: Counts<'a>,
    fisher: Fisher,
}

impl<'a> Others<'a> {
    /// Of `nodes`, those that haven't failed and have run something.
    fn of(nodes: impl Iterator<Item = &'a Node> + Clone, site: &'a SiteFacts) -> Self {
        let fisher = Fisher::new(nodes.clone().count());
        let others = nodes.filter(|node| !has_failed(node) && node.run.is_some());
        Self { site, counts: Counts::of(others, site), fisher }
    }

    /// What distinguishes the nodes of `failure` from the others, the least probable first. `node` finds a node by its
    /// name. Nothing is an answer.
    fn factors(
        &self,
        failure: &FailureGroup,
        node: impl Fn(&str) -> Option<&'a Node>,
    ) -> Vec<Factor> {
        if failure.nodes.len() < LEAST_FAILED {
            return Vec::new();
        }
        let failed = Counts::of(failure.nodes.iter().filter_map(|name| node(name)), self.site);
        let others = &self.counts;
        let new = failed.having.keys().filter(|factor| !others.having.contains_key(*factor));
        let all = (others.having.len() + new.count()).clamp(1, MOST_FACTORS);
        let known = &failed.known;
        let distinguishes = |(factor, having): (&(&'static str, Cow<'a, str>), &usize)| {
            let (name, value) = factor;
            let failed = Share { having: *having, of: known[name] };
            let others = Share {
                having: others.having.get(factor).copied().unwrap_or_default(),
                of: others.known.get(name).copied().unwrap_or_default(),
            };
            let is_shared = failed.having * 100 >= failed.of * MOST_FAILED
                && others.having * 100 <= others.of * FEW_OTHERS;
            is_shared.then(|| Factor {
                name: (*name).to_owned(),
                value: value.clone().into_owned(),
                failed,
                others,
                probability: self.fisher.two_sided(failed, others),
            })
        };
        let mut factors: Vec<Factor> = failed.having.iter().filter_map(distinguishes).collect();
        let stage = failure.detail.stage.as_deref().unwrap_or_default();
        factors.sort_by(|a, b| {
            let by_probability = a.probability.total_cmp(&b.probability);
            by_probability
                .then_with(|| a.distance(stage).cmp(&b.distance(stage)))
                .then_with(|| (&a.name, &a.value).cmp(&(&b.name, &b.value)))
        });
        // Holm's correction: each is held against the number of those that aren't rejected yet.
        let is_chance = |(rank, factor): (usize, &Factor)| {
            factor.probability * (all - rank.min(all - 1)) as f64 > ERROR_RATE
        };
        let end = factors.iter().enumerate().position(is_chance).unwrap_or(factors.len());
        factors.truncate(end);
        // Two hours that overlap say the same.
        let mut has_time = false;
        factors.retain(|factor| factor.name != "time" || !std::mem::replace(&mut has_time, true));
        factors
    }
}

impl Factor {
    /// How far it is from what failed, where numbers are the same: the script that failed is the nearest, the time is the
    /// farthest, because all that ever changes has one.
    fn distance(&self, stage: &str) -> u8 {
        match self.name.as_str() {
            "script" => match self.value.strip_prefix(stage).is_some_and(|rest| {
                !stage.is_empty() && (rest.starts_with(" of ") || rest.starts_with(", removed"))
            }) {
                true => 0,
                false => 2,
            },
            "bundle" => 1,
            "group" => 4,
            "time" => 5,
            _ => 3,
        }
    }
}

/// What distinguishes the nodes of each of the `failures`, in the same order.
pub fn factors_of<'n: 's, 's>(
    failures: &[FailureGroup],
    nodes: impl Iterator<Item = &'n Node> + Clone,
    site: &'s SiteFacts,
) -> Vec<Vec<Factor>> {
    let nodes = nodes.map(|node| -> &'s Node { node });
    if !are_comparable(failures) {
        return failures.iter().map(|_| Vec::new()).collect();
    }
    let others = Others::of(nodes.clone(), site);
    let failed = nodes.filter(|node| has_failed(node));
    let by_name: HashMap<&str, &Node> = failed.map(|node| (node.name.as_str(), node)).collect();
    let find = |name: &str| by_name.get(name).copied();
    failures.iter().map(|failure| others.factors(failure, find)).collect()
}

/// Whether one of the failures has so many nodes that they are compared with others.
pub fn are_comparable(failures: &[FailureGroup]) -> bool {
    failures.iter().any(|failure| failure.nodes.len() >= LEAST_FAILED)
}

/// When the run ended that a node shows, by the node's clock; of a rerun that failed, when it last reported.
fn ended_at(node: &Node) -> Option<Timestamp> {
    if has_failed(node) { failed_at(node) } else { node.since }
}

/// The seconds of half an hour.
const HALF_HOUR: i64 = 1800;

/// `2026-11-28 14:30 to 15:30 UTC`, of the hour that begins with this half hour since 1970.
fn hour(half_hour: i64) -> String {
    let time = |half_hour: i64, format| {
        let at = Timestamp::from_second(half_hour * HALF_HOUR).unwrap_or_default();
        at.strftime(format).to_string()
    };
    format!("{} to {} UTC", time(half_hour, "%Y-%m-%d %H:%M"), time(half_hour + 2, "%H:%M"))
}

/// The facts that are compared.
const FACTS: [&str; 8] =
    ["kernel", "os", "arch", "model", "firmware", "cpus", "memoryMiB", "image"];

#[cfg(test)]
mod tests;

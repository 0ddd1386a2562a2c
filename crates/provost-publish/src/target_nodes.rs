//! For whom a publication is, and which generation it gets.
//!
//! A channel's nodes are ahead: their plans name a newer bundle than `manifest.toml` is, and that is in
//! `manifests/GENERATION.toml`. What is published to all nodes later is newer still, or the very bundle
//! that a channel has: no node ever goes back.

use std::collections::BTreeSet;

use provost_bundle::{Digest, Manifest};

use crate::history::Record;
use crate::prepared::Prepared;

impl Prepared<'_> {
    /// The generation that the bundle will have: a new one only if a file differs from what the
    /// nodes have, or if a node could have seen a newer one.
    pub(crate) fn generation(&self) -> u64 {
        *self.generation.get_or_init(|| {
            let newest = self.previous.generation();
            let least = self.publication.used.least_bundle(newest);
            let next = newest.saturating_add(1).max(least);
            self.base().map_or(next, |base| base.generation)
        })
    }

    /// The keys that count no more: those that were known, and the one that is revoked now.
    pub(crate) fn revoked(&self) -> BTreeSet<String> {
        let revoke = self.publication.revoke.map(|key| key.line().to_owned());
        self.succession.revoked().iter().cloned().chain(revoke).collect()
    }

    /// The published manifest, if this publication doesn't need another.
    pub(crate) fn base(&self) -> Option<&Manifest> {
        let least = self.publication.used.least_bundle(self.previous.generation());
        let entries = || self.sources.iter().map(|source| &source.entry);
        let key = self.publication.key.public_line();
        let revoked = self.revoked();
        let is_same = |manifest: &&Manifest| {
            manifest.files.iter().eq(entries())
                && manifest.generation >= least
                && manifest.key == key
                // An older manifest of the same generation could take it back.
                && revoked.iter().all(|line| manifest.revoked.contains(line))
        };
        if let Some(channel) = self.publication.channel {
            let last = self.last_of(Some(channel.name))?.generation;
            let ahead = &self.previous.channel_bundles().nodes;
            let is_newest =
                channel.nodes.iter().all(|node| ahead.get(node).is_none_or(|own| *own <= last));
            return self
                .previous
                .channel_bundles()
                .manifest(last)
                .filter(|_| is_newest)
                .filter(is_same);
        }
        let main = self.previous.manifest().filter(is_same);
        if self.previous.channel_bundles().nodes.is_empty() {
            return main;
        }
        if self.publication.ends_channels {
            return None;
        }
        let is_unchanged = self.last_of(None).is_some_and(|last| last.content == self.content());
        match main.filter(|_| is_unchanged) {
            Some(main) => Some(main),
            None => self.previous.channel_bundles().manifests().rfind(is_same),
        }
    }

    /// The last publication to this channel, or to all nodes.
    pub(crate) fn last_of(&self, channel: Option<&str>) -> Option<&Record> {
        self.previous.records().iter().find(|record| record.channel.as_deref() == channel)
    }

    /// Whether the node keeps the plan that it has.
    pub(crate) fn keeps_plan(&self, node: &str) -> bool {
        match self.publication.channel {
            Some(channel) => !channel.nodes.contains(node),
            None => self
                .previous
                .channel_bundles()
                .nodes
                .get(node)
                .is_some_and(|own| *own > self.generation()),
        }
    }

    /// How many nodes have a newer bundle than all others, and how many of them keep it. A node whose
    /// bundle is the one that is now published to all is in neither.
    pub fn nodes_ahead(&self) -> (usize, usize) {
        let ahead = &self.previous.channel_bundles().nodes;
        let others = ahead.values().filter(|own| **own != self.generation()).count();
        (others, ahead.keys().filter(|node| self.keeps_plan(node)).count())
    }

    /// The plans that are published anew.
    pub(crate) fn plans(&self) -> impl Iterator<Item = (&String, &String)> {
        self.publication.input.plans.iter().filter(|(node, _)| !self.keeps_plan(node))
    }

    /// The nodes whose plans stay as they are published.
    pub(crate) fn kept_plans(&self) -> BTreeSet<&String> {
        let is_named = |node: &str| {
            self.publication.channel.is_some() || self.publication.input.plans.contains_key(node)
        };
        let published = self.published.iter();
        published.filter(|node| self.keeps_plan(node) && is_named(node)).collect()
    }

    /// The digest of everything that the input has.
    pub(crate) fn content(&self) -> Digest {
        let entries = self.sources.iter().map(|source| format!("{:?}\0", source.entry));
        let plans = self.publication.input.plans.iter();
        let plans = plans.map(|(node, body)| format!("{node}\0{body}\0"));
        Digest::of(entries.chain(plans).collect::<String>().as_bytes())
    }
}

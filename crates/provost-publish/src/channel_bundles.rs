//! What channels have, newer than what all nodes have.

use std::collections::BTreeMap;

use provost_bundle::Manifest;

/// The newer bundles, and whose they are.
#[derive(Default)]
pub(crate) struct ChannelBundles {
    /// By generation.
    pub(crate) manifests: BTreeMap<u64, Manifest>,
    /// The generation of the bundle of each node that has one of these.
    pub(crate) nodes: BTreeMap<String, u64>,
}

impl ChannelBundles {
    /// The bundles, in the order of generations.
    pub(crate) fn manifests(&self) -> impl DoubleEndedIterator<Item = &Manifest> {
        self.manifests.values()
    }

    /// The bundle of this generation.
    pub(crate) fn manifest(&self, generation: u64) -> Option<&Manifest> {
        self.manifests.get(&generation)
    }

    /// The newest generation; 0 where there is none.
    pub(crate) fn newest(&self) -> u64 {
        self.manifests.keys().next_back().copied().unwrap_or_default()
    }
}

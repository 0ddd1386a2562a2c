//! Until when what is published may be used.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use provost_bundle::{Manifest, Validity};

use crate::channels::channels;
use crate::error::PublishError;
use crate::previous::{Previous, plan_path};

/// A bundle that nodes get now, with the plans that go with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// Whose it is: the channel; none is all nodes'. Where only the publisher may read the names of channels, its
    /// generation.
    pub channel: Option<String>,
    /// That of the manifest, or of the plan that expires first.
    pub validity: Validity,
    /// Who may say that it counts for longer.
    pub refresh_key: Option<String>,
}

/// What is published in `www`: for all nodes, then for each channel that has something newer.
pub fn served(www: &Path) -> Result<Vec<Served>, PublishError> {
    let previous = Previous::read(www, None)?;
    let ahead = previous.channel_bundles();
    let names = channels(www, None).unwrap_or_default();
    let mut first = BTreeMap::<u64, Validity>::new();
    let mut channel_of = BTreeMap::<u64, String>::new();
    for node in previous.published_plans()? {
        let Some(head) = previous.plan_head(&plan_path(&node)) else { continue };
        // Plans of older generations go with the bundle of all nodes.
        let generation = ahead.nodes.get(&node).copied().unwrap_or_default();
        let validity = first.entry(generation).or_insert(head.validity);
        if head.validity.expires < validity.expires {
            *validity = head.validity;
        }
        if let Some((name, _)) = names.iter().find(|(_, nodes)| nodes.contains(&node)) {
            channel_of.entry(generation).or_insert_with(|| name.clone());
        }
    }
    let served = |channel, generation: u64, manifest: &Manifest| {
        let plans = first.get(&generation).copied();
        let all = manifest.validity().into_iter().chain(plans);
        let validity = all.min_by_key(|validity| validity.expires);
        validity.map(|validity| Served {
            channel,
            validity,
            refresh_key: manifest.refresh_key.clone(),
        })
    };
    let of_all = previous.manifest().and_then(|manifest| served(None, 0, manifest));
    let of_channels = ahead.manifests.iter().filter_map(|(generation, manifest)| {
        let name = channel_of.get(generation).cloned();
        served(
            Some(name.unwrap_or_else(|| format!("generation {generation}"))),
            *generation,
            manifest,
        )
    });
    Ok(of_all.into_iter().chain(of_channels).collect())
}

impl Served {
    /// From when on somebody should do something about it: half of its time is over.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.validity.is_old(now)
    }
}

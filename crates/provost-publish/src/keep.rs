//! What a publication notes of itself, and what it leaves as it is.

use std::collections::BTreeSet;

use jiff::Timestamp;
use provost_bundle::{FileEntry, Manifest};

use crate::history::{MOST, Origin, Record};
use crate::prepared::Prepared;
use crate::previous::{MANIFEST, manifest_path, plan_path};
use crate::{channels, groups, publications};

/// How many older publications are kept that nodes still have, the newest of them.
const MOST_IN_USE: usize = 100;

impl Prepared<'_> {
    /// The record of this publication; none if it is what was published last to the same nodes.
    pub(crate) fn record(&self, origin: Option<Origin<'_>>, generation: u64) -> Option<Record> {
        let origin = origin?;
        let channel = self.publication.channel.map(|channel| channel.name.to_owned());
        let content = self.content();
        let last = self.last_of(channel.as_deref());
        let is_last = |last: &Record| (last.generation, last.content) == (generation, content);
        if last.is_some_and(is_last) {
            return None;
        }
        let number = self.previous.records().first().map_or(0, |last| last.number) + 1;
        Some(Record {
            number,
            at: now(),
            by: origin.by.to_owned(),
            host: origin.host.to_owned(),
            action: origin.action,
            channel,
            generation,
            content,
            summary: origin.summary.to_owned(),
            site: origin.site.to_owned(),
            groups: origin.groups.clone(),
            files: self.sources.iter().map(|source| source.entry.clone()).collect(),
        })
    }

    /// What stays as it is beside what this publication writes: what other nodes use, and what can
    /// be published again.
    pub(crate) fn kept(&self, manifest: &Manifest, record: Option<&Record>) -> BTreeSet<String> {
        let with_signature = |file: String| [format!("{file}.minisig"), file];
        let mut kept = BTreeSet::new();
        let mut used = BTreeSet::<u64>::new();
        for node in self.kept_plans() {
            kept.extend(with_signature(plan_path(node)));
            used.extend(self.previous.channel_bundles().nodes.get(node));
        }
        if self.publication.channel.is_some() {
            kept.extend(with_signature(MANIFEST.to_owned()));
            kept.extend(with_signature(groups::FILE.to_owned()));
            let main = self.previous.manifest().map(|main| manifest_path(main.generation));
            kept.extend(main.into_iter().flat_map(with_signature));
            used.remove(&manifest.generation);
        }
        for own in used.into_iter().filter_map(|own| self.previous.channel_bundles().manifest(own))
        {
            kept.extend(with_signature(manifest_path(own.generation)));
            kept.extend(own.files.iter().map(FileEntry::object_path));
            kept.insert(own.pack.path());
        }
        let most = MOST - usize::from(record.is_some());
        let records = self.previous.records();
        let (newest, older) = records.split_at(most.min(records.len()));
        let is_in_use =
            |record: &&Record| self.publication.used.bundles.contains(&record.generation);
        for record in newest.iter().chain(older.iter().filter(is_in_use).take(MOST_IN_USE)) {
            kept.extend(with_signature(record.file()));
            kept.extend(record.files.iter().map(FileEntry::object_path));
            kept.extend(publications::files(record.number));
        }
        if self.previous.path(channels::FILE).exists() {
            kept.extend(with_signature(channels::FILE.to_owned()));
        }
        kept.extend(self.kept_secrets());
        // What is lost can't be kept.
        kept.retain(|file| self.previous.path(file).exists());
        kept
    }
}

/// The present time in whole seconds.
fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

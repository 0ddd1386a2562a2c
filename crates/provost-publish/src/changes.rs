use std::collections::{BTreeMap, BTreeSet};

use provost_bundle::{FileEntry, Manifest, Tls};

use crate::error::PublishError;
use crate::prepared::Prepared;
use crate::secrets;

/// What a publication changes of what is published.
#[derive(Debug)]
pub struct Changes {
    /// The bundle's generation before; none if there was none.
    pub from: Option<u64>,
    /// The bundle's generation afterwards.
    pub to: u64,
    /// What the manifest says beside its files that is different.
    pub keys: Vec<KeyChange>,
    /// Each file that is added, removed or different, by path.
    pub files: Vec<FileChange>,
    /// Each plan that is added, removed or different, by node.
    pub plans: Vec<PlanChange>,
    /// How many plans were published before.
    pub plans_before: usize,
    /// How many plans are published afterwards.
    pub plans_after: usize,
}

/// A key of the manifest that changes.
#[derive(Debug)]
pub struct KeyChange {
    /// Its name.
    pub name: &'static str,
    /// What it was; none if it wasn't there.
    pub before: Option<String>,
    /// What it is to be; none if it is removed.
    pub after: Option<String>,
}

/// A file that changes.
#[derive(Debug)]
pub struct FileChange {
    /// Its path in the bundle.
    pub path: String,
    /// What is published; none if it is new.
    pub before: Option<FileVersion>,
    /// What is to be published; none if it is removed.
    pub after: Option<FileVersion>,
}

/// A file as it was, or as it will be.
#[derive(Debug)]
pub struct FileVersion {
    /// What the manifest says of it.
    pub entry: FileEntry,
    /// Its bytes; none if they can't be read any more.
    pub content: Option<Vec<u8>>,
}

/// A plan that changes.
#[derive(Debug)]
pub struct PlanChange {
    /// Its node.
    pub node: String,
    /// What is published, and its generation; none if the node had none.
    pub before: Option<(u64, String)>,
    /// What is to be published, and its generation; none if the node gets none.
    pub after: Option<(u64, String)>,
    /// The names of its secrets whose values are new or others.
    pub secrets: Vec<String>,
}

impl Prepared<'_> {
    /// What changes.
    pub fn changes(&self) -> Result<Changes, PublishError> {
        let before = self.before();
        let plans = self.plan_changes();
        Ok(Changes {
            from: before.map(|manifest| manifest.generation),
            to: self.generation(),
            keys: before.map(|before| self.key_changes(before)).unwrap_or_default(),
            files: self.file_changes(before)?,
            plans,
            plans_before: self.published.iter().filter(|node| !self.keeps_plan(node)).count(),
            plans_after: self.plans().count(),
        })
    }

    /// Who may answer nodes, refresh what is published, or sign it no more.
    fn key_changes(&self, before: &Manifest) -> Vec<KeyChange> {
        let after = self.named();
        let revoked = |keys: &[String]| (!keys.is_empty()).then(|| keys.join(", "));
        let tls = |tls: &Option<Tls>| tls.as_ref().map(Tls::to_string);
        [
            ("tls", tls(&before.tls), tls(&after.tls)),
            ("refresh_key", before.refresh_key.clone(), after.refresh_key),
            ("revoked", revoked(&before.revoked), revoked(&after.revoked)),
        ]
        .into_iter()
        .filter(|(_, before, after)| before != after)
        .map(|(name, before, after)| KeyChange { name, before, after })
        .collect()
    }

    /// The bundle that those nodes have now for whom this one is.
    fn before(&self) -> Option<&Manifest> {
        let channel = self.publication.channel;
        let last = channel.and_then(|channel| self.last_of(Some(channel.name)));
        let of_channel =
            last.and_then(|last| self.previous.channel_bundles().manifest(last.generation));
        of_channel.or(self.previous.manifest())
    }

    fn file_changes(&self, before: Option<&Manifest>) -> Result<Vec<FileChange>, PublishError> {
        let files = before.map_or(&[][..], |manifest| &manifest.files);
        let before: BTreeMap<&str, &FileEntry> =
            files.iter().map(|entry| (entry.path.as_str(), entry)).collect();
        let after: BTreeMap<&str, _> =
            self.sources.iter().map(|source| (source.entry.path.as_str(), source)).collect();
        let mut changes = Vec::new();
        for path in before.keys().chain(after.keys()).copied().collect::<BTreeSet<_>>() {
            let (old, new) = (before.get(path).copied(), after.get(path).copied());
            if old == new.map(|source| &source.entry) {
                continue;
            }
            let old = old.map(|entry| FileVersion {
                entry: entry.clone(),
                content: self.previous.object(entry),
            });
            let new = new.map(|source| -> Result<_, PublishError> {
                Ok(FileVersion { entry: source.entry.clone(), content: Some(source.read()?) })
            });
            changes.push(FileChange {
                path: path.to_owned(),
                before: old,
                after: new.transpose()?,
            });
        }
        Ok(changes)
    }

    pub(crate) fn plan_changes(&self) -> Vec<PlanChange> {
        let (plans, published) = (self.publication.input.plans, &self.published);
        let mut changes = Vec::new();
        for node in published.iter().chain(plans.keys()).collect::<BTreeSet<_>>() {
            // Its plan goes only if it isn't named any more.
            if self.keeps_plan(node)
                && (self.publication.channel.is_some() || plans.contains_key(node))
            {
                continue;
            }
            let body = plans.get(node);
            let is_same = published.contains(node)
                && body.is_some_and(|body| self.previous.has_plan_body(node, body));
            if is_same {
                continue;
            }
            let before = published.contains(node).then(|| self.previous.plan(node)).flatten();
            let after = body.map(|body| (self.mark(node, body).generation, body.clone()));
            let document = self.publication.input.secrets.get(node).filter(|_| after.is_some());
            let secrets = secrets::changed(&self.previous, node, document);
            changes.push(PlanChange { node: node.clone(), before, after, secrets });
        }
        changes
    }
}

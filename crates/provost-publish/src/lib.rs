//! The publisher: all checks first, then a new folder next to the published one, then the switch.
//! Also the keys that sign, and which key came after which.

mod changes;
mod channels;
mod check;
mod error;
mod expiry;
mod generations;
mod groups;
mod history;
mod keep;
mod key;
mod label;
pub mod lint;
mod named;
mod pack;
mod plan_index;
mod prepared;
mod previous;
mod publication;
mod publications;
mod rehearsal;
mod replace;
mod secret;
mod secrets;
mod sign_again;
mod signed;
mod signer;
mod stage;
mod succession;
mod synclist;
mod target;
mod target_nodes;
mod tree;

use std::collections::BTreeMap;
use std::io;

pub use changes::{Changes, FileChange, FileVersion, KeyChange, PlanChange};
pub use channels::{Channels, change_channels, channels};
pub use check::Source;
pub use error::{Problem, PublishError};
pub use expiry::{Served, served};
use generations::PlanHead;
pub use generations::{Generations, Used};
pub use groups::{FILE as GROUPS, groups};
pub use history::{Action, Origin, Record, history};
pub use key::{KeyError, SecretKey};
use named::Named;
use pack::PackError;
use plan_index::PlanMark;
pub use prepared::{Access, Prepared, prepare};
use provost_bundle::{Digest, Manifest, Pack, Validity};
pub use publication::{Channel, Input, Progress, Publication, Published};
pub use publications::{plan_body, publications, script_bytes, scripts_of};
pub use rehearsal::{Rehearsal, RehearsalFile};
pub use secrets::salt;
pub use sign_again::sign_again;
use stage::Stage;
pub use succession::Succession;
pub use target::lock_published;

/// After how many plans the progress is told.
const SHOWN_EACH: usize = 100;

/// Publishes a bundle and the plans that go with it. Either all of it is there afterwards, or
/// nothing has changed. Files that are already published and right stay as they are.
pub fn publish(publication: &Publication<'_>) -> Result<Published, PublishError> {
    prepare(publication, Access::Write)?.publish(None, &|_| {})
}

/// Checks all of the input: what [`prepare`] does before it looks at what is published. Returns the
/// files that would be published.
pub fn check_input(input: &Input<'_>) -> Result<Vec<Source>, PublishError> {
    check::check(input).map_err(PublishError::Refused)
}

impl Prepared<'_> {
    /// Does all that [`Prepared::publish`] does but signing and writing.
    pub fn check(&self) -> Result<(), PublishError> {
        let validity = Validity::from_now(self.publication.valid_for);
        self.manifest((None, validity), self.generation(), Named::default(), || {
            pack::write(&self.sources, io::sink()).map_err(|e| match e {
                PackError::Write(e) => {
                    PublishError::disk("packing", self.publication.input.scripts, e)
                }
                PackError::Source(e) => e,
            })
        })?;
        Ok(())
    }

    /// Publishes it. `origin` is noted in the history, if it is given. `progress` is called again and
    /// again while it takes long.
    pub fn publish(
        self,
        origin: Option<Origin<'_>>,
        progress: &dyn Fn(Progress),
    ) -> Result<Published, PublishError> {
        let Self { publication, sources, target, previous, .. } = &self;
        let key = publication.key;
        let mut stage = None;

        let last = previous.manifest();
        let validity = Validity::from_now(publication.valid_for);
        let validity = validity.after(last.and_then(Manifest::validity));
        let has_aged = |last: Validity| publication.refresh || last.is_old(validity.made);
        let named = self.named();
        let same = self.base().filter(|base| named.is_as_in(base));
        let kept = same.and_then(Manifest::validity).filter(|last| !has_aged(*last));
        let signed = self.signed_plans(has_aged);
        let plans_since = self.plans_since(&signed);
        let manifest = self.manifest((kept, validity), plans_since, named, || {
            let stage = stage.insert(Stage::new(target, publication.group)?);
            stage.write_pack(sources)
        })?;
        let mut texts = BTreeMap::new();
        let mut sign = |path: String, text: String| -> Result<Digest, PublishError> {
            let signature = previous.signature(&path, text.as_bytes(), key)?;
            let digest = Digest::of(signature.as_bytes());
            texts.insert(format!("{path}.minisig"), signature);
            texts.insert(path, text);
            Ok(digest)
        };
        let own = previous::manifest_path(manifest.generation);
        sign(own.clone(), manifest.to_toml()?)?;
        let (staying, new): (Vec<_>, Vec<_>) =
            self.plans().partition(|(node, _)| signed.with(node, &manifest).is_some());
        let mut marks = previous.marks().clone();
        for (done, (node, body)) in new.iter().enumerate() {
            if done % SHOWN_EACH == 0 {
                progress(Progress::Signing { done, plans: new.len() });
            }
            let mark = self.mark(node, body);
            let head =
                PlanHead { generation: mark.generation, manifest: manifest.generation, validity };
            let signature = sign(previous::plan_path(node), head.with(body))?;
            marks.insert((*node).clone(), PlanMark { signature: Some(signature), ..mark });
        }
        if publication.channel.is_none() {
            sign(groups::FILE.to_owned(), groups::text(publication.groups)?)?;
            // The same under both names: a cache may still have an older one under this.
            for end in ["", ".minisig"] {
                let text = texts[&format!("{own}{end}")].clone();
                texts.insert(format!("{}{end}", previous::MANIFEST), text);
            }
        }
        let links = self.links().iter().map(|link| (link.path(), link.text().to_owned()));
        texts.extend(links);
        texts.insert(plan_index::PLAN_INDEX.to_owned(), plan_index::index_text(&marks)?);

        let record = self.record(origin, manifest.generation);
        let mut kept = self.kept(&manifest, record.as_ref());
        for (node, _) in staying {
            let path = previous::plan_path(node);
            kept.extend([format!("{path}.minisig"), path]);
        }
        let newest = last.filter(|_| publication.channel.is_some()).unwrap_or(&manifest);
        texts.extend(self.new_secrets());
        let is_already = || previous.is_already(&texts, &kept, (&manifest, newest));
        let changed = stage.is_some() || record.is_some() || !is_already();
        if changed {
            let stage = match stage {
                Some(stage) => stage,
                None => Stage::new(target, publication.group)?,
            };
            self.write_private(&stage, record.as_ref())?;
            progress(Progress::Writing);
            stage.fill(&texts, (&manifest, newest), sources, &kept, previous)?;
            stage.switch(target)?;
        }
        Ok(Published {
            generation: manifest.generation,
            generations: plan_index::generations(
                manifest.generation.max(previous.generation()),
                &marks,
            ),
            files: manifest.files.len(),
            plans: self.plans().count(),
            changed,
        })
    }

    /// Writes what only the publisher may read, and what those may who read plans.
    fn write_private(&self, stage: &Stage, record: Option<&Record>) -> Result<(), PublishError> {
        if let Some(salt) = self.new_salt() {
            stage.write_private(secrets::SALT, salt.as_bytes())?;
        }
        if let Some(record) = record {
            let (path, text) = (record.file(), record.text()?);
            let signature = self.publication.key.sign(text.as_bytes(), "")?;
            stage.write_private(&format!("{path}.minisig"), signature.as_bytes())?;
            stage.write_private(&path, text.as_bytes())?;
            publications::write(stage, record, &self.plan_changes())?;
        }
        Ok(())
    }

    /// What is known of the publisher's keys, once this is published.
    pub fn succession(&self) -> Succession {
        self.succession.clone().without(self.publication.revoke)
    }

    /// The new manifest, as `key` will sign it.
    fn manifest(
        &self,
        (kept, new): (Option<Validity>, Validity),
        plans_since: u64,
        Named { refresh_key, tls, key_link, revoked }: Named,
        build_pack: impl FnOnce() -> Result<Pack, PublishError>,
    ) -> Result<Manifest, PublishError> {
        let same = self.base();
        let files: Vec<_> = self.sources.iter().map(|source| source.entry.clone()).collect();
        let mut all = self.previous.channel_bundles().manifests().chain(self.previous.manifest());
        let is_it = |last: &&Manifest| last.files == files && self.previous.has_pack(&last.pack);
        let pack = match all.find(is_it) {
            Some(manifest) => manifest.pack.clone(),
            None => build_pack()?,
        };
        let validity = kept.filter(|_| same.is_some()).unwrap_or(new);
        let manifest = Manifest {
            format: Manifest::FORMAT,
            generation: self.generation(),
            created: same.map_or(new.made, |manifest| manifest.created),
            made: Some(validity.made),
            expires: Some(validity.expires),
            plans_since: (plans_since < self.generation()).then_some(plans_since),
            refresh_key,
            tls,
            revoked,
            key: self.publication.key.public_line().to_owned(),
            key_link,
            rehearsal: false,
            pack,
            files,
        };
        // Parsed as a node does: what a node would refuse is not published.
        Ok(Manifest::parse(manifest.to_toml()?.as_bytes())?)
    }
}

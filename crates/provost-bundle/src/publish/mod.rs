//! Publishing: all checks first, then a new folder next to the published one, then the switch.

mod changes;
mod check;
mod error;
mod generations;
mod head;
mod key;
mod pack;
mod previous;
mod publication;
mod secret;
mod stage;
mod target;
mod tree;

use std::collections::BTreeMap;
use std::io;

use crate::{Manifest, Pack, Validity};
pub use changes::{Changes, FileChange, FileVersion, PlanChange};
pub use check::Source;
pub use error::{Problem, PublishError};
pub use generations::{Generations, Used};
use head::PlanHead;
pub use key::{KeyError, SecretKey};
use pack::PackError;
use previous::{PlanMark, Previous};
pub use publication::{Input, Publication, Published};
use stage::Stage;
use target::Target;

/// Publishes a bundle and the plans that go with it. Either all of it is there afterwards, or
/// nothing has changed. Files that are already published and right stay as they are.
pub fn publish(publication: &Publication<'_>) -> Result<Published, PublishError> {
    prepare(publication, Access::Write)?.publish()
}

/// What is done with the published folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is only read.
    Read,
    /// It is locked, to be replaced.
    Write,
}

/// A publication whose input is checked, and which knows what is published so far.
pub struct Prepared<'p> {
    publication: &'p Publication<'p>,
    sources: Vec<Source>,
    target: Target,
    previous: Previous,
}

/// Checks all of the input, and reads what is published.
pub fn prepare<'p>(
    publication: &'p Publication<'p>,
    access: Access,
) -> Result<Prepared<'p>, PublishError> {
    let sources = check::check(&publication.input).map_err(PublishError::Refused)?;
    let target = match access {
        Access::Read => Target::look(publication.to, publication.input.scripts)?,
        Access::Write => Target::open(publication.to, publication.input.scripts)?,
    };
    let previous = Previous::read(target.path(), publication.group)?;
    Ok(Prepared { publication, sources, target, previous })
}

/// Checks all of the input: what [`prepare`] does before it looks at what is published. Returns the
/// files that would be published.
pub fn check_input(input: &Input<'_>) -> Result<Vec<Source>, PublishError> {
    check::check(input).map_err(PublishError::Refused)
}

impl Prepared<'_> {
    /// The files that would be published.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// How far the generations of the published folder have counted.
    pub fn generations(&self) -> Generations {
        self.previous.generations()
    }

    /// Whether the plans get a group of their own.
    pub fn has_group(&self) -> bool {
        self.publication.group.is_some()
    }

    /// The generation that the bundle will have: a new one only if a file differs from the previous
    /// one, or if a node could have seen a newer one.
    fn generation(&self) -> u64 {
        let found = self.previous.generation();
        let least = self.publication.used.least_bundle(found);
        match self.same_manifest() {
            Some(_) => found,
            None => found.saturating_add(1).max(least),
        }
    }

    /// The published manifest, if this publication doesn't need another.
    fn same_manifest(&self) -> Option<&Manifest> {
        let least = self.publication.used.least_bundle(self.previous.generation());
        let entries = || self.sources.iter().map(|source| &source.entry);
        let is_same = |manifest: &&Manifest| manifest.files.iter().eq(entries());
        self.previous.manifest().filter(is_same).filter(|manifest| manifest.generation >= least)
    }

    /// The mark that the node's plan will have.
    fn mark(&self, node: &str, body: &str) -> PlanMark {
        let last = self.previous.marks().get(node);
        let found = last.map_or(0, |last| last.generation);
        let least = self.publication.used.least_plan(node, found, self.previous.generations());
        PlanMark::next(last, body, least)
    }

    /// Does all that [`Prepared::publish`] does but signing and writing.
    pub fn check(&self) -> Result<(), PublishError> {
        let validity = Validity::from_now(self.publication.valid_for);
        self.manifest((None, validity, None), || {
            pack::write(&self.sources, io::sink()).map_err(|e| match e {
                PackError::Write(e) => {
                    PublishError::disk("packing", self.publication.input.scripts, e)
                }
                PackError::Source(e) => e,
            })
        })?;
        Ok(())
    }

    /// Publishes it.
    pub fn publish(self) -> Result<Published, PublishError> {
        let Self { publication, sources, target, previous } = &self;
        let key = publication.key;
        let mut stage = None;

        let validity = Validity::from_now(publication.valid_for);
        let has_aged = |last: Validity| publication.refresh || last.is_old(validity.made);
        let last = previous.manifest();
        // Once named, it stays.
        let refresh_key = publication.refresh_key.map(|key| key.line());
        let refresh_key = refresh_key.or_else(|| last?.refresh_key.as_deref()).map(str::to_owned);
        let same_key = last.filter(|last| last.refresh_key == refresh_key);
        let kept = same_key.and_then(Manifest::validity).filter(|last| !has_aged(*last));
        let manifest = self.manifest((kept, validity, refresh_key), || {
            let stage = stage.insert(Stage::new(target, publication.group)?);
            stage.write_pack(sources)
        })?;
        let mut texts = BTreeMap::new();
        let mut sign = |path: String, text: String| -> Result<(), PublishError> {
            let signature = previous.signature(&path, text.as_bytes(), key)?;
            texts.insert(format!("{path}.minisig"), signature);
            texts.insert(path, text);
            Ok(())
        };
        sign("manifest.toml".to_owned(), manifest.to_toml()?)?;
        let mut marks = previous.marks().clone();
        for (node, body) in publication.input.plans {
            let mark = self.mark(node, body);
            let path = format!("plans/{node}.toml");
            let last = previous.plan_head(&path).filter(|last| {
                (last.generation, last.manifest) == (mark.generation, manifest.generation)
                    && !has_aged(last.validity)
            });
            let (generation, manifest) = (mark.generation, manifest.generation);
            let head = last.unwrap_or(PlanHead { generation, manifest, validity });
            sign(path, head.with(body))?;
            marks.insert(node.clone(), mark);
        }
        texts.insert(previous::MARKS.to_owned(), previous::marks_text(&marks)?);

        let changed = stage.is_some() || !previous.is_already(&texts, &manifest);
        if changed {
            let stage = match stage {
                Some(stage) => stage,
                None => Stage::new(target, publication.group)?,
            };
            stage.fill(&texts, &manifest, sources, previous)?;
            stage.switch(target)?;
        }
        Ok(Published {
            generation: manifest.generation,
            generations: previous::generations(manifest.generation, &marks),
            files: manifest.files.len(),
            plans: publication.input.plans.len(),
            changed,
        })
    }

    /// The new manifest, as `key` will sign it.
    fn manifest(
        &self,
        (kept, new, refresh_key): (Option<Validity>, Validity, Option<String>),
        build_pack: impl FnOnce() -> Result<Pack, PublishError>,
    ) -> Result<Manifest, PublishError> {
        let same = self.same_manifest();
        let files: Vec<_> = self.sources.iter().map(|source| source.entry.clone()).collect();
        let last = self.previous.manifest().filter(|manifest| manifest.files == files);
        let pack = match last.filter(|manifest| self.previous.has_pack(&manifest.pack)) {
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
            refresh_key,
            key: self.publication.key.public_line().to_owned(),
            pack,
            files,
        };
        // Parsed as a node does: what a node would refuse is not published.
        Ok(Manifest::parse(manifest.to_toml()?.as_bytes())?)
    }
}

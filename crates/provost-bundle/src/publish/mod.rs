//! Publishing: all checks first, then a new folder beside the published one, then the switch.

mod check;
mod error;
mod key;
mod pack;
mod previous;
mod publication;
mod stage;
mod target;
mod tree;

use std::collections::BTreeMap;

use crate::{Manifest, Pack};
use check::Source;
pub use error::{Problem, PublishError};
pub use key::{KeyError, SecretKey};
use previous::{PlanMark, Previous, now};
pub use publication::{Publication, Published};
use stage::Stage;
use target::Target;

/// Publishes a bundle and the plans that go with it. Either all of it is there afterwards, or
/// nothing has changed. Files that are already published and right stay as they are.
pub fn publish(publication: &Publication<'_>) -> Result<Published, PublishError> {
    let sources = check::check(publication).map_err(PublishError::Refused)?;
    let target = Target::open(publication.to, publication.scripts)?;
    let previous = Previous::read(target.path())?;
    let key = publication.key;
    let mut stage = None;

    let manifest = manifest(&sources, &previous, key, || {
        let stage = stage.insert(Stage::new(&target)?);
        stage.write_pack(&sources)
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
    for (node, body) in publication.plans {
        let mark = PlanMark::next(marks.get(node), body);
        sign(format!("plans/{node}.toml"), format!("generation = {}\n{body}", mark.generation))?;
        marks.insert(node.clone(), mark);
    }
    texts.insert(previous::MARKS.to_owned(), previous::marks_text(&marks)?);

    let changed = stage.is_some() || !previous.is_already(&texts, &manifest);
    if changed {
        let stage = match stage {
            Some(stage) => stage,
            None => Stage::new(&target)?,
        };
        stage.fill(&texts, &manifest, &sources, &previous)?;
        stage.switch(&target)?;
    }
    let (files, plans) = (manifest.files.len(), publication.plans.len());
    Ok(Published { generation: manifest.generation, files, plans, changed })
}

/// The manifest of `sources`: of a new generation only if a file differs from the previous one.
fn manifest(
    sources: &[Source],
    previous: &Previous,
    key: &SecretKey,
    build_pack: impl FnOnce() -> Result<Pack, PublishError>,
) -> Result<Manifest, PublishError> {
    let files: Vec<_> = sources.iter().map(|source| source.entry.clone()).collect();
    let same = previous.manifest().filter(|manifest| manifest.files == files);
    let pack = match same.filter(|manifest| previous.has_pack(&manifest.pack)) {
        Some(manifest) => manifest.pack.clone(),
        None => build_pack()?,
    };
    let manifest = Manifest {
        format: Manifest::FORMAT,
        generation: same
            .map_or(previous.generation().saturating_add(1), |manifest| manifest.generation),
        created: same.map_or_else(now, |manifest| manifest.created),
        key: key.public_line().to_owned(),
        pack,
        files,
    };
    // Parsed as a node does: what a node would refuse is not published.
    Ok(Manifest::parse(manifest.to_toml()?.as_bytes())?)
}

//! A publication whose input is checked.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::check::{self, Source};
use crate::error::PublishError;
use crate::generations::Generations;
use crate::plan_index::PlanMark;
use crate::previous::Previous;
use crate::publication::Publication;
use crate::succession::Succession;
use crate::target::Target;

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
    pub(crate) publication: &'p Publication<'p>,
    pub(crate) sources: Vec<Source>,
    pub(crate) target: Target,
    pub(crate) previous: Previous,
    pub(crate) succession: Succession,
    /// The nodes that have a published plan.
    pub(crate) published: BTreeSet<String>,
    pub(crate) generation: OnceCell<u64>,
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
    if publication.channel.is_some() && previous.manifest().is_none() {
        return Err(PublishError::Empty { path: target.path().to_owned() });
    }
    let known = previous.manifest().map(|manifest| Succession::of(target.path(), manifest));
    let succession = known.unwrap_or_default().or_further(publication.succession.clone());
    succession.check(publication.key.public())?;
    let published = previous.published_plans()?;
    let generation = OnceCell::new();
    Ok(Prepared { publication, sources, target, previous, succession, published, generation })
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

    /// The mark that the node's plan will have.
    pub(crate) fn mark(&self, node: &str, body: &str) -> PlanMark {
        let last = self.previous.marks().get(node);
        let found = last.map_or(0, |last| last.generation);
        let least = self.publication.used.least_plan(node, found, self.previous.generations());
        PlanMark::next(last, body, least)
    }
}

//! A publication that nodes try before it is published: signed as one, for an hour and for dry runs
//! alone. Nothing of it is written.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use provost_api::published::{
    MANIFEST, REHEARSED_PACK, REHEARSED_PLAN, REHEARSED_SECRETS, signature,
};
use provost_bundle::{Manifest, Validity};

use crate::error::PublishError;
use crate::generations::PlanHead;
use crate::pack::{self, PackError};
use crate::prepared::Prepared;

/// For how long nodes take it.
const VALID_FOR: SignedDuration = SignedDuration::from_hours(1);

/// What goes to the nodes.
#[derive(Debug)]
pub struct Rehearsal {
    /// That of the bundle, as the next publication may have it.
    pub generation: u64,
    of_all: Vec<RehearsalFile>,
    of_nodes: BTreeMap<String, Vec<RehearsalFile>>,
}

/// The name of a file, and its content.
pub type RehearsalFile = (String, Vec<u8>);

impl Rehearsal {
    /// What goes to this node; nothing to one without a plan.
    pub fn files(&self, node: &str) -> impl Iterator<Item = &RehearsalFile> {
        let own = self.of_nodes.get(node);
        own.into_iter().flat_map(|own| self.of_all.iter().chain(own))
    }
}

impl Prepared<'_> {
    /// Signs what would be published for `nodes`.
    pub fn rehearsal(&self, nodes: &BTreeSet<String>) -> Result<Rehearsal, PublishError> {
        let mut bytes = Vec::new();
        let packed = pack::write(&self.sources, &mut bytes).map_err(|e| match e {
            PackError::Write(e) => PublishError::disk("packing", self.publication.input.scripts, e),
            PackError::Source(e) => e,
        })?;
        let validity = Validity::from_now(VALID_FOR);
        let published = self
            .manifest((None, validity), self.generation(), self.named(), || Ok(packed.clone()))?;
        let generation = published.generation.max(self.previous.generation() + 1);
        let manifest = Manifest {
            generation,
            created: validity.made,
            made: Some(validity.made),
            expires: Some(validity.expires),
            plans_since: None,
            rehearsal: true,
            pack: packed,
            ..published
        };
        let mut of_all = self.signed(MANIFEST, manifest.to_toml()?)?;
        of_all.push((REHEARSED_PACK.to_owned(), bytes));
        let mut of_nodes = BTreeMap::new();
        for (node, body) in self.plans().filter(|(node, _)| nodes.contains(*node)) {
            let plan = self.mark(node, body).generation;
            let head = PlanHead { generation: plan, manifest: generation, validity };
            let text = format!("rehearsal = true\n{}", head.with(body));
            let mut files = self.signed(REHEARSED_PLAN, text)?;
            let secrets = self.publication.input.secrets.get(node);
            files.extend(secrets.map(|text| (REHEARSED_SECRETS.to_owned(), text.clone().into())));
            of_nodes.insert(node.clone(), files);
        }
        Ok(Rehearsal { generation, of_all, of_nodes })
    }

    fn signed(&self, name: &str, text: String) -> Result<Vec<RehearsalFile>, PublishError> {
        let time = Timestamp::now().as_second();
        let comment = format!("timestamp:{time}\tfile:{name}\thashed");
        let text = text.into_bytes();
        let own = self.publication.key.sign(&text, &comment)?.into_bytes();
        Ok(vec![(name.to_owned(), text), (signature(name), own)])
    }
}

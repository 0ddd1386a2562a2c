//! What the manifest says beside its files: who may answer nodes, refresh what is published, or sign no more.

use provost_bundle::{Digest, Link, Manifest, Tls};

use crate::prepared::Prepared;

/// What a publication may name, and the next ones keep.
#[derive(Default)]
pub(crate) struct Named {
    pub(crate) refresh_key: Option<String>,
    pub(crate) tls: Option<Tls>,
    pub(crate) key_link: Option<Digest>,
    pub(crate) revoked: Vec<String>,
}

impl Named {
    pub(crate) fn is_as_in(&self, manifest: &Manifest) -> bool {
        self.refresh_key == manifest.refresh_key
            && self.tls == manifest.tls
            && self.key_link == manifest.key_link
            && self.revoked == manifest.revoked
    }
}

impl Prepared<'_> {
    /// How nodes will reach the management node by TLS, if at all.
    pub fn tls(&self) -> Option<&Tls> {
        self.publication.tls.unwrap_or_else(|| match self.publication.last_tls {
            Some((generation, tls)) if self.is_behind(generation) => tls,
            _ => self.previous.manifest()?.tls.as_ref(),
        })
    }

    /// Whether the published folder is lost, or older than `generation`.
    pub fn is_behind(&self, generation: u64) -> bool {
        self.previous.manifest().is_none() || self.previous.generation() < generation
    }

    /// The public key of who may say that it can be used for longer, or
    /// [`NO_REFRESH_KEY`](Manifest::NO_REFRESH_KEY).
    pub fn refresh_key(&self) -> Option<String> {
        self.named().refresh_key
    }

    /// The links by which the key has taken the place of others.
    pub fn links(&self) -> &[Link] {
        match self.succession.last_key() == Some(self.publication.key.public()) {
            true => self.succession.links(),
            false => &[],
        }
    }

    /// What is named now, or was before: then it stays.
    pub(crate) fn named(&self) -> Named {
        let (publication, last) = (self.publication, self.previous.manifest());
        let refresh_key = publication.refresh_key.or_else(|| last?.refresh_key.as_deref());
        let refresh_key = refresh_key.or(publication.daemons_key).map(str::to_owned);
        let tls = self.tls().cloned();
        let key_link = self.links().last().map(Link::digest);
        Named { refresh_key, tls, key_link, revoked: self.revoked().into_iter().collect() }
    }
}

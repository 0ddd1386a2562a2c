//! What is known of the publisher's keys: which has taken which one's place, and which were revoked. It is in
//! what is published, beside the key, and with provostd: any of them may be lost.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use provost_bundle::{Digest, Link, Manifest, PublicKey, object_path};
use serde::{Deserialize, Serialize};

use crate::error::PublishError;
use crate::key::{KeyError, SecretKey};
use crate::replace::replace;

/// Links and revoked keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Succession {
    /// From the first key to the one that signs now.
    links: Vec<Link>,
    revoked: BTreeSet<String>,
}

/// Its text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    #[serde(default)]
    revoked: BTreeSet<String>,
    #[serde(default)]
    links: Vec<String>,
}

impl Succession {
    /// Reads its text, and checks that each link follows the one before it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Text { revoked, links } =
            toml::from_str(text).map_err(|e: toml::de::Error| e.message().to_owned())?;
        let mut succession = Self { links: Vec::new(), revoked };
        for text in links {
            let link = Link::parse(&text).map_err(|flaw| flaw.what)?;
            if link.before != succession.last_link()
                || succession.links.last().is_some_and(|last| last.next != link.key)
            {
                return Err(format!("key {} doesn't follow the one before it", link.next.id()));
            }
            succession.links.push(link);
        }
        Ok(succession)
    }

    /// Its text.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        let links = self.links.iter().map(|link| link.text().to_owned()).collect();
        toml::to_string(&Text { revoked: self.revoked.clone(), links })
    }

    /// What is published in the folder `www`, as far as it can be read.
    pub fn published(www: &Path) -> Self {
        let manifest = fs::read(www.join(provost_api::published::MANIFEST)).unwrap_or_default();
        Manifest::parse(&manifest)
            .map_or_else(|_| Self::default(), |manifest| Self::of(www, &manifest))
    }

    /// The same, by its `manifest`.
    pub(crate) fn of(www: &Path, manifest: &Manifest) -> Self {
        let (mut links, mut before): (Vec<Link>, _) = (Vec::new(), manifest.key_link);
        while let Some(digest) = before {
            let text = fs::read_to_string(www.join(object_path(&digest))).unwrap_or_default();
            let next = links.first().map_or(&*manifest.key, |link| link.key.line());
            let is_it = |link: &Link| link.digest() == digest && link.next.line() == next;
            let Some(link) = Link::parse(&text).ok().filter(is_it) else {
                // Not all of it is there: what is known elsewhere counts.
                links.clear();
                break;
            };
            before = link.before;
            links.insert(0, link);
        }
        Self { links, revoked: manifest.revoked.iter().cloned().collect() }
    }

    /// What is known beside the key in the file `key`.
    pub fn beside(key: &Path) -> Result<Self, KeyError> {
        let path = file(key);
        let failed = |e| KeyError::Disk { doing: "reading", path: path.clone(), source: e };
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text).map_err(|e| failed(io::Error::other(e))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(e) => Err(failed(e)),
        }
    }

    /// Writes it beside the key in the file `key`, where it isn't yet.
    pub fn write_beside(&self, key: &Path) -> Result<(), KeyError> {
        if Self::beside(key).is_ok_and(|there| there == *self) {
            return Ok(());
        }
        let path = file(key);
        let write = || replace(&path, &self.to_toml().map_err(io::Error::other)?);
        write().map_err(|e| KeyError::Disk { doing: "writing", path: path.clone(), source: e })
    }

    /// What this and the `other` one know. Where they contradict each other, this counts.
    pub fn or_further(mut self, other: Self) -> Self {
        if other.links.starts_with(&self.links) {
            self.links = other.links;
        }
        self.revoked.extend(other.revoked);
        self
    }

    /// The same, with `revoke` revoked.
    pub(crate) fn without(mut self, revoke: Option<&PublicKey>) -> Self {
        self.revoked.extend(revoke.map(|key| key.line().to_owned()));
        self
    }

    /// The last link.
    pub fn last_link(&self) -> Option<Digest> {
        self.links.last().map(Link::digest)
    }

    /// The links, the oldest first.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The revoked keys, as lines.
    pub fn revoked(&self) -> &BTreeSet<String> {
        &self.revoked
    }

    /// The key that signs now, if another one did before.
    pub fn last_key(&self) -> Option<&PublicKey> {
        self.links.last().map(|link| &link.next)
    }

    /// Whether another key has taken the place of this one.
    pub fn has_replaced(&self, key: &PublicKey) -> bool {
        self.links.iter().any(|link| link.key == *key)
    }

    /// The same, and that `next` has taken the place of the key that signs now, which says so.
    pub fn with_next(mut self, key: &SecretKey, next: &PublicKey) -> Result<Self, KeyError> {
        // A chain of other keys isn't this one's.
        if self.last_key().is_some_and(|last| last != key.public()) {
            self.links.clear();
        }
        self.links.push(key.link_to(next, self.last_link())?);
        Ok(self)
    }

    /// Refuses a revoked or replaced key.
    pub fn check(&self, key: &PublicKey) -> Result<(), PublishError> {
        let next = self.last_key().filter(|_| self.has_replaced(key)).cloned();
        match next {
            _ if self.revoked.contains(key.line()) => {
                Err(PublishError::RevokedKey { key: key.id(), next: self.last_key().cloned() })
            }
            Some(next) => Err(PublishError::ReplacedKey { key: key.id(), next }),
            None => Ok(()),
        }
    }
}

/// The file beside a key.
fn file(key: &Path) -> PathBuf {
    key.with_extension("succession")
}

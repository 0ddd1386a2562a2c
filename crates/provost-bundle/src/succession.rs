//! Which key comes after which. A key that is replaced signs a link, which names the next one and the
//! link before it; links are published as objects. The manifest names the last one: so nobody in between
//! can leave links out, and it gets no longer, however often the key was replaced. A node that was given an
//! old key follows the links, whether or not it has a memory.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::document::{self, Flaw};
use crate::{Digest, PublicKey, Signature, object_path};

/// A key's own statement that another one has taken its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The key that was replaced, which signs this.
    pub key: PublicKey,
    /// The key that has taken its place.
    pub next: PublicKey,
    /// When.
    pub made: Timestamp,
    /// The link by which `key` has taken another one's place.
    pub before: Option<Digest>,
    text: String,
}

/// What is signed.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Statement {
    format: u32,
    key: String,
    next: String,
    made: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Digest>,
}

/// How a signature begins, which follows the statement.
const SIGNATURE: &str = "untrusted comment:";

impl Link {
    /// The longest, in bytes.
    pub const MAX_BYTES: u64 = 4096;
    /// The most that a node follows: one a week for nineteen years.
    pub const MOST: usize = 1000;
    /// The format that this version writes, and the only one it reads.
    const FORMAT: u32 = 1;

    /// What `key` has to sign, so that `next` takes its place from now on.
    pub fn statement(
        key: &PublicKey,
        next: &PublicKey,
        before: Option<Digest>,
    ) -> Result<String, toml::ser::Error> {
        let (key, next) = (key.line().to_owned(), next.line().to_owned());
        let now = Timestamp::now();
        let made = Timestamp::from_second(now.as_second()).unwrap_or(now);
        toml::to_string(&Statement { format: Self::FORMAT, key, next, made, before })
    }

    /// Reads a statement with its signature behind it, and checks that.
    pub fn parse(text: &str) -> Result<Self, Flaw> {
        let at = text.find(SIGNATURE).ok_or("it has no signature")?;
        let (signed, signature) = text.split_at(at);
        let Statement { key, next, made, before, .. } =
            document::read(signed.as_bytes(), Self::MAX_BYTES, Self::FORMAT)?;
        let key = PublicKey::from_line(&key).map_err(|e| e.to_string())?;
        let next = PublicKey::from_line(&next).map_err(|e| e.to_string())?;
        let signature = Signature::decode(signature).ok_or("its signature can't be read")?;
        match key.verifies(signed.as_bytes(), &signature) {
            true => Ok(Self { key, next, made, before, text: text.to_owned() }),
            false => Err(format!("it isn't signed by key {}", key.id()).into()),
        }
    }

    /// The statement with its signature.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// By which the next link, or the manifest, names it.
    pub fn digest(&self) -> Digest {
        Digest::of(self.text.as_bytes())
    }

    /// Where it is under the published folder.
    pub fn path(&self) -> String {
        object_path(&self.digest())
    }
}

/// What a node has accepted of its publisher's keys, and never forgets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedKeys {
    /// The last link of those that were all followed, from the first key on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_link: Option<Digest>,
    /// The keys that count no more.
    #[serde(default)]
    pub revoked: BTreeSet<String>,
    /// The key that has taken each one's place.
    #[serde(default)]
    pub next: BTreeMap<String, String>,
}

impl AcceptedKeys {
    /// The key that has taken the place of `key` in the end, as a line.
    pub(crate) fn last(&self, key: &str) -> Option<&str> {
        let next = |key: &&str| self.next.get(*key).map(String::as_str);
        std::iter::successors(self.next.get(key).map(String::as_str), next).take(Link::MOST).last()
    }
}

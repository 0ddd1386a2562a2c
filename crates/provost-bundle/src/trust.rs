use std::fmt;

use crate::{
    AcceptedKeys, Digest, DigestError, Link, Manifest, PublicKey, PublicKeyError, Signature,
};

/// The proof that a node requires that a bundle and a plan are its publisher's.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// Those that the configuration names.
    keys: Vec<PublicKey>,
    manifest_sha256: Option<Digest>,
    unsigned: bool,
    accepted: AcceptedKeys,
}

/// Why a file is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The key with this id has signed it.
    Key(String),
    /// The configuration has its digest.
    Digest(Digest),
    /// It isn't checked: the configuration has `unsigned = true`.
    Unsigned,
}

/// Why a file isn't trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// A configured key isn't one.
    #[error("[trust] keys: {0}")]
    Key(#[from] PublicKeyError),
    /// The configured digest isn't one.
    #[error("[trust] manifest_sha256: {0}")]
    Digest(#[from] DigestError),
    /// The configuration contradicts itself.
    #[error("[trust] has `unsigned = true` beside keys or manifest_sha256")]
    Contradiction,
    /// The configuration trusts nothing.
    #[error("checking {file}: [trust] has no key and no digest")]
    Nothing {
        /// The file.
        file: String,
    },
    /// There is no signature.
    #[error("checking {file}: it has no signature; the node trusts {trusted}")]
    Missing {
        /// The file.
        file: String,
        /// The keys.
        trusted: String,
    },
    /// The signature can't be read.
    #[error("checking {file}: {file}.minisig isn't a minisign signature")]
    Garbled {
        /// The file.
        file: String,
    },
    /// Another key has signed it.
    #[error("checking {file}: it is signed by key {signer}; the node trusts {trusted}")]
    Stranger {
        /// The file.
        file: String,
        /// The id of the key that signed.
        signer: String,
        /// The keys.
        trusted: String,
    },
    /// A key has signed it that counts no more.
    #[error("checking {file}: it is signed by key {signer}, which was revoked")]
    Revoked {
        /// The file.
        file: String,
        /// The id of the key that signed.
        signer: String,
    },
    /// A key has signed it that another one has replaced.
    #[error(
        "checking {file}: it is signed by key {signer}, which key {next} has replaced; the node trusts {trusted}"
    )]
    Replaced {
        /// The file.
        file: String,
        /// The id of the key that signed.
        signer: String,
        /// The id of the key that is trusted in its place.
        next: String,
        /// The keys.
        trusted: String,
    },
    /// The bytes aren't those that were signed.
    #[error("checking {file}: it is not what key {signer} signed")]
    Altered {
        /// The file.
        file: String,
        /// The id of the key that signed.
        signer: String,
    },
    /// The bytes aren't those of the configured digest.
    #[error("checking {file}: its SHA-256 is {got}; [trust] manifest_sha256 is {expected}")]
    OtherDigest {
        /// The file.
        file: String,
        /// What it is.
        got: Digest,
        /// What it should be.
        expected: Digest,
    },
}

impl TrustError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Key(e) => e.hint(),
            Self::Digest(e) => e.hint(),
            Self::Contradiction => {
                "remove `unsigned = true`, or the keys and manifest_sha256 beside it".to_owned()
            }
            Self::Nothing { .. } => {
                "set [trust] keys to the line that `provostctl key new` printed \
                 (`unsigned = true` would run, as root, whatever the network serves)"
                    .to_owned()
            }
            Self::Missing { file, .. } | Self::Garbled { file } => {
                format!("publish again, and check that {file}.minisig is served beside {file}")
            }
            Self::Stranger { .. } => {
                "publish with a trusted key (provostctl key show), or, if the new key is yours, add it \
                 to [trust] keys"
                    .to_owned()
            }
            Self::Revoked { signer, .. } => format!(
                "publish with a valid key (provostctl key show): provostctl key revoke has ended \
                 {signer}; if you did not sign this, look who serves it"
            ),
            Self::Replaced { next, .. } => format!(
                "publish with key {next}, as since provostctl key rotate; if you did not sign this, look \
                 who serves it"
            ),
            Self::Altered { file, .. } => format!(
                "publish again; if {file} is right on the server, look for a proxy that alters it"
            ),
            Self::OtherDigest { .. } => {
                "serve the bundle that is pinned, or set manifest_sha256 to the new one's digest"
                    .to_owned()
            }
        }
    }
}

impl Trust {
    /// Trust in manifests and plans signed by one of `keys` (lines `RW…`), or in the one manifest
    /// with the digest `manifest_sha256` and the plans of its publisher; both, if both are given;
    /// or in anything, if `unsigned`.
    pub fn new(
        keys: &[String],
        manifest_sha256: Option<&str>,
        unsigned: bool,
    ) -> Result<Self, TrustError> {
        let keys = keys.iter().map(|k| PublicKey::from_line(k)).collect::<Result<Vec<_>, _>>()?;
        let manifest_sha256 = manifest_sha256.map(|d| d.trim().parse()).transpose()?;
        if unsigned && (!keys.is_empty() || manifest_sha256.is_some()) {
            return Err(TrustError::Contradiction);
        }
        Ok(Self { keys, manifest_sha256, unsigned, accepted: AcceptedKeys::default() })
    }

    /// Whether nothing is checked. Every run has to warn of that.
    pub fn is_unsigned(&self) -> bool {
        self.unsigned
    }

    /// The same for a node that has `accepted` this before.
    pub fn after(self, accepted: AcceptedKeys) -> Self {
        Self { accepted, ..self }
    }

    /// What this node has accepted of its publisher's keys.
    pub fn accepted(&self) -> &AcceptedKeys {
        &self.accepted
    }

    /// The same, but for keys that are `revoked`: what a trusted manifest says.
    pub fn without(mut self, revoked: &[String]) -> Self {
        self.accepted.revoked.extend(revoked.iter().cloned());
        self
    }

    /// The keys that count: those of the configuration that were not revoked, each with the one that has
    /// taken its place in the end.
    pub fn keys(&self) -> Vec<PublicKey> {
        let AcceptedKeys { revoked, next, .. } = &self.accepted;
        let mut keys = self.keys.clone();
        let mut at = 0;
        while let Some(key) = keys.get(at) {
            let next = next.get(key.line()).and_then(|line| PublicKey::from_line(line).ok());
            keys.extend(next.filter(|next| !keys.contains(next)));
            at += 1;
        }
        keys.retain(|key| !next.contains_key(key.line()) && !revoked.contains(key.line()));
        keys
    }

    /// Whether a manifest by the key `signer` says something new of the keys before it: by the link
    /// `last`, down to which this node hasn't followed them after `found`, the newest first.
    pub fn needs_link(&self, signer: &str, last: &Digest, found: &[Link]) -> bool {
        let is_known =
            |key: &PublicKey| key.line() == signer || found.iter().any(|link| link.key == *key);
        self.accepted.last_link.as_ref() != Some(last) && !self.keys().iter().all(is_known)
    }

    /// The same, after links to the key `signer`, the newest first: a key that was replaced isn't trusted
    /// any more. `all` is the newest, if no link is left out that this node doesn't know. Links that don't
    /// begin with a trusted key, and don't lead to one, change nothing.
    pub fn following(mut self, signer: &str, links: &[Link], all: Option<Digest>) -> Self {
        let keys = self.keys();
        let is_revoked = |link: &Link| self.accepted.revoked.contains(link.next.line());
        let from_trusted = links.iter().position(|link| keys.contains(&link.key));
        let leads = from_trusted.is_some_and(|at| !links[..=at].iter().any(is_revoked));
        if leads || keys.iter().any(|key| key.line() == signer) {
            for Link { key, next, .. } in links {
                let next = next.line().to_owned();
                self.accepted.next.entry(key.line().to_owned()).or_insert(next);
            }
            self.accepted.last_link = all.or(self.accepted.last_link);
        }
        self
    }

    /// Checks `manifest.toml` against its signature, the text of `manifest.toml.minisig`.
    pub fn check_manifest(
        &self,
        bytes: &[u8],
        signature: Option<&str>,
    ) -> Result<Verdict, TrustError> {
        let file = "manifest.toml";
        if self.unsigned {
            return Ok(Verdict::Unsigned);
        }
        if let Some(expected) = self.manifest_sha256 {
            let got = Digest::of(bytes);
            if got != expected {
                return Err(TrustError::OtherDigest { file: file.to_owned(), got, expected });
            }
            if self.keys.is_empty() {
                return Ok(Verdict::Digest(got));
            }
        }
        self.check(file, bytes, signature, &self.keys())
    }

    /// Checks a plan against its signature. `manifest` is the one that
    /// [`check_manifest`](Self::check_manifest) accepted; `file` is the plan's name in errors.
    pub fn check_plan(
        &self,
        file: &str,
        bytes: &[u8],
        signature: Option<&str>,
        manifest: &Manifest,
    ) -> Result<Verdict, TrustError> {
        if self.unsigned {
            return Ok(Verdict::Unsigned);
        }
        if self.manifest_sha256.is_some() && self.keys.is_empty() {
            let publisher = PublicKey::from_line(&manifest.key)?;
            return self.check(file, bytes, signature, &[publisher]);
        }
        self.check(file, bytes, signature, &self.keys())
    }

    fn check(
        &self,
        file: &str,
        bytes: &[u8],
        signature: Option<&str>,
        keys: &[PublicKey],
    ) -> Result<Verdict, TrustError> {
        let file = file.to_owned();
        if keys.is_empty() && self.keys.is_empty() {
            return Err(TrustError::Nothing { file });
        }
        let trusted = || match keys {
            [] => "only keys that were revoked".to_owned(),
            _ => keys.iter().map(|k| format!("key {}", k.id())).collect::<Vec<_>>().join(" or "),
        };
        let Some(text) = signature else {
            return Err(TrustError::Missing { file, trusted: trusted() });
        };
        let Some(signature) = Signature::decode(text) else {
            return Err(TrustError::Garbled { file });
        };
        let signer = signature.key_id.clone();
        // Two keys may share an id, by chance or by malice: any of them that verifies is enough.
        let mut of_that_id = keys.iter().filter(|k| k.id() == signer).peekable();
        if of_that_id.peek().is_none() {
            return Err(self.refusal(file, signer, trusted()));
        }
        match of_that_id.any(|key| key.verifies(bytes, &signature)) {
            true => Ok(Verdict::Key(signer)),
            false => Err(TrustError::Altered { file, signer }),
        }
    }
}

impl Trust {
    /// Why what the key with the id `signer` has signed isn't trusted.
    fn refusal(&self, file: String, signer: String, trusted: String) -> TrustError {
        let id = |line: &str| PublicKey::from_line(line).map(|key| key.id()).unwrap_or_default();
        if self.accepted.revoked.iter().any(|line| id(line) == signer) {
            return TrustError::Revoked { file, signer };
        }
        let replaced = self.accepted.next.keys().find(|line| id(line) == signer);
        match replaced.and_then(|line| self.accepted.last(line)) {
            Some(next) => TrustError::Replaced { file, signer, next: id(next), trusted },
            None => TrustError::Stranger { file, signer, trusted },
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(id) => write!(f, "signed by key {id}"),
            Self::Digest(digest) => write!(f, "pinned by manifest_sha256 {digest}"),
            Self::Unsigned => f.write_str("not checked, because of [trust] unsigned = true"),
        }
    }
}

use std::fmt;

use crate::signature::Signature;
use crate::succession::follow;
use crate::{Digest, DigestError, Manifest, PublicKey, PublicKeyError};

/// The proof that a node requires that a bundle and a plan are its publisher's.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    keys: Vec<PublicKey>,
    manifest_sha256: Option<Digest>,
    unsigned: bool,
    /// Keys that count no more, as lines.
    revoked: Vec<String>,
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
                "publish with a trusted key that was not replaced, or, if the new key is yours, add it \
                 to [trust] keys"
                    .to_owned()
            }
            Self::Revoked { .. } => "publish with a key that counts; if you did not sign this, look who \
                                     serves it"
                .to_owned(),
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
        Ok(Self { keys, manifest_sha256, unsigned, revoked: Vec::new() })
    }

    /// Whether nothing is checked. Every run has to warn of that.
    pub fn is_unsigned(&self) -> bool {
        self.unsigned
    }

    /// The same for a node that has used what has this signature: a key that names the next one there
    /// has been replaced by it, and isn't trusted any more.
    pub fn after(mut self, signature: &str) -> Self {
        let (trusted, replaced) = follow(&self.keys, signature, &self.revoked);
        self.keys = trusted;
        self.keys.retain(|key| !replaced.contains(key));
        self
    }

    /// The same, but for keys that are `revoked`: what a trusted manifest says.
    pub fn without(mut self, revoked: &[String]) -> Self {
        self.keys.retain(|key| !revoked.iter().any(|line| line == key.line()));
        self.revoked.extend_from_slice(revoked);
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
        self.check(file, bytes, signature, &self.keys)
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
        self.check(file, bytes, signature, &self.keys)
    }

    fn check(
        &self,
        file: &str,
        bytes: &[u8],
        signature: Option<&str>,
        keys: &[PublicKey],
    ) -> Result<Verdict, TrustError> {
        let file = file.to_owned();
        if keys.is_empty() && self.revoked.is_empty() {
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
        let (keys, _) = match keys.iter().any(|key| key.id() == signer) {
            true => (keys.to_vec(), Vec::new()),
            false => follow(keys, text, &self.revoked),
        };
        // Two keys may share an id, by chance or by malice: any of them that verifies is enough.
        let mut of_that_id = keys.iter().filter(|k| k.id() == signer).peekable();
        if of_that_id.peek().is_none() {
            let id = |line: &String| PublicKey::from_line(line).map(|key| key.id());
            if self.revoked.iter().any(|line| id(line).is_ok_and(|id| id == signer)) {
                return Err(TrustError::Revoked { file, signer });
            }
            return Err(TrustError::Stranger { file, signer, trusted: trusted() });
        }
        match of_that_id.any(|key| key.verifies(bytes, &signature)) {
            true => Ok(Verdict::Key(signer)),
            false => Err(TrustError::Altered { file, signer }),
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

//! `refresh.toml`: that a bundle and its plans may be used for longer. It is signed by a key that the
//! manifest names, and that can say nothing else: the management node has it, not the publisher.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::signature::Signature;
use crate::{Digest, PublicKey, Validity, document};

/// The statement.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refresh {
    format: u32,
    /// The text of the manifest that it is about.
    manifest_sha256: Digest,
    made: Timestamp,
    expires: Timestamp,
}

impl Refresh {
    /// Its name among the published files.
    pub const PATH: &str = provost_api::published::REFRESH;
    /// The longest, in bytes.
    pub const MAX_BYTES: u64 = 4096;
    /// The format that this version writes, and the only one it reads.
    const FORMAT: u32 = 1;

    /// The bundle with this manifest may be used so long.
    pub fn new(manifest: &[u8], Validity { made, expires }: Validity) -> Self {
        Self { format: Self::FORMAT, manifest_sha256: Digest::of(manifest), made, expires }
    }

    /// Its text, to be signed.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// For how long the bundle with this `manifest` may be used, by a statement that `key` has
    /// signed; or why that isn't known.
    pub fn verify(
        text: &[u8],
        signature: &str,
        manifest: &[u8],
        key: &str,
    ) -> Result<Validity, String> {
        let key = PublicKey::from_line(key).map_err(|e| e.to_string())?;
        let signature = Signature::decode(signature);
        if !signature.is_some_and(|signature| key.verifies(text, &signature)) {
            return Err(format!("it isn't signed by key {}", key.id()));
        }
        let refresh: Self =
            document::read(text, Self::MAX_BYTES, Self::FORMAT).map_err(|flaw| flaw.what)?;
        match refresh.manifest_sha256 == Digest::of(manifest) {
            true => Ok(Validity { made: refresh.made, expires: refresh.expires }),
            false => Err("it is about another bundle".to_owned()),
        }
    }
}

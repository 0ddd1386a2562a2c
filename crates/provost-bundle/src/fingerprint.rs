use std::fmt;
use std::str::FromStr;

use ct_codecs::{Base64NoPadding, Decoder, Encoder};

use crate::Digest;

/// The SHA-256 of a node's public key (SubjectPublicKeyInfo, DER) as people compare it: `SHA256:…`, in
/// Base64 as OpenSSH writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

/// Why a text isn't one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` isn't a fingerprint: SHA256: and 43 characters")]
pub struct FingerprintError(String);

impl Fingerprint {
    const PREFIX: &str = "SHA256:";

    /// That of a public key (SubjectPublicKeyInfo, DER).
    pub fn of(public_key: &[u8]) -> Self {
        Self(*Digest::of(public_key).bytes())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Base64NoPadding::encode_to_string(self.0).map_err(|_| fmt::Error)?;
        write!(f, "{}{text}", Self::PREFIX)
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let mut bytes = [0; 32];
        let base64 = text.strip_prefix(Self::PREFIX).unwrap_or(text);
        match Base64NoPadding::decode(&mut bytes, base64, None) {
            Ok(read) if read.len() == 32 => Ok(Self(bytes)),
            _ => Err(FingerprintError(text.chars().take(100).collect())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_reads_back_and_nothing_else_is_one() {
        let fingerprint = Fingerprint::of(b"key");
        // printf key | openssl dgst -sha256 -binary | base64
        assert_eq!(fingerprint.to_string(), "SHA256:LHDhK3oGRvkiefQnx7OOczTY5Tic/xZ6HcMOc/gmtoM");
        assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
        for wrong in ["", "SHA256:", "SHA256:LHDhK3oGQ6Il", "cn001", &format!("{fingerprint}A")] {
            assert!(wrong.parse::<Fingerprint>().is_err(), "{wrong}");
        }
    }
}

use std::fmt;

use ct_codecs::{Base64, Decoder};

/// A minisign public key.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    line: String,
    key: minisign_verify::PublicKey,
}

/// A text that isn't a minisign public key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} isn't a minisign public key")]
pub struct PublicKeyError(String);

impl PublicKeyError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        "take the second line of the .pub file, 56 characters that begin with RW".to_owned()
    }
}

/// A detached minisign signature.
#[derive(Clone)]
pub struct Signature {
    /// The id of the key that signed.
    pub key_id: String,
    signature: minisign_verify::Signature,
}

impl PublicKey {
    /// Reads the key from its line of base64, `RW…`.
    pub fn from_line(line: &str) -> Result<Self, PublicKeyError> {
        let line = line.trim();
        let key = minisign_verify::PublicKey::from_base64(line)
            .map_err(|_| PublicKeyError(line.chars().take(80).collect()))?;
        Ok(Self { line: line.to_owned(), key })
    }

    /// The key's line of base64.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// The key's id as minisign shows it, in 16 hex digits.
    pub fn id(&self) -> String {
        key_id(&self.line).unwrap_or_default()
    }

    /// Whether `signature` is this key's over `bytes`. Only the prehashed form is accepted, which
    /// minisign has written since 0.10.
    pub fn verifies(&self, bytes: &[u8], signature: &Signature) -> bool {
        self.key.verify(bytes, &signature.signature, false).is_ok()
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

impl Signature {
    /// Reads a `.minisig` file's text.
    pub fn decode(text: &str) -> Option<Self> {
        let signature = minisign_verify::Signature::decode(text).ok()?;
        let key_id = key_id(text.lines().nth(1)?)?;
        Some(Self { key_id, signature })
    }
}

/// The key id in a key's or a signature's line of base64: eight bytes after the algorithm's two,
/// the least significant first.
fn key_id(line: &str) -> Option<String> {
    let bytes = Base64::decode_to_vec(line, None).ok()?;
    let id = u64::from_le_bytes(bytes.get(2..10)?.try_into().ok()?);
    Some(format!("{id:016X}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_shows_its_id_as_minisign_does() {
        // Both from the documentation of minisign.
        let key =
            PublicKey::from_line("RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\n")
                .unwrap();
        assert_eq!(key.id(), "E7620F1842B4E81F");
        for bad in ["", "RWQ", "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO", "ä"] {
            assert!(PublicKey::from_line(bad).is_err(), "{bad}");
        }
    }
}

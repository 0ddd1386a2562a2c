//! How nodes reach the management node by TLS. The manifest says it, so that a node which trusts a
//! publisher's key needs nothing else to know its server.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Digest;

/// The port at each server, and who may answer there. Written as `PORT:SHA256,SHA256`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Tls {
    /// The port, at the host of each server that a node is configured with.
    pub port: u16,
    /// The digests of the public keys (SubjectPublicKeyInfo, DER) of authorities whose certificates
    /// count, or of servers themselves. Several where one takes the place of another.
    pub keys: Vec<Digest>,
}

/// Why a text isn't one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` isn't PORT:SHA256, with more digests after commas")]
pub struct TlsLineError(String);

impl TlsLineError {
    /// What an admin can do about it.
    pub fn hint(&self) -> String {
        "take the line that this command prints on the management node: provostd ca show".to_owned()
    }
}

impl Tls {
    /// The name of every server in the certificates of provostd's own authority: a node doesn't
    /// check by which address it has reached it.
    pub const SERVER: &str = "provostd";
    /// The most public keys.
    const MOST: usize = 8;
}

impl fmt::Display for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<String> = self.keys.iter().map(Digest::to_string).collect();
        write!(f, "{}:{}", self.port, keys.join(","))
    }
}

impl FromStr for Tls {
    type Err = TlsLineError;

    fn from_str(text: &str) -> Result<Self, TlsLineError> {
        let read = || {
            let (port, keys) = text.split_once(':')?;
            let port = port.parse().ok().filter(|port| *port != 0)?;
            let keys: Vec<Digest> =
                keys.split(',').map(str::parse).collect::<Result<_, _>>().ok()?;
            (keys.len() <= Self::MOST).then_some(Self { port, keys })
        };
        read().ok_or_else(|| TlsLineError(text.chars().take(100).collect()))
    }
}

impl From<Tls> for String {
    fn from(tls: Tls) -> Self {
        tls.to_string()
    }
}

impl TryFrom<String> for Tls {
    type Error = TlsLineError;

    fn try_from(text: String) -> Result<Self, TlsLineError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_back_and_what_names_no_key_is_refused() {
        let digest = Digest::of(b"key");
        for keys in [1, 2, 8] {
            let tls = Tls { port: 8482, keys: vec![digest; keys] };
            assert_eq!(tls.to_string().parse(), Ok(tls));
        }
        let many = format!("8482:{}", vec![digest.to_string(); 9].join(","));
        for bad in ["", "8482", "8482:", ":", "0:", "8482:abc", "x", &many] {
            let error = bad.parse::<Tls>().unwrap_err();
            assert!(error.to_string().contains("PORT:SHA256"), "{error}");
        }
        assert!(format!("0:{digest}").parse::<Tls>().is_err());
        assert!(format!("8482:{digest},").parse::<Tls>().is_err());
    }
}

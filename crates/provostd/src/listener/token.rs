//! Tokens as requests have them: secrets of which the store has the digest.

use axum::http::{HeaderMap, StatusCode, header};
use sha2::{Digest, Sha256};

use super::refusal::Refusal;

/// 256 random bits, as text.
pub(crate) fn random() -> Result<String, Refusal> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|e| {
        Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("getting random bytes: {e}"),
            "check that the kernel's getrandom(2) is not blocked",
        )
    })?;
    Ok(hex::encode(random))
}

/// What the store has of a token.
pub(crate) fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// The token that a request has.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

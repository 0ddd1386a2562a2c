//! A signature that goes along with the text that it signs, in a header: a node needs both, and another
//! request at the same time would take another connection, of each of the nodes that boot.

use std::path::{Path, PathBuf};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use ct_codecs::{Base64, Decoder, Encoder};

/// The signature, in base64.
const SIGNATURE: HeaderName = HeaderName::from_static("provost-signature");
/// The longest one that goes along, in bytes: proxies refuse long headers. A node asks for a longer one by
/// its own path.
const MOST: usize = 2048;

/// Adds the signature of the text in the file `signed` to the headers of an answer that has all of it. Both
/// may be of two publications, which a node sees.
pub(super) async fn add(headers: &mut HeaderMap, signed: &Path) {
    let signature = tokio::fs::read(file_of(signed)).await;
    if let Some(signature) = signature.ok().filter(|signature| signature.len() <= MOST)
        && let Ok(base64) = Base64::encode_to_string(signature)
        && let Ok(value) = HeaderValue::from_str(&base64)
    {
        headers.insert(SIGNATURE, value);
    }
}

/// The signature that came along.
pub(crate) fn of(headers: &HeaderMap) -> Option<Vec<u8>> {
    let signature = Base64::decode_to_vec(headers.get(SIGNATURE)?, None).ok()?;
    (signature.len() <= MOST).then_some(signature)
}

/// The file that has the signature of the text in the file `signed`.
pub(crate) fn file_of(signed: &Path) -> PathBuf {
    let mut name = signed.as_os_str().to_owned();
    name.push(".minisig");
    name.into()
}

//! A signature that goes along with the text that it signs, in a header: a node needs both, and another
//! request at the same time would take another connection, of each of the nodes that boot.

use std::fs;
use std::path::{Path, PathBuf};

use axum::http::HeaderValue;
use ct_codecs::{Base64, Encoder};
use provost_api::limits;

/// Reads the signature of the text in the file `signed`, for the header of an answer that has all of it. None where
/// it isn't there, or too long. Both may be of two publications, which a node sees.
pub(crate) fn read(signed: &Path) -> Option<HeaderValue> {
    let signature = fs::read(file_of(signed))
        .ok()
        .filter(|signature| signature.len() <= limits::HEADER_SIGNATURE)?;
    HeaderValue::from_str(&Base64::encode_to_string(signature).ok()?).ok()
}

/// The file that has the signature of the text in the file `signed`.
fn file_of(signed: &Path) -> PathBuf {
    let mut name = signed.as_os_str().to_owned();
    name.push(".minisig");
    name.into()
}

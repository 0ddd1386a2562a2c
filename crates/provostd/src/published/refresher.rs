//! Says of the published bundle that it may be used for longer, by a key that can say nothing else:
//! where nothing changes for a month, nodes without a memory boot all the same.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::{SignedDuration, Timestamp};
use provost_bundle::{Digest, Manifest, Refresh, Validity};
use provost_publish::{KeyError, SecretKey};
use provost_steplog::wording::error_chain;

use super::PublishedFolder;
use crate::listener::refusal::Refusal;

/// For how long it is said each time: no longer than an admin may take to see that something is wrong.
const TIME: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The key's folder in DATA.
const FOLDER: &str = "refresh";

/// The key, and what was signed last.
pub(crate) struct Refresher {
    www: PublishedFolder,
    key: Option<SecretKey>,
    last: Mutex<Option<Signed>>,
}

/// What was said of one manifest.
#[derive(Clone)]
struct Signed {
    manifest: Digest,
    validity: Validity,
    text: String,
    signature: String,
}

impl Refresher {
    /// Of what is published in `www`. Loads the key from the daemon's folder `data`, or makes one. Without
    /// a key nothing is refreshed.
    pub(crate) fn new(data: &Path, www: PublishedFolder) -> Self {
        let folder = data.join(FOLDER);
        let key = SecretKey::load(&folder.join("provost.key"));
        let key = key.or_else(|e| match e {
            KeyError::Disk { ref source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                SecretKey::new_pair(&folder)
            }
            other => Err(other),
        });
        match &key {
            Ok(key) => tracing::info!(
                "the key that may refresh what is published, which provostctl publish names: {}",
                key.public_line()
            ),
            Err(e) => tracing::warn!("no key to refresh what is published: {}", error_chain(e)),
        }
        Self { www, key: key.ok(), last: Mutex::default() }
    }

    /// The public key's line.
    pub(crate) fn key(&self) -> Option<&str> {
        self.key.as_ref().map(SecretKey::public_line)
    }

    /// Until when it says at the time `at` that it counts.
    pub(crate) fn until(&self, at: Timestamp) -> Timestamp {
        at.saturating_add(TIME).unwrap_or(Timestamp::MAX)
    }

    /// The statement about what is published, or its signature.
    pub(crate) async fn serve(&self, is_signature: bool) -> Response {
        match self.signed().await {
            Ok(signed) => {
                let body = if is_signature { signed.signature } else { signed.text };
                ([(header::CACHE_CONTROL, "no-cache")], body).into_response()
            }
            Err(refusal) => refusal.into_response(),
        }
    }

    async fn signed(&self) -> Result<Signed, Refusal> {
        let refuse = |why: String| {
            let hint = "name this daemon's key when publishing: provostctl publish … --refresh-key";
            Refusal::new(StatusCode::NOT_FOUND, format!("refreshing the bundle: {why}"), hint)
        };
        let bytes = tokio::fs::read(self.www.join(provost_api::published::MANIFEST)).await;
        let bytes = bytes.map_err(|e| refuse(format!("reading manifest.toml: {e}")))?;
        let manifest = Digest::of(&bytes);
        let now = Timestamp::now();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last
            && last.manifest == manifest
            && !last.validity.is_old(now)
        {
            return Ok(last.clone());
        }
        let named = Manifest::parse(&bytes).map_err(|e| refuse(error_chain(&e)))?;
        let key = self.key.as_ref().filter(|key| named.refresh_key() == Some(key.public_line()));
        let key = key.ok_or_else(|| refuse("the publisher doesn't allow it".to_owned()))?;
        let validity = Validity::from_now(TIME);
        let text = Refresh::new(&bytes, validity).to_toml().map_err(|e| refuse(e.to_string()))?;
        let signature = key.sign(text.as_bytes(), "refresh");
        let signature = signature.map_err(|e| refuse(error_chain(&e)))?;
        Ok(last.insert(Signed { manifest, validity, text, signature }).clone())
    }
}

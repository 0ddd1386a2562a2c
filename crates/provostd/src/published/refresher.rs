//! Says of the published bundles, that of all nodes and those of channels, that they may be used for longer, by a key
//! that can say nothing else: where nothing changes for a month, nodes without a memory boot all the same.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::{SignedDuration, Timestamp};
use provost_api::published;
use provost_bundle::{Digest, Manifest, Refresh, Validity};
use provost_publish::{KeyError, SecretKey};
use provost_steplog::wording::error_chain;

use super::PublishedFolder;
use crate::listener::refusal::Refusal;

/// For how long it is said each time: no longer than an admin may take to see that something is wrong.
const TIME: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The key's folder in DATA.
const FOLDER: &str = "refresh";

/// Of how many bundles it is kept what was signed of them.
const MOST_KEPT: usize = 64;

/// The key, and what was signed last of each generation.
pub(crate) struct Refresher {
    www: PublishedFolder,
    key: Option<SecretKey>,
    last: Mutex<BTreeMap<u64, Signed>>,
}

/// What was said of one manifest.
#[derive(Clone)]
struct Signed {
    manifest: Digest,
    validity: Validity,
    text: String,
    signature: String,
}

/// The key in the daemon's folder `data`, which is made where there is none.
pub(crate) fn open_or_make(data: &Path) -> Result<SecretKey, KeyError> {
    let folder = data.join(FOLDER);
    let file = folder.join("provost.key");
    let is = |error: &KeyError, kind| matches!(error, KeyError::Disk { source, .. } if source.kind() == kind);
    match SecretKey::load(&file) {
        Err(e) if is(&e, ErrorKind::NotFound) => match SecretKey::new_pair(&folder) {
            // Another process has made it meanwhile, such as the `prepare` of an `init` that was killed.
            Err(e) if is(&e, ErrorKind::AlreadyExists) => SecretKey::load(&file),
            made => made,
        },
        loaded => loaded,
    }
}

impl Refresher {
    /// Of what is published in `www`. Loads the key from the daemon's folder `data`, or makes one. Without
    /// a key nothing is refreshed.
    pub(crate) fn new(data: &Path, www: PublishedFolder) -> Self {
        let key = open_or_make(data);
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

    /// The statement about what is published, for all nodes or as the `generation` of a channel; or its signature.
    pub(crate) async fn serve(&self, generation: Option<u64>, is_signature: bool) -> Response {
        match self.signed(generation).await {
            Ok(signed) => {
                let body = if is_signature { signed.signature } else { signed.text };
                ([(header::CACHE_CONTROL, "no-cache")], body).into_response()
            }
            Err(refusal) => refusal.into_response(),
        }
    }

    async fn signed(&self, generation: Option<u64>) -> Result<Signed, Refusal> {
        let bytes = self.manifest(published::MANIFEST).await?;
        let named = parse(&bytes)?;
        // One of before isn't what anybody should get.
        let (bytes, named) = match generation.filter(|generation| *generation > named.generation) {
            None => (bytes, named),
            Some(of_channel) => {
                let bytes = self.manifest(&published::manifest_of(of_channel)).await?;
                let named = parse(&bytes)?;
                (bytes, named)
            }
        };
        let (manifest, now) = (Digest::of(&bytes), Timestamp::now());
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.get(&named.generation)
            && last.manifest == manifest
            && !last.validity.is_old(now)
        {
            return Ok(last.clone());
        }
        let key = self.key.as_ref().filter(|key| named.refresh_key() == Some(key.public_line()));
        let key = key.ok_or_else(|| refuse("the publisher doesn't allow it"))?;
        let validity = Validity::from_now(TIME);
        let text = Refresh::new(&bytes, validity).to_toml().map_err(|e| refuse(&e.to_string()))?;
        let signature = key.sign(text.as_bytes(), "refresh");
        let signature = signature.map_err(|e| refuse(&error_chain(&e)))?;
        let signed = Signed { manifest, validity, text, signature };
        if last.len() >= MOST_KEPT {
            last.clear();
        }
        last.insert(named.generation, signed.clone());
        Ok(signed)
    }

    async fn manifest(&self, path: &str) -> Result<Vec<u8>, Refusal> {
        let bytes = tokio::fs::read(self.www.join(path)).await;
        bytes.map_err(|e| refuse(&format!("reading {path}: {e}")))
    }
}

fn parse(manifest: &[u8]) -> Result<Manifest, Refusal> {
    Manifest::parse(manifest).map_err(|e| refuse(&error_chain(&e)))
}

fn refuse(why: &str) -> Refusal {
    let hint = "name this daemon's key when publishing: provostctl publish … --refresh-key";
    Refusal::new(StatusCode::NOT_FOUND, format!("refreshing the bundle: {why}"), hint)
}

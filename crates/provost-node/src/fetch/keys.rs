//! The publisher's keys: the links from a key that this node trusts to the one that signs, and what this
//! node never forgets of them.

use std::io;
use std::path::{Path, PathBuf};

use provost_bundle::{AcceptedKeys, Digest, Link, Trust, object_path};
use provost_fs::atomic;
use provost_record::Cause;
use reqwest::header::HeaderMap;

use super::answer::{Answer, value};
use super::bundles::Bundles;
use super::error::FetchError;
use super::server::Server;
use crate::failure::Failure;
use crate::settings::Settings;

/// The trust of the node whose state is in the folder `state`: what the settings say, but for keys that
/// were replaced or revoked. A file that can't be read is an error: without it, such a key would be trusted.
pub fn trust(settings: &Settings, state: &Path) -> Result<Trust, Failure> {
    let file = file(state);
    let unreadable = |e: &dyn std::fmt::Display| {
        let message = format!("reading the publisher's keys in {}: {e}", file.display());
        let hint = "if it is damaged, remove it; then this node trusts only what [trust] says";
        Failure::local(message, hint)
    };
    let accepted = match atomic::read(&file) {
        // This node writes none; a power cut can leave one on a file system without barriers.
        Ok(text) if text.is_empty() => return Err(unreadable(&"it is empty")),
        Ok(text) => {
            toml::from_slice(&text).map_err(|e: toml::de::Error| unreadable(&e.message()))?
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => AcceptedKeys::default(),
        Err(e) => return Err(unreadable(&e)),
    };
    Ok(settings.trust.clone().after(accepted))
}

fn file(state: &Path) -> PathBuf {
    state.join("keys.toml")
}

impl Bundles {
    /// Remembers durably which keys this node has accepted, in place of those `before`.
    pub(crate) fn remember_keys(&self, before: &Trust, now: &Trust) -> Result<(), Failure> {
        if before.accepted() == now.accepted() {
            return Ok(());
        }
        let write = || {
            let text = toml::to_string(now.accepted()).map_err(io::Error::other)?;
            atomic::write(&file(&self.state), text.as_bytes())
        };
        write().map_err(|e| self.disk("remembering the publisher's keys", e))
    }
}

/// The trust in what the key of this `manifest` signs, which isn't verified yet. The links to that key are
/// fetched, if `trust` doesn't know them.
pub async fn follow(
    server: &Server<'_>,
    trust: &Trust,
    manifest: &str,
) -> Result<Trust, FetchError> {
    let last = value(manifest, "key_link = ").and_then(|digest| digest.parse().ok());
    let (Some(signer), Some(last)) = (value(manifest, "key = "), last) else {
        return Ok(trust.clone());
    };
    let (mut links, mut next, mut before): (Vec<Link>, _, _) =
        (Vec::new(), signer.to_owned(), Some(last));
    while let Some(digest) = before.filter(|link| trust.needs_link(signer, link, &links)) {
        let link = link(server, &digest, &next).await?;
        if links.len() == Link::MOST {
            let what = format!("more than {} keys came before {signer}", Link::MOST);
            return Err(wrong(server, &digest, &what));
        }
        (next, before) = (link.key.line().to_owned(), link.before);
        links.push(link);
    }
    let is_all = before.is_none_or(|link| trust.accepted().last_link == Some(link));
    Ok(trust.clone().following(signer, &links, is_all.then_some(last)))
}

/// The link with this digest, to the key `next`.
async fn link(server: &Server<'_>, digest: &Digest, next: &str) -> Result<Link, FetchError> {
    let path = object_path(digest);
    let answer = Answer::get(server, &path, Link::MAX_BYTES, HeaderMap::new()).await;
    let text = answer
        .map_err(|e| e.reworded(|why| format!("following the publisher's keys: {why}")))?
        .text;
    if Digest::of(text.as_bytes()) != *digest {
        return Err(wrong(server, digest, "it has another digest"));
    }
    let link = Link::parse(&text).map_err(|flaw| wrong(server, digest, &flaw.what))?;
    match link.next.line() == next {
        true => Ok(link),
        false => Err(wrong(server, digest, &format!("it names key {}", link.next.id()))),
    }
}

fn wrong(server: &Server<'_>, digest: &Digest, what: &str) -> FetchError {
    let url = server.url(&object_path(digest));
    let message = format!("following the publisher's keys by {url}: {what}");
    let hint =
        "publish again; if that file is right on the server, look for a proxy that alters it";
    FetchError::inconsistent(Failure::new(Cause::Verify, message, hint))
}

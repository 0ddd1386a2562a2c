//! The other servers: what they offer, for a node that remembers no generation, because it would run any that was
//! ever signed; and which of them have asked to be left alone.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::join_all;
use provost_bundle::{Manifest, Trust};
use reqwest::Url;
use tokio::time::{Instant, timeout};

use super::document::Document;
use super::server::Server;
use crate::settings::Settings;

/// How long the other servers have to say what they offer.
const OFFER: Duration = Duration::from_secs(1);

/// The newest generation that a server besides `source` offers and a trusted key has signed, of those
/// that answer soon and aren't `busy`.
pub(super) async fn newest(
    settings: &Settings,
    trust: &Trust,
    source: &Server<'_>,
    busy: &Busy,
) -> u64 {
    let others = settings.servers.iter().filter(|base| *base != source.base && !busy.is_busy(base));
    let offers = others.map(|base| {
        let server = Server::published(settings, source.client, base, source.run);
        async move { timeout(OFFER, offered(trust, &server)).await.ok().flatten() }
    });
    join_all(offers).await.into_iter().flatten().max().unwrap_or_default()
}

async fn offered(trust: &Trust, server: &Server<'_>) -> Option<u64> {
    let limits = (Manifest::MAX_BYTES, !trust.is_unsigned());
    let (manifest, _) =
        Document::fetch(server, provost_api::published::MANIFEST, limits, None).await.ok()?;
    manifest.is_trusted(trust).ok()?;
    Some(manifest.generation())
}

/// Servers, and until when each of them is busy.
#[derive(Default)]
pub(super) struct Busy(RefCell<HashMap<Url, Instant>>);

impl Busy {
    /// The server at `base` asked to be left alone for the time `wait`.
    pub(super) fn note(&self, base: &Url, wait: Duration) {
        let until = Instant::now().checked_add(wait);
        self.0.borrow_mut().extend(until.map(|until| (base.clone(), until)));
    }

    /// Whether a server has asked for that.
    pub(super) fn is_any(&self) -> bool {
        !self.0.borrow().is_empty()
    }

    /// Whether the server at `base` wants to be left alone now.
    pub(super) fn is_busy(&self, base: &Url) -> bool {
        self.0.borrow().get(base).is_some_and(|until| Instant::now() < *until)
    }
}

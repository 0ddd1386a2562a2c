//! What the other servers offer, for a node that remembers no generation: it would run any that was
//! ever signed.

use std::time::Duration;

use futures_util::future::join_all;
use provost_bundle::Manifest;
use tokio::time::timeout;

use super::busy::Busy;
use super::document::Document;
use super::server::Server;
use crate::settings::Settings;

/// How long the other servers have to say what they offer.
const OFFER: Duration = Duration::from_secs(1);

/// The newest generation that a server besides `source` offers and a trusted key has signed, of those
/// that answer soon and aren't `busy`.
pub(super) async fn newest(settings: &Settings, source: &Server<'_>, busy: &Busy) -> u64 {
    let others = settings.servers.iter().filter(|base| *base != source.base && !busy.is_busy(base));
    let offers = others.map(|base| {
        let server = Server::published(settings, source.client, base, source.run);
        async move { timeout(OFFER, offered(settings, &server)).await.ok().flatten() }
    });
    join_all(offers).await.into_iter().flatten().max().unwrap_or_default()
}

async fn offered(settings: &Settings, server: &Server<'_>) -> Option<u64> {
    let limits = (Manifest::MAX_BYTES, !settings.trust.is_unsigned());
    let (manifest, _) =
        Document::fetch(server, provost_api::published::MANIFEST, limits, None).await.ok()?;
    manifest.is_trusted(&settings.trust).ok()?;
    Some(manifest.generation())
}

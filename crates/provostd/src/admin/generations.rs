//! What nodes have seen of what is published, for who publishes next.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use provost_api::admins::Generations;
use provost_publish::Succession;
use provost_store::Store;
use tokio::task::spawn_blocking;

use super::health::DataFolder;
use crate::fleet::expiry::Expiry;
use crate::listener::refusal::Refusal;
use crate::listener::tls::NodesTls;
use crate::published::PublishedFolder;

/// No site has published so often: a greater number is a node's mistake, or malice.
const MAX_GENERATION: u64 = 1 << 40;

/// What nodes have reported, and what is known of the publisher's keys.
pub(crate) async fn generations(
    State(store): State<Arc<dyn Store>>,
    State(www): State<PublishedFolder>,
    State(DataFolder(data)): State<DataFolder>,
    State(expiry): State<Arc<Expiry>>,
    State(NodesTls(tls)): State<NodesTls>,
) -> Result<Json<Generations>, Refusal> {
    let plausible = |generation: &u64| (1..=MAX_GENERATION).contains(generation);
    let seen = store.seen().await?;
    let bundle = seen.iter().map(|(_, seen)| seen.bundle).filter(plausible).max();
    let bundles = seen.iter().map(|(_, seen)| seen.bundle).filter(plausible).collect();
    let plans = seen.iter().map(|(node, seen)| (node.clone(), seen.plan));
    let plans = plans.filter(|(_, plan)| plausible(plan)).collect();
    let keys = seen.into_iter().map(|(node, mut seen)| {
        seen.keys.retain(|key| is_key_id(key));
        (node, seen.keys)
    });
    let folder = www.clone();
    Ok(Json(Generations {
        www: www.to_path_buf(),
        bundle: bundle.unwrap_or_default(),
        plans,
        bundles,
        refresh_key: expiry.refresh_key().map(str::to_owned),
        tls: tls.map(|tls| tls.to_string()),
        keys: keys.filter(|(_, keys)| !keys.is_empty()).collect(),
        succession: spawn_blocking(move || succession(&folder, &data)).await?,
    }))
}

/// Whether it is an id as minisign shows it. What else a node names as a key that it trusts is its mistake,
/// or malice, and would keep the admin from publishing.
fn is_key_id(text: &str) -> bool {
    let is_digit = |c: u8| c.is_ascii_digit() || (b'A'..=b'F').contains(&c);
    text.len() == 16 && text.bytes().all(is_digit)
}

/// What is known of the publisher's keys, by what is published, or was when this was asked before.
fn succession(www: &Path, data: &Path) -> Option<String> {
    let file = data.join("keys.toml");
    let before = fs::read_to_string(&file).unwrap_or_default();
    let known = Succession::parse(&before).unwrap_or_default();
    let known = Succession::published(www).or_further(known);
    let text = known.to_toml().ok().filter(|_| known != Succession::default())?;
    if text != before
        && let Err(e) = provost_fs::atomic::write(&file, text.as_bytes())
    {
        tracing::warn!("writing {}: {e}", file.display());
    }
    Some(text)
}

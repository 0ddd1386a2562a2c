//! How this node comes by an identity: it asks its management node, by a key of its own. It is given
//! one at once by a join token or while it is provisioned; else an admin has to approve it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use provost_api::headers;
use provost_api::nodes::ENROL;
use provost_bundle::Fingerprint;
use provost_record::Cause;
use reqwest::StatusCode;

use super::error::FetchError;
use super::server::{Server, broken, refused};
use crate::failure::Failure;
use crate::settings::Settings;
use provost_http::{MOST_CERTIFICATE, body};

/// For how long a request waits at the management node for an admin, in seconds.
const WAIT: u64 = 10;

/// Whether this process has said that it waits.
static SAID: AtomicBool = AtomicBool::new(false);

/// Whether a server has decided about the join token of this process.
static PRESENTED: AtomicBool = AtomicBool::new(false);

/// Whether this node lacks what it has to prove itself by.
pub(super) fn is_needed(source: &Server<'_>, settings: &Settings) -> bool {
    let client = source.client;
    let has_token = settings.token.is_some() && settings.join.is_none();
    client.transport().tls().is_some() && !client.identity().is_known() && !has_token
}

/// Asks for an identity.
pub(super) async fn enrol(source: &Server<'_>, settings: &Settings) -> Result<(), FetchError> {
    ask(source, settings, false).await
}

/// Presents the join token of a node that has an identity. It is spent by that: another user who reads it on this
/// node, such as in `/proc/cmdline`, can't use it.
pub(super) async fn spend_join(source: &Server<'_>, settings: &Settings) {
    let has_join = settings.join.is_some() && source.client.transport().tls().is_some();
    if !has_join || PRESENTED.load(Ordering::Relaxed) {
        return;
    }
    if let Err(e) = ask(source, settings, false).await {
        // The identity counts on, and the token may have been spent before.
        tracing::debug!("presenting the join token: {}", e.failure);
        if e.may_retry() {
            return;
        }
    }
    PRESENTED.store(true, Ordering::Relaxed);
}

/// The management node says that half of the identity's time is over. Until the other half is, another
/// run may succeed.
pub(super) async fn renew(source: &Server<'_>, settings: &Settings) {
    if let Err(e) = ask(source, settings, true).await {
        tracing::warn!("renewing this node's identity: {}", e.failure);
    }
}

async fn ask(source: &Server<'_>, settings: &Settings, renews: bool) -> Result<(), FetchError> {
    let identity = source.client.identity();
    let local =
        |e| FetchError::abort(Failure::of_state("making this node's key", Path::new("STATE"), e));
    let (request, key) = identity.request().map_err(local)?;
    let base = source.client.transport().private(source.base);
    let url = format!("{base}{}", ENROL.path(&[&settings.node]));
    // Its connection proves the key, by which alone an identity is renewed; what is private goes the same way.
    let mut ask = source.client.private().post(&url).body(request);
    if let Some(join) = settings.join.as_ref().filter(|_| !renews) {
        ask = ask.bearer_auth(&join.0);
    }
    // The first request is answered at once: the console has to say what the node waits for.
    if SAID.load(Ordering::Relaxed) && settings.fetch.stall.duration() > Duration::from_secs(WAIT) {
        ask = ask.header("prefer", format!("wait={WAIT}"));
    }
    let response = ask.send().await.map_err(|e| broken(&url, &e))?;
    match response.status() {
        StatusCode::OK => {
            let certificate = body(response, MOST_CERTIFICATE).await;
            let certificate = certificate.map_err(|e| broken(&url, &e))?;
            if !identity.take(&certificate).map_err(local)? {
                let message =
                    format!("enrolling at {url}: the answer is no certificate of this node's key");
                let hint =
                    "check which program listens at that address: it doesn't seem to be provostd";
                return Err(FetchError::give_up(Failure::new(Cause::Fetch, message, hint)));
            }
            let what = if renews { "renewed" } else { "given" };
            tracing::info!("enrolment: {what} the identity {key}");
            Ok(())
        }
        StatusCode::ACCEPTED => {
            let by_window = response.headers().contains_key(headers::IDENTITY);
            Err(waits(&url, &settings.node, key, by_window))
        }
        _ => {
            let hint = format!("on the management node: provostctl join {}", settings.node);
            Err(refused(&url, hint, response).await)
        }
    }
}

/// An admin has to approve the key, or may open a window, if that helps this node.
fn waits(url: &str, node: &str, key: Fingerprint, by_window: bool) -> FetchError {
    if !SAID.swap(true, Ordering::Relaxed) {
        let (or, name) = if by_window { (", or provostctl enroll open ", node) } else { ("", "") };
        tracing::warn!("enrolment: waiting for provostctl approve {node} {key}{or}{name}");
    }
    let message = format!("enrolling at {url}: no admin has approved this node's key {key}");
    let hint = format!(
        "provostctl approve {node} {key}, or give it a join token by provost.join= on the kernel command \
         line: provostctl join {node}"
    );
    FetchError::busy(Failure::new(Cause::Fetch, message, hint), None)
}

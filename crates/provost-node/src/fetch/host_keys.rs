//! Certificates of this node's ssh host keys: its management node signs what this node has made.

use provost_api::limits;
use provost_api::nodes::SSH_HOST_CERTIFICATES;
use provost_record::Cause;
use reqwest::{StatusCode, Url};

use super::error::FetchError;
use super::retry::{self, StillTrying};
use super::server::{broken, refused};
use super::source::Connection;
use crate::failure::Failure;
use crate::observe::console::complain;
use provost_http::body;

/// The certificates of the public `keys`, one a line, as in files `.pub`; of a certificate, its own or a newer one.
pub async fn certify(connection: &Connection, keys: &[u8]) -> Result<Vec<u8>, Failure> {
    let Connection { settings, client, .. } = connection;
    if client.transport().tls().is_none() {
        let message = "certifying host keys: the management node is known without TLS alone";
        let hint = "publish with TLS: provostctl publish … --tls \"$(provostd ca show --tls)\"";
        return Err(Failure::config(message, hint));
    }
    if !client.identity().is_known() {
        let message = "certifying host keys: this node has no identity, and a token isn't enough";
        let hint = format!("let it join: provostctl join {}", settings.node);
        return Err(Failure::config(message, hint));
    }
    let still_trying = |trying: StillTrying| complain(&trying.why.text());
    let attempt = |server, _| ask(connection, server, keys);
    let servers = &settings.servers;
    match retry::try_servers(servers, settings.fetch.deadline, still_trying, attempt).await {
        Ok(served) => Ok(served.what),
        Err(unserved) => Err(unserved.why.failure),
    }
}

async fn ask(connection: &Connection, server: &Url, keys: &[u8]) -> Result<Vec<u8>, FetchError> {
    let Connection { settings, client, .. } = connection;
    let base = client.transport().private(server);
    let url = format!("{base}{}", SSH_HOST_CERTIFICATES.path(&[&settings.node]));
    let request = client.private().post(&url).body(keys.to_owned());
    let response = request.send().await.map_err(|e| broken(&url, &e))?;
    if response.status() != StatusCode::OK {
        let hint = "check that provostd listens there, and is as new as this node's program";
        return Err(refused(&url, hint.to_owned(), response).await);
    }
    let certificates =
        body(response, limits::SSH_HOST_CERTIFICATES).await.map_err(|e| broken(&url, &e))?;
    let lines = |text: &[u8]| text.split(|b| *b == b'\n').filter(|line| !line.is_empty()).count();
    if lines(&certificates) == lines(keys) {
        return Ok(certificates);
    }
    let message = format!("fetching {url}: the answer doesn't have one certificate for each key");
    let hint = "check which program listens at that address: it doesn't seem to be provostd";
    Err(FetchError::give_up(Failure::new(Cause::Fetch, message, hint)))
}

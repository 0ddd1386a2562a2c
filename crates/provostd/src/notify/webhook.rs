//! A receiver over HTTP.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use provost_http::{reason, retry_after};
use reqwest::{Certificate, Client, StatusCode, header};
use sha2::Sha256;
use tokio_rustls::rustls::crypto::ring;

use super::failed::Failed;
use super::group::Group;
use super::message::Beside;
use super::templates::body;
use crate::config::WebhookConfig;
use crate::error::DaemonError;

/// How long a receiver may take to accept a connection, and for the whole request.
const CONNECT: Duration = Duration::from_secs(10);
const WHOLE: Duration = Duration::from_secs(30);
/// The most bytes of a file of certificates.
const MOST_PEM: u64 = 2 << 20;
/// By what the receiver knows that a message is provostd's: `t=SECONDS,v1=HEX`, the HMAC-SHA256 of
/// `SECONDS.BODY` by the secret.
const SIGNATURE: &str = provost_api::headers::WEBHOOK_SIGNATURE;

/// A receiver, and the client for it.
pub(super) struct Webhook {
    config: WebhookConfig,
    /// The URL of the web page.
    page: Option<String>,
    client: Client,
}

impl Webhook {
    pub(super) fn new(config: &WebhookConfig, page: Option<&str>) -> Result<Self, DaemonError> {
        // A second one is fine: it is the same.
        let _ = ring::default_provider().install_default();
        let failed = |why: String| DaemonError::Webhook { name: config.name.clone(), why };
        let builder = Client::builder()
            .user_agent(format!("provostd/{}", provost_api::VERSION))
            .connect_timeout(CONNECT)
            .timeout(WHOLE)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy();
        let builder = match &config.ca {
            Some(path) => {
                let why = |e: &dyn std::error::Error| format!("{}: {e}", path.display());
                let pem = provost_fs::read_given(path, MOST_PEM).map_err(|e| failed(why(&e)))?;
                let bundle = Certificate::from_pem_bundle(&pem).map_err(|e| failed(why(&e)))?;
                if bundle.is_empty() {
                    return Err(failed(format!("{} has no certificate", path.display())));
                }
                builder.tls_certs_only(bundle)
            }
            None => builder,
        };
        let client = builder.build().map_err(|e| failed(reason(&e)))?;
        Ok(Self { config: config.clone(), page: page.map(str::to_owned), client })
    }

    /// Sends one message; `why` is what the nodes of a failure share.
    pub(super) async fn deliver(&self, group: &Group, why: Option<&str>) -> Result<(), Failed> {
        let beside = Beside { page: self.page.as_deref(), why };
        let body = serde_json::to_vec(&body(group, self.config.template, beside));
        let body = body.map_err(|e| Failed::of_message(e.to_string()))?;
        let mut request = self.client.post(&self.config.url.0);
        request = request.header(header::CONTENT_TYPE, "application/json");
        if let Some(secret) = &self.config.secret {
            let at = Timestamp::now().as_second();
            request = request.header(SIGNATURE, sign(secret.0.as_bytes(), at, &body));
        }
        // Without the address, which may have a secret.
        let sent = request.body(body).send().await;
        let response = sent.map_err(|e| Failed::of_receiver(reason(&e.without_url())))?;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        let wait = retry_after(response.headers());
        let why = format!("it responded {status}");
        Err(match status {
            StatusCode::BAD_REQUEST
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::UNPROCESSABLE_ENTITY => Failed::of_message(why),
            _ => Failed { wait, ..Failed::of_receiver(why) },
        })
    }
}

/// The value of the header for a body that is sent at this time, in seconds of Unix time.
fn sign(secret: &[u8], at: i64, body: &[u8]) -> String {
    // A key of any length is one.
    let Ok(mut hmac) = Hmac::<Sha256>::new_from_slice(secret) else { return String::new() };
    hmac.update(format!("{at}.").as_bytes());
    hmac.update(body);
    format!("t={at},v1={}", hex::encode(hmac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_openssl() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret
        let expected = "t=1700000000,v1=\
                        49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686";
        assert_eq!(sign(b"secret", 1_700_000_000, b"{\"a\":1}"), expected);
    }
}

//! What `provostctl publish` has written, served to nodes and caches.

pub(crate) mod changes;
pub(crate) mod expiry;
pub(crate) mod file;
pub(crate) mod node_plans;
pub(crate) mod path;
pub(crate) mod refresher;
pub(crate) mod signature;
pub(crate) mod site_groups;
pub(crate) mod site_nodes;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use provost_api::{headers, published};
use provost_bundle::Manifest;
use tokio::task::spawn_blocking;

use crate::listener::refusal::Refusal;
pub(crate) use file::serve_immutable;
pub(crate) use path::PublishedFile;
pub(crate) use site_nodes::SiteNodes;

/// The generation of a manifest stands within so many bytes.
const HEAD: u64 = 256;

/// The folder that `provostctl publish` writes to.
#[derive(Clone)]
pub(crate) struct PublishedFolder(Arc<Path>);

impl PublishedFolder {
    pub(crate) fn new(www: &Path) -> Self {
        Self(www.into())
    }
}

impl Deref for PublishedFolder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

/// Whether what is published names a listener over TLS to nodes; `None` where nothing is published. It reads a
/// file.
pub(crate) fn names_tls(www: &Path) -> Option<bool> {
    let text = fs::read(www.join(published::MANIFEST)).ok()?;
    Manifest::parse(&text).ok().map(|manifest| manifest.tls.is_some())
}

/// Adds the generation of the bundle for all nodes to the answer with a plan, which no cache keeps:
/// plans stay as they are where only scripts change.
pub(crate) async fn add_newest(to: &mut HeaderMap, www: &Path) {
    let path = www.join(published::MANIFEST);
    let read = move || -> io::Result<String> {
        let mut head = String::new();
        File::open(path)?.take(HEAD).read_to_string(&mut head)?;
        Ok(head)
    };
    if let Ok(Ok(head)) = spawn_blocking(read).await
        && let Some(number) = head.lines().find_map(|line| line.strip_prefix("generation = "))
        && let Ok(number) = HeaderValue::from_str(number)
    {
        to.insert(headers::BUNDLE, number);
    }
}

/// Refuses a request for secrets that others could read. Nothing is logged: anybody may cause it.
pub(crate) fn refuse_secrets() -> Response {
    let error = "secrets are served over TLS only";
    let hint = "publish with TLS: provostctl publish … --tls \"$(provostd ca show --tls)\"";
    Refusal::new(StatusCode::FORBIDDEN, error, hint).quietly()
}

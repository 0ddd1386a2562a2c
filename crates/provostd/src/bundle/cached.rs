//! The published files that a relay caches.

use std::path::Path;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};

use super::file::serve_immutable;
use super::published::{Published, is_digest};

/// A published file that a relay caches.
pub(crate) enum Cached {
    Published(Published),
    /// The node's program, by its digest.
    Program(String),
}

impl Cached {
    /// What is at `path`, without a slash at its start.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').collect();
        let published = match parts[..] {
            ["manifest.toml"] => Published::Manifest("manifest.toml"),
            ["manifest.toml.minisig"] => Published::Manifest("manifest.toml.minisig"),
            ["refresh.toml"] => Published::Manifest("refresh.toml"),
            ["refresh.toml.minisig"] => Published::Manifest("refresh.toml.minisig"),
            ["manifests", name] => Published::manifest(name)?,
            ["objects", folder, name] => Published::object(folder, name)?,
            ["packs", name] => Published::pack(name)?,
            ["bin", sha256, "provost"] if is_digest(sha256) => {
                return Some(Self::Program(sha256.to_owned()));
            }
            _ => return None,
        };
        Some(Self::Published(published))
    }

    /// The digest of the content, if it is what the file is named after.
    pub(crate) fn digest(&self) -> Option<String> {
        match self {
            Self::Published(published) => published.digest().map(str::to_owned),
            Self::Program(sha256) => Some(sha256.clone()),
        }
    }

    /// Serves it from the folder `cache`, which has it.
    pub(crate) async fn serve(&self, cache: &Path, request: Request<Body>) -> Response {
        match self {
            Self::Published(published) => published.serve(cache, request).await,
            Self::Program(sha256) => {
                let path = cache.join(format!("bin/{sha256}/provost"));
                let served = serve_immutable(&path, sha256, request).await;
                served.unwrap_or_else(|_| StatusCode::NOT_FOUND.into_response())
            }
        }
    }
}

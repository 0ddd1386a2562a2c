//! The files that pages name. The address of each has its digest, so that a browser keeps it until a
//! newer daemon has another one.

use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

/// A file.
pub(super) struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

pub(super) const STYLE: Asset = Asset {
    name: "style.css",
    kind: "text/css; charset=utf-8",
    text: concat!(include_str!("../../assets/style.css"), include_str!("../../assets/act.css")),
};
pub(super) const SCRIPT: Asset = Asset {
    name: "live.js",
    kind: "text/javascript; charset=utf-8",
    text: concat!(include_str!("../../assets/live.js"), include_str!("../../assets/copy.js")),
};
const ICON: Asset =
    Asset { name: "icon.svg", kind: "image/svg+xml", text: include_str!("../../assets/icon.svg") };

impl Asset {
    /// Where it is.
    pub(super) fn path(&self) -> String {
        let digest = hex::encode(&Sha256::digest(self.text)[..6]);
        format!("/static/{}?{digest}", self.name)
    }
}

/// Answers a request for a file.
pub(super) async fn serve(Path(name): Path<String>) -> Response {
    let Some(asset) = [STYLE, SCRIPT, ICON].into_iter().find(|asset| asset.name == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("max-age=31536000, immutable")),
    ];
    (headers, asset.text).into_response()
}

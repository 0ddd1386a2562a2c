//! The files that pages name. The address of each has its digest, so that a browser keeps it until there is
//! another one.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use crate::config::PageConfig;

/// The colour of a site that names none, and of an icon while something has failed (as in style.css).
const ACCENT: &str = "#2456a6";
const FAILED: &str = "#c4241f";

/// One file of each kind.
const STYLE: &str = concat!(
    include_str!("../../assets/style.css"),
    include_str!("../../assets/act.css"),
    include_str!("../../assets/history.css"),
    include_str!("../../assets/select.css")
);
const SCRIPT: &str =
    concat!(include_str!("../../assets/live.js"), include_str!("../../assets/copy.js"));
const MAP: &str =
    concat!(include_str!("../../assets/map.js"), include_str!("../../assets/select.js"));

/// A file.
struct Asset {
    name: &'static str,
    kind: &'static str,
    text: Cow<'static, str>,
    path: String,
}

/// The files, and the site's name.
pub(crate) struct Assets {
    /// What the site is called; `Provost` where it has no name.
    pub(super) site: String,
    files: Vec<Asset>,
}

impl Assets {
    /// Those of a site.
    pub(crate) fn new(page: &PageConfig) -> Self {
        let accent = page.accent.as_deref().unwrap_or(ACCENT);
        let (css, js, svg) =
            ("text/css; charset=utf-8", "text/javascript; charset=utf-8", "image/svg+xml");
        let icon = include_str!("../../assets/icon.svg");
        let files = [
            ("style.css", css, STYLE.into()),
            // The policy of pages allows no style of an element's own.
            ("site.css", css, format!(":root {{ --accent: {accent}; }}\n").into()),
            ("live.js", js, SCRIPT.into()),
            ("map.js", js, MAP.into()),
            ("icon.svg", svg, icon.replace("ACCENT", accent).into()),
            ("icon-failed.svg", svg, icon.replace("ACCENT", FAILED).into()),
        ];
        Self {
            site: page.name.clone().unwrap_or_else(|| "Provost".to_owned()),
            files: files
                .into_iter()
                .map(|(name, kind, text)| Asset::new(name, kind, text))
                .collect(),
        }
    }

    /// Where the file of this name is.
    pub(super) fn path(&self, name: &str) -> &str {
        self.find(name).map_or("", |asset| &asset.path)
    }

    fn find(&self, name: &str) -> Option<&Asset> {
        self.files.iter().find(|asset| asset.name == name)
    }
}

impl Asset {
    fn new(name: &'static str, kind: &'static str, text: Cow<'static, str>) -> Self {
        let digest = hex::encode(&Sha256::digest(text.as_bytes())[..6]);
        Self { name, kind, text, path: format!("/static/{name}?{digest}") }
    }
}

/// Answers a request for a file.
pub(super) async fn serve(State(assets): State<Arc<Assets>>, Path(name): Path<String>) -> Response {
    let Some(asset) = assets.find(&name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("max-age=31536000, immutable")),
    ];
    (headers, asset.text.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_has_a_color_of_its_own() {
        let page = PageConfig { accent: Some("#0a7".to_owned()), ..PageConfig::default() };
        let (plain, own) = (Assets::new(&PageConfig::default()), Assets::new(&page));
        assert!(own.find("site.css").is_some_and(|css| css.text.contains("--accent: #0a7;")));
        assert!(own.find("icon.svg").is_some_and(|icon| icon.text.contains("\"#0a7\"")));
        assert_eq!(plain.path("style.css"), own.path("style.css"));
        assert_ne!(plain.path("icon.svg"), own.path("icon.svg"), "a browser keeps none of both");
        assert_eq!(plain.path("icon-failed.svg"), own.path("icon-failed.svg"));
    }
}

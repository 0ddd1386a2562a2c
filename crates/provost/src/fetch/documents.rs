//! The manifest and the plan, with their signatures: as they come, and as they are kept.
//!
//! What is kept is what was verified last. It is asked for again by its ETag, so that where
//! nothing has changed nothing is sent; and it is what a node can go on with when no server
//! answers. It is verified again each time.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use provost_bundle::{Manifest, Verdict};
use provost_plan::Plan;
use provost_record::Cause;
use reqwest::StatusCode;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};

use super::retry::Miss;
use super::source::{Source, broken, http_date};
use crate::failure::Failure;
use crate::http::one_line;
use crate::settings::Settings;

/// The longest signature file, in bytes.
const MAX_SIGNATURE: u64 = 4096;

/// Manifest and plan of one moment.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Documents {
    manifest: Document,
    plan: Document,
}

/// A published text.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Document {
    text: String,
    signature: Option<String>,
    /// Where it is from: another server's ETag means nothing.
    url: String,
    etag: Option<String>,
    /// Where there is no ETag.
    modified: Option<String>,
}

/// What the management node says beside the plan.
#[derive(Default)]
pub(super) struct Word {
    /// Why nothing may run.
    pub(super) hold: Option<String>,
    /// When an admin released the node.
    pub(super) released: Option<Timestamp>,
}

/// Documents that are trusted.
pub(super) struct Verified {
    pub(super) manifest: Manifest,
    pub(super) plan: Plan,
    pub(super) verdict: Verdict,
}

impl Documents {
    /// What is kept in the folder `state`. Where there is nothing that could be read, all is
    /// fetched.
    pub(super) fn kept(state: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(file(state)).ok()?).ok()
    }

    /// The texts, by the names under which they are published.
    pub(super) fn into_texts(self) -> [(&'static str, String); 2] {
        [("manifest.toml", self.manifest.text), ("plan.toml", self.plan.text)]
    }

    /// Keeps them in the folder `state`, in place of what is kept there.
    pub(super) fn keep(&self, state: &Path) -> std::io::Result<()> {
        crate::runner::write_durably(&file(state), &serde_json::to_vec(self)?)
    }

    /// Fetches them; of what is `kept` only what has changed.
    pub(super) async fn fetch(
        source: &Source<'_>,
        settings: &Settings,
        kept: Option<&Self>,
    ) -> Result<(Self, Word), Miss> {
        let signed = !settings.trust.is_unsigned();
        let plan = plan_path(settings);
        let ((manifest, _), (plan, word)) = tokio::try_join!(
            Document::fetch(
                source,
                "manifest.toml",
                (Manifest::MAX_BYTES, signed),
                kept.map(|kept| &kept.manifest)
            ),
            Document::fetch(source, &plan, (Plan::MAX_BYTES, signed), kept.map(|kept| &kept.plan)),
        )?;
        Ok((Self { manifest, plan }, word))
    }

    /// Checks that they are the publisher's, and this node's.
    pub(super) fn verify(&self, settings: &Settings) -> Result<Verified, Failure> {
        let (trust, path) = (&settings.trust, plan_path(settings));
        let refused = |document: &Document, e: &dyn std::fmt::Display, hint: String| {
            Failure::new(Cause::Verify, format!("{e}, from {}", document.url), hint)
        };
        let (text, signature) = (self.manifest.text.as_bytes(), self.manifest.signature.as_deref());
        let verdict = trust
            .check_manifest(text, signature)
            .map_err(|e| refused(&self.manifest, &e, e.hint()))?;
        let manifest = Manifest::parse(text).map_err(|e| refused(&self.manifest, &e, e.hint()))?;
        let (text, signature) = (self.plan.text.as_bytes(), self.plan.signature.as_deref());
        trust
            .check_plan(&path, text, signature, &manifest)
            .map_err(|e| refused(&self.plan, &e, e.hint()))?;
        let plan = Plan::parse(text).map_err(|e| refused(&self.plan, &e, e.hint()))?;
        if plan.node != settings.node {
            let told = format!("checking {path}: it is the plan of {}", plan.node);
            let hint = "publish again; somebody may have swapped files";
            return Err(refused(&self.plan, &told, hint.to_owned()));
        }
        Ok(Verified { manifest, plan, verdict })
    }
}

impl Document {
    async fn fetch(
        source: &Source<'_>,
        path: &str,
        (most, signed): (u64, bool),
        kept: Option<&Self>,
    ) -> Result<(Self, Word), Miss> {
        let url = source.url(path);
        let signature = async || match signed {
            true => {
                let path = format!("{path}.minisig");
                let signature = Answer::get(source, &path, MAX_SIGNATURE, HeaderMap::new()).await?;
                Ok(Some(signature.text))
            }
            false => Ok(None),
        };
        let Some(kept) = kept.filter(|kept| kept.url == url && kept.signature.is_some() == signed)
        else {
            let answer = Answer::get(source, path, most, HeaderMap::new());
            let (answer, signature) = tokio::try_join!(answer, signature())?;
            return Ok(answer.document(url, signature));
        };
        let answer = Answer::get(source, path, most, kept.conditions()).await?;
        if answer.is_unchanged {
            return Ok((kept.clone(), answer.word()));
        }
        // Served by a server without ETags, or published again as it was.
        let signature = match answer.text == kept.text {
            true => kept.signature.clone(),
            false => signature().await?,
        };
        Ok(answer.document(url, signature))
    }

    /// The headers by which only another text is sent.
    fn conditions(&self) -> HeaderMap {
        let etag = self.etag.as_ref().map(|etag| (header::IF_NONE_MATCH, etag));
        let modified = self.modified.as_ref().map(|time| (header::IF_MODIFIED_SINCE, time));
        let value = |(name, text): (HeaderName, &String)| Some((name, text.parse().ok()?));
        etag.or(modified).and_then(value).into_iter().collect()
    }
}

/// A server's answer, of a size that fits into memory.
struct Answer {
    is_unchanged: bool,
    text: String,
    headers: HeaderMap,
}

impl Answer {
    /// Fetches a text of at most `most` bytes.
    async fn get(
        source: &Source<'_>,
        path: &str,
        most: u64,
        conditions: HeaderMap,
    ) -> Result<Self, Miss> {
        let url = source.url(path);
        let good = [StatusCode::OK, StatusCode::NOT_MODIFIED];
        let good = if conditions.is_empty() { &good[..1] } else { &good[..] };
        let mut response = source.ask(path, conditions, good).await?;
        let is_unchanged = response.status() == StatusCode::NOT_MODIFIED;
        let headers = response.headers().clone();
        let bad = |what: &str, hint: &str| {
            Miss::last(Failure::new(Cause::Verify, format!("fetching {url}: {what}"), hint))
        };
        let mut bytes = Vec::new();
        while !is_unchanged
            && let Some(more) = response.chunk().await.map_err(|e| broken(&url, &e))?
        {
            bytes.extend_from_slice(&more);
            if bytes.len() as u64 > most {
                let what = format!("it has more than {most} bytes");
                return Err(bad(&what, "see what that server serves"));
            }
        }
        let hint = "see what stands between this node and the server, and what that serves: curl \
                    -v that URL";
        let Ok(text) = String::from_utf8(bytes) else {
            return Err(bad("it isn't text but some other file", hint));
        };
        if !is_unchanged && text.trim().is_empty() {
            let hint = "publish again, and see that the disk of the server isn't full";
            return Err(bad("the file is empty", hint));
        }
        // Neither TOML nor a signature can begin so.
        if text.trim_start().starts_with('<') {
            let what = match title(&text) {
                Some(title) => format!("a web page is served in its place, {title:?}"),
                None => "a web page is served in its place".to_owned(),
            };
            return Err(bad(&what, hint));
        }
        Ok(Self { is_unchanged, text, headers })
    }

    fn document(self, url: String, signature: Option<String>) -> (Document, Word) {
        let word = self.word();
        let etag = self.header(header::ETAG).map(str::to_owned);
        let modified = if etag.is_none() { self.modified() } else { None };
        (Document { text: self.text, signature, url, etag, modified }, word)
    }

    /// The time of the last change, if another change could not have the same one: it is told in
    /// whole seconds (RFC 9110, 8.8.2.2).
    fn modified(&self) -> Option<String> {
        let modified = self.header(header::LAST_MODIFIED)?;
        let age = http_date(self.header(header::DATE)?)?.duration_since(http_date(modified)?);
        (age >= SignedDuration::from_secs(1)).then(|| modified.to_owned())
    }

    fn word(&self) -> Word {
        let header = |name| self.header(HeaderName::from_static(name));
        let hold = (header("provost-directive") == Some("hold"))
            .then(|| header("provost-reason").map_or("it says no reason".to_owned(), one_line));
        Word { hold, released: header("provost-released").and_then(|time| time.parse().ok()) }
    }

    fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name).map(HeaderValue::to_str)?.ok()
    }
}

fn file(state: &Path) -> PathBuf {
    state.join("published.json")
}

fn plan_path(settings: &Settings) -> String {
    format!("plans/{}.toml", settings.node)
}

/// The title of a web page, for whoever knows by it where it is from.
fn title(page: &str) -> Option<String> {
    let begin = page.find("<title>")? + "<title>".len();
    let title = page[begin..].split('<').next()?;
    Some(title.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(80).collect())
}

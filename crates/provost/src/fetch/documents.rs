//! The manifest and the plan, with their signatures: as they come, and as they are kept.
//!
//! What is kept is what was verified last. It is asked for again by its ETag, so that where
//! nothing has changed nothing is sent; and it is what a node can go on with when no server
//! answers. It is verified again each time.

use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use provost_bundle::{Manifest, Verdict};
use provost_plan::Plan;
use provost_record::Cause;
use reqwest::header::{self, HeaderMap, HeaderName};
use serde::{Deserialize, Serialize};

use super::answer::{Answer, Word};
use super::retry::Miss;
use super::source::{Source, http_date};
use crate::failure::Failure;
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
    /// Where it is from.
    url: String,
    etag: Option<String>,
    /// Where there is no ETag.
    modified: Option<String>,
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
        let Some(kept) = kept.filter(|kept| kept.signature.is_some() == signed) else {
            let answer = Answer::get(source, path, most, HeaderMap::new());
            let (answer, signature) = tokio::try_join!(answer, signature())?;
            return Ok(Self::of(answer, url, signature));
        };
        // Another server's ETag means nothing.
        let conditions = if kept.url == url { kept.conditions() } else { HeaderMap::new() };
        let answer = Answer::get(source, path, most, conditions).await?;
        if answer.is_unchanged {
            return Ok((kept.clone(), answer.word()));
        }
        // From another server or one without ETags, or published again as it was.
        let signature = match answer.text == kept.text {
            true => kept.signature.clone(),
            false => signature().await?,
        };
        Ok(Self::of(answer, url, signature))
    }

    fn of(answer: Answer, url: String, signature: Option<String>) -> (Self, Word) {
        let word = answer.word();
        let etag = answer.header(header::ETAG).map(str::to_owned);
        let modified = if etag.is_none() { modified(&answer) } else { None };
        (Self { text: answer.text, signature, url, etag, modified }, word)
    }

    /// The headers by which only another text is sent.
    fn conditions(&self) -> HeaderMap {
        let etag = self.etag.as_ref().map(|etag| (header::IF_NONE_MATCH, etag));
        let modified = self.modified.as_ref().map(|time| (header::IF_MODIFIED_SINCE, time));
        let value = |(name, text): (HeaderName, &String)| Some((name, text.parse().ok()?));
        etag.or(modified).and_then(value).into_iter().collect()
    }
}

fn file(state: &Path) -> PathBuf {
    state.join("published.json")
}

fn plan_path(settings: &Settings) -> String {
    format!("plans/{}.toml", settings.node)
}

/// The time of the last change, if another change could not have the same one: it is told in whole
/// seconds (RFC 9110, 8.8.2.2).
fn modified(answer: &Answer) -> Option<String> {
    let modified = answer.header(header::LAST_MODIFIED)?;
    let age = http_date(answer.header(header::DATE)?)?.duration_since(http_date(modified)?);
    (age >= SignedDuration::from_secs(1)).then(|| modified.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::answer::tests::answer;
    use super::*;

    #[test]
    fn a_time_of_change_is_asked_with_only_where_it_can_stand_for_one_text() {
        let changed = ("last-modified", "Fri, 20 Nov 2026 17:00:01 GMT");
        let ask = |headers: &[_]| {
            let (document, _) = Document::of(answer(headers), String::new(), None);
            let conditions = document.conditions();
            conditions.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>()
        };
        let later = ("date", "Fri, 20 Nov 2026 17:00:02 GMT");
        assert_eq!(ask(&[changed, later]), ["if-modified-since"]);
        assert_eq!(ask(&[changed, later, ("etag", "\"1\"")]), ["if-none-match"]);
        // In that second there may have been another change.
        assert!(ask(&[changed, ("date", "Fri, 20 Nov 2026 17:00:01 GMT")]).is_empty());
        assert!(ask(&[changed]).is_empty());
    }
}

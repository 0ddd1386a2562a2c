//! The manifest and the plan, with their signatures: as they come, and as they are kept.
//!
//! What is kept is what was verified last. It is asked for again by its ETag, so that where
//! nothing has changed nothing is sent; and it is what a node can go on with when no server
//! answers. It is verified again each time.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use provost_bundle::{Manifest, Trust, Verdict};
use provost_plan::Plan;
use provost_record::Cause;
use reqwest::header::HeaderMap;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, Directives, MAX_SIGNATURE};
use super::enrol;
use super::error::FetchError;
use super::fresh;
use super::server::Server;
use super::version::Version;
use crate::failure::Failure;
use crate::http::Way;
use crate::settings::Settings;

/// Manifest and plan of one moment.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Documents {
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
    version: Version,
}

/// Documents that are trusted.
pub(crate) struct Verified {
    pub(crate) manifest: Manifest,
    pub(crate) plan: Plan,
    pub(crate) verdict: Verdict,
}

impl Documents {
    /// What is kept in the folder `state`. Where there is nothing that could be read, all is
    /// fetched.
    pub(crate) fn kept(state: &Path) -> Option<Self> {
        serde_json::from_slice(&crate::state::atomic::read(&file(state)).ok()?).ok()
    }

    /// The texts, by the names under which they are published.
    pub(crate) fn into_texts(self) -> [(&'static str, String); 2] {
        [("manifest.toml", self.manifest.text), ("plan.toml", self.plan.text)]
    }

    /// What is trusted after these were used: what the settings say, without keys that were replaced
    /// or revoked.
    pub(crate) fn trust_after(kept: Option<&Self>, settings: &Settings) -> Trust {
        let signature = kept.and_then(|kept| kept.manifest.signature.as_deref());
        // What can't be read revokes nothing, and isn't used.
        let manifest = kept.and_then(|kept| Manifest::parse(kept.manifest.text.as_bytes()).ok());
        let revoked = manifest.map(|manifest| manifest.revoked).unwrap_or_default();
        settings.trust.clone().after(signature.unwrap_or_default()).without(&revoked)
    }

    /// The text of the manifest.
    pub(crate) fn manifest_text(&self) -> &str {
        &self.manifest.text
    }

    /// Keeps them in the folder `state`, in place of what is kept there.
    pub(crate) fn keep(&self, state: &Path) -> std::io::Result<()> {
        crate::state::atomic::write(&file(state), &serde_json::to_vec(self)?)
    }

    /// Fetches them; of what is `kept` only what has changed.
    pub(crate) async fn fetch(
        source: &Server<'_>,
        settings: &Settings,
        trust: &Trust,
        kept: Option<&Self>,
    ) -> Result<(Self, Directives), FetchError> {
        let (way, path) = (source.client.way(), plan_path(settings));
        let signed = !settings.trust.is_unsigned();
        let manifest = async |kept| {
            let limits = (Manifest::MAX_BYTES, signed);
            Document::fetch(source, "manifest.toml", limits, kept)
                .await
                .map(|(manifest, _)| manifest)
        };
        let kept_plan = kept.map(|kept| &kept.plan);
        let plan =
            async || Document::fetch(source, &path, (Plan::MAX_BYTES, signed), kept_plan).await;
        let kept = kept.map(|kept| &kept.manifest);
        if way.is_named() && !enrol::is_needed(source, settings) {
            let asked = way.tls();
            let early = async { Ok(plan().await) };
            let (manifest, early) = source.both(manifest(kept), early).await?;
            // What isn't trusted is refused when all is there.
            let _ = manifest.names_the_way((settings, trust), way, kept);
            let first = if way.tls() == asked { Some(early) } else { None };
            let (plan, directives) = private(source, settings, first, plan).await?;
            return Ok((Self { manifest, plan }, directives));
        }
        let mut first = manifest(kept).await?;
        if let Err(failure) = first.names_the_way((settings, trust), way, kept) {
            // It may have met its signature's next generation, in a cache too: by its own path none can.
            let own = number(&first.text, "generation = ").unwrap_or_default();
            let path = format!("manifests/{own}.toml");
            let limits = (Manifest::MAX_BYTES, signed);
            let again = match Document::fetch(source, &path, limits, None).await {
                Ok((again, _)) => again,
                Err(_) => manifest(None).await?,
            };
            let is_good = again.names_the_way((settings, trust), way, kept).is_ok();
            first = Some(again).filter(|_| is_good).ok_or(FetchError::inconsistent(failure))?;
        }
        let (plan, directives) = private(source, settings, None, plan).await?;
        Ok((Self { manifest: first, plan }, directives))
    }

    /// These with this node's own manifest, if that is newer than the one for all nodes: a channel's
    /// nodes get it first, and a cache may have an older one for all.
    pub(crate) async fn of_channel(
        &self,
        source: &Server<'_>,
        (settings, trust): (&Settings, &Trust),
        kept: Option<&Self>,
        directives: &Directives,
    ) -> Result<Option<Self>, FetchError> {
        match number(&self.manifest.text, "generation = ") < self.own(directives) {
            true => self.with_own(source, (settings, trust), kept, directives).await,
            false => Ok(None),
        }
    }

    /// The generation of this node's manifest: the one that the plan names, or a newer one that the
    /// management node does. Neither is verified yet, and says only which file to ask for.
    fn own(&self, directives: &Directives) -> Option<u64> {
        number(&self.plan.text, "manifest = ").max(directives.bundle)
    }

    /// These with this node's own manifest, by the path that no other generation has.
    pub(crate) async fn with_own(
        &self,
        source: &Server<'_>,
        (settings, trust): (&Settings, &Trust),
        kept: Option<&Self>,
        directives: &Directives,
    ) -> Result<Option<Self>, FetchError> {
        let Some(own) = self.own(directives) else { return Ok(None) };
        let path = format!("manifests/{own}.toml");
        let limits = (Manifest::MAX_BYTES, !settings.trust.is_unsigned());
        let kept = kept.map(|kept| &kept.manifest);
        match Document::fetch(source, &path, limits, kept).await {
            Ok((manifest, _)) => {
                // What isn't trusted is refused when all is there.
                let _ = manifest.names_the_way((settings, trust), source.client.way(), kept);
                Ok(Some(Self { manifest, plan: self.plan.clone() }))
            }
            // No channel has it, and the bundle for all is an older one.
            Err(e) if e.is_inconsistent() => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Checks that they are the publisher's, and this node's.
    pub(crate) fn verify(&self, settings: &Settings, trust: &Trust) -> Result<Verified, Failure> {
        let path = plan_path(settings);
        let refused =
            |document: &Document, e: &dyn std::fmt::Display, hint| document.refused(e, hint);
        let verdict = self.manifest.is_trusted(trust)?;
        let text = self.manifest.text.as_bytes();
        let manifest = Manifest::parse(text).map_err(|e| refused(&self.manifest, &e, e.hint()))?;
        // As it counts from now on: the manifest may be by a key that one of the revoked has named.
        let signature = self.manifest.signature.as_deref().unwrap_or_default();
        let after = trust.clone().after(signature).without(&manifest.revoked);
        let (text, signature) = (self.plan.text.as_bytes(), self.plan.signature.as_deref());
        after
            .check_plan(&path, text, signature, &manifest)
            .map_err(|e| refused(&self.plan, &e, e.hint()))?;
        let plan = Plan::parse(text).map_err(|e| refused(&self.plan, &e, e.hint()))?;
        if plan.node != settings.node {
            let why = format!("checking {path}: it is the plan of {}", plan.node);
            let hint = "publish again: the file may have been swapped";
            return Err(refused(&self.plan, &why, hint.to_owned()));
        }
        Ok(Verified { manifest, plan, verdict })
    }
}

/// The plan, which is for this node alone: it needs an identity first where it has none. The answer may
/// be there already. A server that doesn't know the identity any more is asked for another one.
async fn private<T>(
    source: &Server<'_>,
    settings: &Settings,
    early: Option<Result<(T, Directives), FetchError>>,
    ask: impl AsyncFn() -> Result<(T, Directives), FetchError>,
) -> Result<(T, Directives), FetchError> {
    if enrol::is_needed(source, settings) {
        enrol::enrol(source, settings).await?;
    }
    let answer = match early {
        Some(early) => early,
        None => ask().await,
    };
    let (plan, directives) = match answer {
        Err(e) if e.is_unknown_here() && source.client.identity().is_known() => {
            source.client.identity().forget();
            enrol::enrol(source, settings).await.map_err(|again| again.after(&e.failure))?;
            ask().await?
        }
        answer => answer?,
    };
    if directives.renew {
        enrol::renew(source, settings).await;
    }
    Ok((plan, directives))
}

impl Document {
    async fn fetch(
        source: &Server<'_>,
        path: &str,
        (most, signed): (u64, bool),
        kept: Option<&Self>,
    ) -> Result<(Self, Directives), FetchError> {
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
            let (answer, signature) = source.both(answer, signature()).await?;
            return Ok(Self::of(answer, url, signature));
        };
        // Another server's ETag means nothing.
        let conditions = if kept.url == url { kept.version.conditions() } else { HeaderMap::new() };
        let answer = Answer::get(source, path, most, conditions).await?;
        if answer.is_unchanged {
            return Ok((kept.clone(), answer.directives()));
        }
        // From another server or one without ETags, or published again as it was.
        let signature = match answer.text == kept.text {
            true => kept.signature.clone(),
            false => signature().await?,
        };
        Ok(Self::of(answer, url, signature))
    }

    /// Whether it is a manifest of the publisher's.
    fn is_trusted(&self, trust: &Trust) -> Result<Verdict, Failure> {
        let (text, signature) = (self.text.as_bytes(), self.signature.as_deref());
        let checked = trust.check_manifest(text, signature);
        checked.map_err(|e| self.refused(&e, e.hint()))
    }

    fn refused(&self, e: &dyn std::fmt::Display, hint: String) -> Failure {
        Failure::new(Cause::Verify, format!("{e}, from {}", self.url), hint)
    }

    /// Takes from this manifest how to reach the management node by TLS, unless it is older than the
    /// one that is `kept`: what was signed once could be replayed.
    fn names_the_way(
        &self,
        (settings, trust): (&Settings, &Trust),
        way: &Way,
        kept: Option<&Self>,
    ) -> Result<(), Failure> {
        if way.is_named() && kept.is_some_and(|kept| kept.text == self.text) {
            return Ok(());
        }
        self.is_trusted(trust)?;
        let age = self.age();
        fresh::is_allowed(settings, age.0)
            .map_err(|failure| failure.reworded(|text| format!("{text}, from {}", self.url)))?;
        if !way.is_named() || kept.is_none_or(|kept| kept.age() < age) {
            way.learn(value(&self.text, "tls = ").and_then(|line| line.parse().ok()));
        }
        Ok(())
    }

    /// The generation, and when it was signed.
    fn age(&self) -> (u64, Option<Timestamp>) {
        let made = value(&self.text, "made = ").and_then(|made| made.parse().ok());
        (number(&self.text, "generation = ").unwrap_or_default(), made)
    }

    fn of(answer: Answer, url: String, signature: Option<String>) -> (Self, Directives) {
        let directives = answer.directives();
        let version = Version::of(&answer.headers);
        (Self { text: answer.text, signature, url, version }, directives)
    }
}

/// The number after `key` in the first line that begins with it.
fn number(text: &str, key: &str) -> Option<u64> {
    value(text, key)?.parse().ok()
}

/// The text after `key` in the first line that begins with it, without quotation marks.
fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    Some(text.lines().find_map(|line| line.strip_prefix(key))?.trim_matches('"'))
}

fn file(state: &Path) -> PathBuf {
    state.join("published.json")
}

fn plan_path(settings: &Settings) -> String {
    format!("plans/{}.toml", settings.node)
}

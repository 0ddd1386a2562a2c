//! The manifest and the plan, with their signatures: as they come, and as they are kept.
//!
//! What is kept is what was verified last. It is asked for again by its ETag, so that where
//! nothing has changed nothing is sent; and it is what a node can go on with when no server
//! answers. It is verified again each time.

use std::path::{Path, PathBuf};

use provost_api::published;
use provost_bundle::{Manifest, Trust, Verdict};
use provost_plan::Plan;
use serde::{Deserialize, Serialize};

use super::answer::Directives;
use super::document::{Document, number};
use super::enrol;
use super::error::FetchError;
use super::keys;
use super::server::Server;
use crate::failure::Failure;
use crate::settings::Settings;

/// Manifest and plan of one moment.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Documents {
    manifest: Document,
    plan: Document,
}

/// Documents as they came, and what came with them.
pub(crate) struct Received {
    pub(crate) documents: Documents,
    pub(crate) directives: Directives,
    /// By which they are verified: with the links to the key that signs them.
    pub(crate) trust: Trust,
}

/// Documents that are trusted.
pub(crate) struct Verified {
    pub(crate) manifest: Manifest,
    pub(crate) plan: Plan,
    pub(crate) verdict: Verdict,
    /// The trust from now on: without keys that the manifest revokes.
    pub(crate) trust: Trust,
}

impl Documents {
    /// What is kept in the folder `state`. Where there is nothing that could be read, all is
    /// fetched.
    pub(crate) fn kept(state: &Path) -> Option<Self> {
        serde_json::from_slice(&provost_fs::atomic::read(&file(state)).ok()?).ok()
    }

    /// The texts, by the names under which they are published.
    pub(crate) fn into_texts(self) -> [(&'static str, String); 2] {
        [(published::MANIFEST, self.manifest.text), ("plan.toml", self.plan.text)]
    }

    /// The text of the manifest.
    pub(crate) fn manifest_text(&self) -> &str {
        &self.manifest.text
    }

    /// Keeps them in the folder `state`, in place of what is kept there.
    pub(crate) fn keep(&self, state: &Path) -> std::io::Result<()> {
        // The plan's environment may have passwords.
        provost_fs::atomic::write_secret(&file(state), &serde_json::to_vec(self)?)
    }

    /// Fetches them; of what is `kept` only what has changed.
    pub(crate) async fn fetch(
        source: &Server<'_>,
        settings: &Settings,
        trust: &Trust,
        kept: Option<&Self>,
    ) -> Result<Received, FetchError> {
        let (transport, path) = (source.client.transport(), plan_path(settings));
        let signed = !settings.trust.is_unsigned();
        let manifest = async |kept| {
            let limits = (Manifest::MAX_BYTES, signed);
            let (manifest, Directives { time, .. }) =
                Document::fetch(source, published::MANIFEST, limits, kept).await?;
            Ok::<_, FetchError>((manifest, time))
        };
        let kept_plan = kept.map(|kept| &kept.plan);
        let plan =
            async || Document::fetch(source, &path, (Plan::MAX_BYTES, signed), kept_plan).await;
        let kept = kept.map(|kept| &kept.manifest);
        if transport.is_named() && !enrol::is_needed(source, settings) {
            let asked = transport.tls();
            let early = async { Ok(plan().await) };
            let ((manifest, time), early) = source.both(manifest(kept), early).await?;
            let trust = keys::follow(source, trust, &manifest.text).await?;
            // What isn't trusted is refused when all is there.
            let _ = manifest.learn_transport(source, (settings, &trust), kept, time).await;
            let first = if transport.tls() == asked { Some(early) } else { None };
            let (plan, directives) = private(source, settings, first, plan).await?;
            return Ok(Received { documents: Self { manifest, plan }, directives, trust });
        }
        let (mut first, time) = manifest(kept).await?;
        let mut accepted = first.accept(source, (settings, trust), kept, time).await;
        if let Err(error) = accepted {
            if error.may_retry() {
                return Err(error);
            }
            // It may have met its signature's next generation, in a cache too: by its own path none can.
            let own = number(&first.text, "generation = ").unwrap_or_default();
            let path = format!("manifests/{own}.toml");
            let limits = (Manifest::MAX_BYTES, signed);
            let (again, time) = match Document::fetch(source, &path, limits, None).await {
                Ok((again, Directives { time, .. })) => (again, time),
                Err(_) => manifest(None).await?,
            };
            accepted = again.accept(source, (settings, trust), kept, time).await.map_err(|_| error);
            first = again;
        }
        let trust = accepted?;
        let (plan, directives) = private(source, settings, None, plan).await?;
        Ok(Received { documents: Self { manifest: first, plan }, directives, trust })
    }

    /// Those of a rehearsal, which are in `folder`.
    pub(crate) fn rehearsed(folder: &Path) -> Result<Self, Failure> {
        let document = |name, most| Document::in_folder(folder, name, most);
        let manifest = document(published::MANIFEST, Manifest::MAX_BYTES)?;
        Ok(Self { manifest, plan: document(published::REHEARSED_PLAN, Plan::MAX_BYTES)? })
    }

    /// Checks that they are the publisher's, and this node's.
    pub(crate) fn verify(&self, settings: &Settings, trust: &Trust) -> Result<Verified, Failure> {
        self.verify_as(settings, trust, false)
    }

    /// The same of a rehearsal, or of what is published.
    pub(crate) fn verify_as(
        &self,
        settings: &Settings,
        trust: &Trust,
        rehearsal: bool,
    ) -> Result<Verified, Failure> {
        let path = plan_path(settings);
        let refused =
            |document: &Document, e: &dyn std::fmt::Display, hint| document.refused(e, hint);
        let verdict = self.manifest.is_trusted(trust)?;
        let text = self.manifest.text.as_bytes();
        let manifest = Manifest::parse_as(text, rehearsal)
            .map_err(|e| refused(&self.manifest, &e, e.hint()))?;
        // As it counts from now on: the manifest may be by a key that one of the revoked has named.
        let trust = trust.clone().without(&manifest.revoked);
        let (text, signature) = (self.plan.text.as_bytes(), self.plan.signature.as_deref());
        trust
            .check_plan(&path, text, signature, &manifest)
            .map_err(|e| refused(&self.plan, &e, e.hint()))?;
        let plan =
            Plan::parse_as(text, rehearsal).map_err(|e| refused(&self.plan, &e, e.hint()))?;
        if plan.node != settings.node {
            let why = format!("checking {path}: it is the plan of {}", plan.node);
            let hint = "publish again: the file may have been swapped";
            return Err(refused(&self.plan, &why, hint.to_owned()));
        }
        Ok(Verified { manifest, plan, verdict, trust })
    }
}

impl Received {
    /// These with this node's own manifest, if that is newer than the one for all nodes: a channel's
    /// nodes get it first, and a cache may have an older one for all.
    pub(crate) async fn of_channel(
        &self,
        source: &Server<'_>,
        settings: &Settings,
        kept: Option<&Documents>,
    ) -> Result<Option<(Documents, Trust)>, FetchError> {
        match number(&self.documents.manifest.text, "generation = ") < self.own() {
            true => self.with_own(source, settings, kept).await,
            false => Ok(None),
        }
    }

    /// The generation of this node's manifest: the one that the plan names, or a newer one that the
    /// management node does. Neither is verified yet, and says only which file to ask for.
    fn own(&self) -> Option<u64> {
        number(&self.documents.plan.text, "manifest = ").max(self.directives.bundle)
    }

    /// These with this node's own manifest, by the path that no other generation has.
    pub(crate) async fn with_own(
        &self,
        source: &Server<'_>,
        settings: &Settings,
        kept: Option<&Documents>,
    ) -> Result<Option<(Documents, Trust)>, FetchError> {
        let Some(own) = self.own() else { return Ok(None) };
        let path = format!("manifests/{own}.toml");
        let limits = (Manifest::MAX_BYTES, !settings.trust.is_unsigned());
        let kept = kept.map(|kept| &kept.manifest);
        match Document::fetch(source, &path, limits, kept).await {
            Ok((manifest, Directives { time, .. })) => {
                let trust = keys::follow(source, &self.trust, &manifest.text).await?;
                // What isn't trusted is refused when all is there.
                let _ = manifest.learn_transport(source, (settings, &trust), kept, time).await;
                let plan = self.documents.plan.clone();
                Ok(Some((Documents { manifest, plan }, trust)))
            }
            // No channel has it, and the bundle for all is an older one.
            Err(e) if e.is_inconsistent() => Ok(None),
            Err(e) => Err(e),
        }
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
    match enrol::is_needed(source, settings) {
        // The management node gives an identity to those that are published alone.
        true => enrol::enrol(source, settings).await.map_err(FetchError::for_this_node)?,
        false => enrol::spend_join(source, settings).await,
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

fn file(state: &Path) -> PathBuf {
    state.join("published.json")
}

fn plan_path(settings: &Settings) -> String {
    published::plan(&settings.node)
}

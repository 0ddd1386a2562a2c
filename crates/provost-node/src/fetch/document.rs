//! One published text with its signature: the manifest, or the plan.

use std::path::Path;

use jiff::Timestamp;
use provost_bundle::{Manifest, Trust, Verdict};
use provost_record::Cause;
use reqwest::header::HeaderMap;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, Directives, MAX_SIGNATURE, value};
use super::error::FetchError;
use super::fresh;
use super::keys;
use super::server::Server;
use super::version::Version;
use crate::failure::Failure;
use crate::settings::Settings;

/// A published text.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Document {
    pub(super) text: String,
    pub(super) signature: Option<String>,
    /// Where it is from.
    url: String,
    version: Version,
}

impl Document {
    pub(super) async fn fetch(
        source: &Server<'_>,
        path: &str,
        (most, signed): (u64, bool),
        kept: Option<&Self>,
    ) -> Result<(Self, Directives), FetchError> {
        let url = source.url(path);
        let kept = kept.filter(|kept| kept.signature.is_some() == signed);
        // Another server's ETag means nothing.
        let of_server = kept.filter(|kept| kept.url == url);
        let conditions = of_server.map(|kept| kept.version.conditions()).unwrap_or_default();
        let answer = Answer::get(source, path, most, conditions).await;
        let answer = answer.map_err(FetchError::for_this_node)?;
        let signature = match kept {
            Some(kept) if answer.is_unchanged => return Ok((kept.clone(), answer.directives())),
            _ if !signed => None,
            // From another server or one without ETags, or published again as it was.
            Some(kept) if answer.text == kept.text => kept.signature.clone(),
            _ => Some(Self::signature(source, path, &answer).await?),
        };
        Ok(Self::of(answer, url, signature))
    }

    /// The file `name` in `folder`, with its signature, if it has one.
    pub(super) fn in_folder(folder: &Path, name: &str, most: u64) -> Result<Self, Failure> {
        let path = folder.join(name);
        let text = read_text(&path, most)?;
        let signature = folder.join(provost_api::published::signature(name));
        let signature = signature.exists().then(|| read_text(&signature, MAX_SIGNATURE));
        let (url, version) = (path.display().to_string(), Version::default());
        Ok(Self { text, signature: signature.transpose()?, url, version })
    }

    /// The signature of the `answer`. provostd sends it along; any other web server has it as a file. To ask
    /// for both at once would take a connection more, of each of the nodes that boot.
    async fn signature(
        source: &Server<'_>,
        path: &str,
        answer: &Answer,
    ) -> Result<String, FetchError> {
        if let Some(signature) = answer.signature() {
            return Ok(signature);
        }
        let path = provost_api::published::signature(path);
        Ok(Answer::get(source, &path, MAX_SIGNATURE, HeaderMap::new()).await?.text)
    }

    /// Whether it is a manifest of the publisher's.
    pub(super) fn is_trusted(&self, trust: &Trust) -> Result<Verdict, Failure> {
        let (text, signature) = (self.text.as_bytes(), self.signature.as_deref());
        let checked = trust.check_manifest(text, signature);
        checked.map_err(|e| self.refused(&e, e.hint()))
    }

    pub(super) fn refused(&self, e: &dyn std::fmt::Display, hint: String) -> Failure {
        Failure::new(Cause::Verify, format!("{e}, from {}", self.url), hint)
    }

    /// The trust in this manifest, by which it may say how to reach the management node.
    pub(super) async fn accept(
        &self,
        source: &Server<'_>,
        (settings, trust): (&Settings, &Trust),
        kept: Option<&Self>,
        served_at: Option<Timestamp>,
    ) -> Result<Trust, FetchError> {
        let trust = keys::follow(source, trust, &self.text).await?;
        let learned = self.learn_transport(source, (settings, &trust), kept, served_at).await;
        learned.map(|()| trust).map_err(FetchError::inconsistent)
    }

    /// Takes from this manifest, which the server has sent at the time `served_at`, how to reach the
    /// management node by TLS, unless it has expired or is older than the one that is `kept`: what was
    /// signed once could be replayed.
    pub(super) async fn learn_transport(
        &self,
        source: &Server<'_>,
        (settings, trust): (&Settings, &Trust),
        kept: Option<&Self>,
        served_at: Option<Timestamp>,
    ) -> Result<(), Failure> {
        let transport = source.client.transport();
        let is_kept = kept.is_some_and(|kept| kept.text == self.text);
        if transport.is_named() && is_kept {
            return Ok(());
        }
        self.is_trusted(trust)?;
        let text = &*self.text;
        let manifest = Manifest::parse(text.as_bytes()).map_err(|e| self.refused(&e, e.hint()))?;
        // What this node has used last brings back nothing older.
        if !is_kept {
            let believed = fresh::is_believed(source, settings, (&manifest, text), served_at).await;
            if let Err(failure) = believed {
                transport.withhold();
                return Err(failure.reworded(|text| format!("{text}, from {}", self.url)));
            }
        }
        if !transport.is_named() || kept.is_none_or(|kept| kept.age() < self.age()) {
            transport.learn(manifest.tls);
        }
        Ok(())
    }

    pub(super) fn generation(&self) -> u64 {
        number(&self.text, "generation = ").unwrap_or_default()
    }

    /// The generation, and when it was signed.
    fn age(&self) -> (u64, Option<Timestamp>) {
        let made = value(&self.text, "made = ").and_then(|made| made.parse().ok());
        (self.generation(), made)
    }

    fn of(answer: Answer, url: String, signature: Option<String>) -> (Self, Directives) {
        let directives = answer.directives();
        let version = Version::of(&answer.headers);
        (Self { text: answer.text, signature, url, version }, directives)
    }
}

fn read_text(path: &Path, most: u64) -> Result<String, Failure> {
    provost_fs::read_input(path, most).map_err(|e| {
        let hint = "send all of it: provostctl publish --rehearse NODES …";
        Failure::unreadable(format!("reading {}", path.display()), hint, e)
    })
}

/// The number after `key` in the first line that begins with it.
pub(super) fn number(text: &str, key: &str) -> Option<u64> {
    value(text, key)?.parse().ok()
}

//! What was published for this node, from one server after the other.

use std::collections::BTreeMap;
use std::path::Path;

use futures_util::{StreamExt, TryStreamExt};
use provost_bundle::{FileEntry, Manifest, Trust};
use provost_record::Cause;
use provost_steplog::wording;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};

use super::answer::Directives;
use super::bundles::Bundles;
use super::documents::{Documents, Received, Verified};
use super::error::{FetchError, NotFetched};
use super::fresh;
use super::keys;
use super::other_servers;
use super::other_servers::Busy;
use super::retry::Unserved;
use super::secrets;
use super::server::Server;
use super::transfer::Content;
use crate::failure::Failure;
use crate::settings::Settings;

/// Up to so many files are fetched one by one, more of them as one pack: each file costs a round
/// trip.
const FEW: usize = 8;
/// How many files are fetched at the same time.
const AT_ONCE: usize = 4;

/// One fetch of what was published, and what is on this node's disk already.
pub(crate) struct Fetch<'a> {
    pub(crate) settings: &'a Settings,
    /// That of the settings, without keys that were replaced or revoked.
    trust: Trust,
    pub(crate) bundles: Bundles,
    pub(crate) kept: Option<Documents>,
    pub(crate) state: &'a Path,
    busy: Busy,
}

/// The answers to the first requests to a server.
pub(crate) struct FirstAnswers {
    received: Received,
    /// The newest pack, not read yet.
    pack: Option<Response>,
}

/// The bundle that was fetched last, where no server responds.
pub(crate) struct LastGood {
    pub(crate) verified: Verified,
    /// Why no server served.
    pub(crate) passed_over: Vec<Failure>,
}

impl<'a> Fetch<'a> {
    pub(crate) fn new(settings: &'a Settings, state: &'a Path) -> Result<Self, Failure> {
        let (bundles, kept) = (Bundles::open(state)?, Documents::kept(state));
        let trust = keys::trust(settings, state)?;
        Ok(Self { settings, trust, bundles, kept, state, busy: Busy::default() })
    }

    /// Sends the first requests: for the documents, and for the newest pack.
    pub(crate) async fn ask_first(&self, source: &Server<'_>) -> Result<FirstAnswers, FetchError> {
        let documents = Documents::fetch(source, self.settings, &self.trust, self.kept.as_ref());
        let (received, pack) = tokio::try_join!(documents, self.newest_pack(source))?;
        Ok(FirstAnswers { received, pack })
    }

    /// Fetches all of it from one server. Its `first` answers may be on their way already.
    pub(crate) async fn from(
        &self,
        source: Server<'_>,
        first: Option<impl Future<Output = Option<Result<FirstAnswers, FetchError>>>>,
    ) -> Result<(Verified, Directives), FetchError> {
        let asking = source.client.transport().ask();
        let first = match first {
            Some(first) => first.await,
            None => None,
        };
        let first = match first {
            Some(first) => first,
            None => self.ask_first(&source).await,
        };
        drop(asking);
        // Reports of why don't wait for a manifest. A server that says when to come has no place for them either.
        let first = first.inspect_err(|error| match error.retry_after() {
            None => source.client.transport().stop_waiting(),
            Some(wait) => {
                source.client.transport().ask_later();
                self.busy.note(source.base, wait);
            }
        });
        let FirstAnswers { received, pack } = first?;
        let error = match self.take(&source, &received, pack).await {
            Ok(verified) => return Ok((verified, received.directives)),
            Err(error) if error.is_inconsistent() => error,
            Err(error) => return Err(error),
        };
        // The requests may have met two generations, or what is kept here is damaged: fetch the
        // documents again, without what is kept.
        let mut again = Documents::fetch(&source, self.settings, &self.trust, None).await?;
        if again.documents == received.documents {
            // A cache may have the manifest of one generation and the signature of another.
            let own = again.with_own(&source, self.settings, None).await?;
            (again.documents, again.trust) = own.ok_or(error)?;
        }
        let verified = self.take(&source, &again, None).await?;
        Ok((verified, again.directives))
    }

    /// Requests the newest pack while the documents are on their way, where nothing is there yet:
    /// that saves a cold start a round trip. Its body isn't read before the manifest says by which
    /// digest to verify it. It takes a connection of its own: not where a server had no place for one.
    async fn newest_pack(&self, source: &Server<'_>) -> Result<Option<Response>, FetchError> {
        if !self.bundles.are_none() || self.busy.is_any() {
            return Ok(None);
        }
        // No error: the pack is then requested by its digest.
        Ok(source
            .ask(provost_api::published::NEWEST_PACK, HeaderMap::new(), &[StatusCode::OK])
            .await
            .ok())
    }

    /// Verifies what was `received`, puts the files that they name in their places, and keeps them.
    async fn take(
        &self,
        source: &Server<'_>,
        received: &Received,
        pack: Option<Response>,
    ) -> Result<Verified, FetchError> {
        let Received { documents, directives, trust } = received;
        let of_channel = received.of_channel(source, self.settings, self.kept.as_ref()).await?;
        let (documents, trust) =
            of_channel.as_ref().map_or((documents, trust), |(documents, trust)| (documents, trust));
        // That is the pack of the bundle for all nodes.
        let pack = pack.filter(|_| of_channel.is_none());
        let mut verified =
            documents.verify(self.settings, trust).map_err(FetchError::inconsistent)?;
        let Verified { manifest, plan, trust, .. } = &mut verified;
        let from = source.base.as_str();
        // Each server may have another one, and a node without a memory couldn't tell which is older.
        let newest = match self.bundles.remembers_none() {
            true => other_servers::newest(self.settings, trust, source, &self.busy).await,
            false => 0,
        };
        let seen = self.bundles.check_generations(from, newest, manifest, plan)?;
        let at = |failure: Failure| failure.reworded(|text| format!("{text}, from {from}"));
        fresh::belongs(self.settings, manifest, plan)
            .map_err(|failure| FetchError::inconsistent(at(failure)))?;
        let check = |refreshed| {
            fresh::check(self.settings, (manifest, plan), seen, directives.time, refreshed)
        };
        let checked = match check(None) {
            Ok(()) => Ok(()),
            Err(_) => check(fresh::refreshed(source, manifest, documents.manifest_text()).await),
        };
        checked.map_err(|failure| FetchError::give_up(at(failure)))?;
        secrets::add(source, plan).await?;
        self.files(source, manifest, pack).await?;
        self.bundles.remember_keys(&self.trust, trust).map_err(FetchError::abort)?;
        self.bundles.remember_generations(manifest, plan).map_err(FetchError::abort)?;
        if self.kept.as_ref() != Some(documents) {
            let kept = documents.keep(self.state);
            let failed = |e| self.bundles.disk("keeping the manifest and the plan", e);
            kept.map_err(|e| FetchError::abort(failed(e)))?;
        }
        Ok(verified)
    }

    /// Puts the manifest's files in their places. What is there already stays; a few files are
    /// fetched one by one, more of them as the pack.
    async fn files(
        &self,
        source: &Server<'_>,
        manifest: &Manifest,
        newest: Option<Response>,
    ) -> Result<(), FetchError> {
        let bundles = &self.bundles;
        let missing = bundles.missing(manifest);
        if missing.is_empty() && bundles.holds_no_other(manifest) {
            return Ok(());
        }
        let new = bundles.begin().map_err(FetchError::abort)?;
        let few = if bundles.has_current() { FEW } else { 1 };
        if missing.len() > few {
            self.pack(source, manifest, newest, new.path()).await?;
        } else {
            bundles.take_over(manifest, &missing, new.path()).map_err(FetchError::abort)?;
            let mut contents: BTreeMap<_, Vec<&FileEntry>> = BTreeMap::new();
            for entry in manifest.files.iter().filter(|e| missing.contains(&e.path.as_str())) {
                contents.entry(entry.sha256).or_default().push(entry);
            }
            futures_util::stream::iter(contents.values())
                .map(|entries| self.object(source, entries, new.path()))
                .buffer_unordered(AT_ONCE)
                .try_collect::<()>()
                .await?;
        }
        bundles.switch_to(new).map_err(FetchError::abort)?;
        Ok(())
    }

    /// Gets one content to the places of `entries`, which all have it.
    async fn object(
        &self,
        source: &Server<'_>,
        entries: &[&FileEntry],
        into: &Path,
    ) -> Result<(), FetchError> {
        let Some(first) = entries.first() else { return Ok(()) };
        let (name, path) = (first.path.as_str(), first.object_path());
        let content = Content { name, path, size: first.size, sha256: first.sha256 };
        content.transfer(source, &self.bundles, None).await?;
        self.bundles.place(&first.sha256, entries, into).map_err(FetchError::abort)
    }

    async fn pack(
        &self,
        source: &Server<'_>,
        manifest: &Manifest,
        newest: Option<Response>,
        into: &Path,
    ) -> Result<(), FetchError> {
        let path = manifest.pack.path();
        let url = source.url(&path);
        let (size, sha256) = (manifest.pack.size, manifest.pack.sha256);
        let content = Content { name: &manifest.pack.path(), path, size, sha256 };
        let file = content.transfer(source, &self.bundles, newest).await?;
        // A thread of its own: unpacking takes the processor and the disk, and signals must be
        // handled meanwhile.
        let (manifest, into) = (manifest.clone(), into.to_owned());
        let unpacked =
            tokio::task::spawn_blocking(move || provost_bundle::unpack(file, &manifest, &into));
        match unpacked.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(e)) => {
                let is_disk = e.is_disk();
                let message = format!("{}, at {url}", wording::error_chain(&e));
                Err(match is_disk {
                    true => FetchError::abort(Failure::local(message, e.hint())),
                    false => FetchError::give_up(Failure::new(Cause::Verify, message, e.hint())),
                })
            }
            Err(e) => {
                let e = std::io::Error::other(e);
                Err(FetchError::abort(self.bundles.disk("unpacking the pack", e)))
            }
        }
    }

    /// What was fetched last, if it may be used where no server responds, and is whole.
    pub(crate) fn last_good(&self, unserved: Unserved) -> Result<LastGood, NotFetched> {
        let Unserved { why, is_silence } = unserved;
        if !(is_silence && self.settings.fetch.last_good) {
            return Err(why);
        }
        let NotFetched { mut passed_over, failure } = why;
        passed_over.push(failure);
        let nothing = |why: &str| {
            let message =
                format!("no server responded, and the last good bundle can't be used: {why}");
            Failure::new(
                Cause::Fetch,
                message,
                "check that a server can be reached, then start again",
            )
        };
        let verified = match &self.kept {
            None => Err(nothing("there is none on this node yet")),
            Some(kept) => kept.verify(self.settings, &self.trust),
        };
        let whole = verified.and_then(|verified| {
            let Verified { manifest, plan, .. } = &verified;
            let generations = self.bundles.check_generations("this node", 0, manifest, plan);
            generations.map_err(|e| e.failure)?;
            let missing = self.bundles.missing(manifest);
            match missing.first() {
                _ if !plan.secret_env.is_empty() => {
                    Err(nothing("the plan has secrets, which aren't kept on this node"))
                }
                Some(path) => Err(nothing(&format!("{path} is damaged or missing"))),
                None if !self.bundles.holds_no_other(manifest) => {
                    Err(nothing("there are other files in its folder"))
                }
                None => Ok(verified),
            }
        });
        match whole {
            Err(failure) => Err(NotFetched { passed_over, failure }),
            Ok(verified) => Ok(LastGood { verified, passed_over }),
        }
    }
}

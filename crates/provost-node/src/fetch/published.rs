//! What was published for this node, from one server after the other.

use std::collections::BTreeMap;
use std::path::Path;

use futures_util::{StreamExt, TryStreamExt};
use provost_bundle::{FileEntry, Manifest, Pack};
use provost_record::Cause;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};

use super::NotFetched;
use super::answer::Word;
use super::bundles::Bundles;
use super::documents::{Documents, Verified};
use super::head_start::HeadStart;
use super::retry::{Miss, Unserved};
use super::source::Source;
use super::transfer::Wanted;
use crate::failure::Failure;
use crate::settings::Settings;

/// Up to so many files are fetched each by itself; more of them come as one pack, since every
/// file would cost a round trip.
const FEW: usize = 8;
/// How many files are under way at once.
const AT_ONCE: usize = 4;

/// What it takes to fetch, and what there is already.
pub(crate) struct Fetch<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) bundles: Bundles,
    pub(crate) kept: Option<Documents>,
    pub(crate) state: &'a Path,
}

/// What a server is asked for first: the documents, and the newest pack.
pub(crate) type Asked = ((Documents, Word), Option<Response>);

impl<'a> Fetch<'a> {
    pub(crate) fn new(settings: &'a Settings, state: &'a Path) -> Result<Self, Failure> {
        let (bundles, kept) = (Bundles::open(state)?, Documents::kept(state));
        Ok(Self { settings, bundles, kept, state })
    }

    /// Asks for what comes first.
    pub(crate) async fn ask(&self, source: &Source<'_>) -> Result<Asked, Miss> {
        let documents = Documents::fetch(source, self.settings, self.kept.as_ref());
        tokio::try_join!(documents, self.ahead(source))
    }

    /// Fetches all of it from one server, which may have been asked already.
    pub(crate) async fn from(
        &self,
        source: Source<'_>,
        head_start: Option<HeadStart>,
    ) -> Result<(Verified, Word), Miss> {
        let asked = match head_start {
            Some(taken) => taken.asked().await,
            None => None,
        };
        let asked = match asked {
            Some(asked) => asked,
            None => self.ask(&source).await,
        };
        let ((documents, word), ahead) = asked?;
        let miss = match self.take(&source, &documents, ahead).await {
            Ok(verified) => return Ok((verified, word)),
            Err(miss) if miss.is_torn() => miss,
            Err(miss) => return Err(miss),
        };
        // What doesn't fit together may be of two generations, if just then one was published; or
        // what is kept here is damaged. So once more, all of it.
        let (anew, word) = Documents::fetch(&source, self.settings, None).await?;
        if anew == documents {
            return Err(miss);
        }
        self.take(&source, &anew, None).await.map(|verified| (verified, word))
    }

    /// Asks for the newest pack while the documents are on their way, where nothing is there yet:
    /// that saves a cold start a round trip. Nothing of it is taken before it is known by which
    /// digest to verify it.
    async fn ahead(&self, source: &Source<'_>) -> Result<Option<Response>, Miss> {
        if !self.bundles.are_none() {
            return Ok(None);
        }
        // Whatever is wrong with it: it can be had by its digest.
        Ok(source.ask(Pack::NEWEST, HeaderMap::new(), &[StatusCode::OK]).await.ok())
    }

    /// Verifies `documents`, gets what they name to its place, and keeps them.
    async fn take(
        &self,
        source: &Source<'_>,
        documents: &Documents,
        ahead: Option<Response>,
    ) -> Result<Verified, Miss> {
        let verified = documents.verify(self.settings).map_err(Miss::torn)?;
        let Verified { manifest, plan, .. } = &verified;
        let generations = self.bundles.check_generations(source.base.as_str(), manifest, plan);
        generations.map_err(Miss::last)?;
        self.files(source, manifest, ahead).await?;
        self.bundles.remember_generations(manifest, plan).map_err(Miss::last)?;
        if self.kept.as_ref() != Some(documents) {
            let kept = documents.keep(self.state);
            kept.map_err(|e| Miss::last(self.bundles.disk("keeping manifest and plan", &e)))?;
        }
        Ok(verified)
    }

    /// Gets the manifest's files to their place: what is there already stays, few come one by
    /// one, many as the pack.
    async fn files(
        &self,
        source: &Source<'_>,
        manifest: &Manifest,
        ahead: Option<Response>,
    ) -> Result<(), Miss> {
        let bundles = &self.bundles;
        let missing = bundles.missing(manifest);
        if missing.is_empty() && bundles.holds_no_other(manifest) {
            return Ok(());
        }
        let new = bundles.begin().map_err(Miss::last)?;
        let few = if bundles.has_current() { FEW } else { 1 };
        if missing.len() > few {
            self.pack(source, manifest, ahead, new.path()).await?;
        } else {
            bundles.take_over(manifest, &missing, new.path()).map_err(Miss::last)?;
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
        bundles.switch_to(new).map_err(Miss::last)?;
        Ok(())
    }

    /// Gets one content to the places of `entries`, which all have it.
    async fn object(
        &self,
        source: &Source<'_>,
        entries: &[&FileEntry],
        into: &Path,
    ) -> Result<(), Miss> {
        let Some(first) = entries.first() else { return Ok(()) };
        let (name, path) = (first.path.as_str(), first.object_path());
        let wanted = Wanted { name, path, size: first.size, sha256: first.sha256 };
        wanted.transfer(source, &self.bundles, None).await?;
        self.bundles.place(&first.sha256, entries, into).map_err(Miss::last)
    }

    async fn pack(
        &self,
        source: &Source<'_>,
        manifest: &Manifest,
        ahead: Option<Response>,
        into: &Path,
    ) -> Result<(), Miss> {
        let path = manifest.pack.path();
        let url = source.url(&path);
        let (size, sha256) = (manifest.pack.size, manifest.pack.sha256);
        let wanted = Wanted { name: &manifest.pack.path(), path, size, sha256 };
        let file = wanted.transfer(source, &self.bundles, ahead).await?;
        // Unpacking is work for the processor and the disk; signals are heeded meanwhile.
        let (manifest, into) = (manifest.clone(), into.to_owned());
        let unpacked =
            tokio::task::spawn_blocking(move || provost_bundle::unpack(file, &manifest, &into));
        match unpacked.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(e)) => {
                let cause = if e.is_disk() { Cause::Config } else { Cause::Verify };
                Err(Miss::last(Failure::new(
                    cause,
                    format!("{}, at {url}", provost_record::wording::error_chain(&e)),
                    e.hint(),
                )))
            }
            Err(e) => {
                let e = std::io::Error::other(e);
                Err(Miss::last(self.bundles.disk("unpacking the pack", &e)))
            }
        }
    }

    /// What was fetched last, if it may be used where no server answers, and is whole.
    pub(crate) fn last_good(
        &self,
        unserved: Unserved,
    ) -> Result<(Verified, Word, Vec<Failure>, Option<String>), NotFetched> {
        let Unserved { mut passed_over, failure, is_silence } = unserved;
        if !(is_silence && self.settings.fetch.last_good) {
            return Err(NotFetched { passed_over, failure });
        }
        passed_over.push(failure);
        let nothing = |why: &str| {
            let message =
                format!("no server answers, and the last good bundle can't be used: {why}");
            Failure::new(Cause::Fetch, message, "see that a server can be reached, and start again")
        };
        let verified = match &self.kept {
            None => Err(nothing("there is none on this node yet")),
            Some(kept) => kept.verify(self.settings),
        };
        let whole = verified.and_then(|verified| {
            let Verified { manifest, plan, .. } = &verified;
            self.bundles.check_generations("this node", manifest, plan)?;
            let missing = self.bundles.missing(manifest);
            match missing.first() {
                Some(path) => Err(nothing(&format!("{path} is damaged or missing"))),
                None if !self.bundles.holds_no_other(manifest) => {
                    Err(nothing("there are other files beside it"))
                }
                None => Ok(verified),
            }
        });
        match whole {
            Err(failure) => Err(NotFetched { passed_over, failure }),
            Ok(verified) => {
                let offline = "no server answers: the last good bundle and plan are used";
                Ok((verified, Word::default(), passed_over, Some(offline.to_owned())))
            }
        }
    }
}

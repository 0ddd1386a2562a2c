//! Fetching what is published for this node, and verifying it.

mod answer;
mod bundles;
mod documents;
mod file;
mod retry;
mod source;
mod transfer;
mod version;
pub(crate) mod xcat;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use futures_util::{StreamExt, TryStreamExt};
use jiff::Timestamp;
use provost_bundle::{FileEntry, Limit, Manifest, Verdict};
use provost_plan::Plan;
use provost_plan::mypostscript::MyPostscript;
use provost_record::Cause;
use reqwest::{Client, Url};

use crate::console::Console;
use crate::failure::Failure;
use crate::settings::{Paths, Settings};
use answer::Word;
use bundles::Bundles;
use documents::{Documents, Verified};
pub(crate) use file::{FetchArgs, main};
use retry::{Miss, Patience, Served, Unserved};
pub(crate) use source::{Source, broken, http_date};
use transfer::Wanted;

/// Up to so many files are fetched each by itself; more of them come as one pack, since every
/// file would cost a round trip.
const FEW: usize = 8;
/// How long servers may be silent before what was fetched last is used, where it may be.
const SILENCE: Limit = Limit::seconds(60);
/// How many files are under way at once.
const AT_ONCE: usize = 4;

/// What was fetched, verified, and is in its place.
pub(crate) struct Fetched {
    pub(crate) manifest: Manifest,
    pub(crate) plan: Plan,
    /// What the plan is made of where the management node is xCAT's. Its preamble is still to be
    /// evaluated, which gives the plan its environment.
    pub(crate) mypostscript: Option<MyPostscript>,
    /// Where the scripts are.
    pub(crate) folder: PathBuf,
    /// Who served it, if anybody did.
    pub(crate) server: Option<Url>,
    /// The servers that did not serve.
    pub(crate) passed_over: Vec<Failure>,
    /// Where nothing was fetched: what is used instead.
    pub(crate) offline: Option<String>,
    /// Why the management node wants nothing to run.
    pub(crate) hold: Option<String>,
    /// When an admin released this node.
    pub(crate) released: Option<Timestamp>,
}

/// The manifest and the plan as they were fetched last, by name. Nobody has looked at them since.
pub(crate) fn kept_texts(state: &Path) -> Vec<(&'static str, String)> {
    Documents::kept(state).into_iter().flat_map(Documents::into_texts).collect()
}

/// Why nothing was fetched.
pub(crate) struct NotFetched {
    pub(crate) passed_over: Vec<Failure>,
    pub(crate) failure: Failure,
}

impl From<Failure> for NotFetched {
    fn from(failure: Failure) -> Self {
        Self { passed_over: Vec::new(), failure }
    }
}

/// Fetches, for the run with the id `run`, from the first server that serves all of it well.
pub(crate) async fn fetch(
    settings: &Settings,
    client: &Client,
    paths: &Paths,
    run: &str,
    console: &mut Console,
) -> Result<Fetched, NotFetched> {
    let unsigned = settings.trust.is_unsigned();
    if let Some(xcat) = settings.xcat.as_ref().filter(|_| unsigned) {
        return xcat::fetch((settings, xcat), client, paths, run, console).await;
    }
    let fetch = Fetch {
        settings,
        bundles: Bundles::open(&paths.state)?,
        kept: Documents::kept(&paths.state),
        state: &paths.state,
    };
    let say = |text: &str| console.say(&format!("fetch: {text}"));
    let deadline = settings.fetch.deadline;
    let may_do_without = settings.fetch.last_good && fetch.kept.is_some();
    let silence = if may_do_without { SILENCE } else { deadline };
    let patience = Patience { deadline, silence };
    let served = retry::through(&settings.servers, patience, say, |server| {
        fetch.from(Source {
            client,
            base: server,
            token: settings.token.as_ref(),
            run,
            is_xcat: false,
        })
    });
    let mut by = None;
    let (verified, word, passed_over, offline) = match served.await {
        Ok(Served { what: (verified, word), server, passed_over }) => {
            by = Some(server);
            (verified, word, passed_over, None)
        }
        Err(unserved) => fetch.last_good(unserved)?,
    };
    let Verified { manifest, plan, verdict } = verified;
    if verdict == Verdict::Unsigned {
        console.say(UNSIGNED);
    }
    let mut folder = fetch.bundles.current();
    if settings.xcat.is_some() {
        xcat::mirror(&manifest, &folder, paths)?;
        folder.clone_from(&paths.xcatpost);
    }
    let Word { hold, released } = word;
    let mypostscript = None;
    Ok(Fetched {
        manifest,
        plan,
        mypostscript,
        folder,
        server: by,
        passed_over,
        offline,
        hold,
        released,
    })
}

const UNSIGNED: &str = "WARNING: [trust] says `unsigned = true`: anybody on the way could have \
                        changed what runs here as root";

struct Fetch<'a> {
    settings: &'a Settings,
    bundles: Bundles,
    kept: Option<Documents>,
    state: &'a Path,
}

impl Fetch<'_> {
    /// Fetches all of it from one server.
    async fn from(&self, source: Source<'_>) -> Result<(Verified, Word), Miss> {
        let (documents, word) =
            Documents::fetch(&source, self.settings, self.kept.as_ref()).await?;
        let miss = match self.take(&source, &documents).await {
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
        self.take(&source, &anew).await.map(|verified| (verified, word))
    }

    /// Verifies `documents`, gets what they name to its place, and keeps them.
    async fn take(&self, source: &Source<'_>, documents: &Documents) -> Result<Verified, Miss> {
        let verified = documents.verify(self.settings).map_err(Miss::torn)?;
        let Verified { manifest, plan, .. } = &verified;
        let generations = self.bundles.check_generations(source.base.as_str(), manifest, plan);
        generations.map_err(Miss::last)?;
        self.files(source, manifest).await?;
        self.bundles.remember_generations(manifest, plan).map_err(Miss::last)?;
        if self.kept.as_ref() != Some(documents) {
            let kept = documents.keep(self.state);
            kept.map_err(|e| Miss::last(self.bundles.disk("keeping manifest and plan", &e)))?;
        }
        Ok(verified)
    }

    /// Gets the manifest's files to their place: what is there already stays, few come one by
    /// one, many as the pack.
    async fn files(&self, source: &Source<'_>, manifest: &Manifest) -> Result<(), Miss> {
        let bundles = &self.bundles;
        let missing = bundles.missing(manifest);
        if missing.is_empty() && bundles.holds_no_other(manifest) {
            return Ok(());
        }
        let new = bundles.begin().map_err(Miss::last)?;
        let few = if bundles.has_current() { FEW } else { 1 };
        if missing.len() > few {
            self.pack(source, manifest, new.path()).await?;
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
        wanted.transfer(source, &self.bundles).await?;
        self.bundles.place(&first.sha256, entries, into).map_err(Miss::last)
    }

    async fn pack(
        &self,
        source: &Source<'_>,
        manifest: &Manifest,
        into: &Path,
    ) -> Result<(), Miss> {
        let path = manifest.pack.path();
        let url = source.url(&path);
        let (size, sha256) = (manifest.pack.size, manifest.pack.sha256);
        let wanted = Wanted { name: &manifest.pack.path(), path, size, sha256 };
        let file = wanted.transfer(source, &self.bundles).await?;
        // Unpacking is work for the processor and the disk; signals are heeded meanwhile.
        let (manifest, into) = (manifest.clone(), into.to_owned());
        let unpacked =
            tokio::task::spawn_blocking(move || provost_bundle::unpack(file, &manifest, &into));
        match unpacked.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(e)) => {
                let cause = if e.is_disk() { Cause::Config } else { Cause::Verify };
                Err(Miss::last(Failure::new(cause, format!("{e}, at {url}"), e.hint())))
            }
            Err(e) => {
                let e = std::io::Error::other(e);
                Err(Miss::last(self.bundles.disk("unpacking the pack", &e)))
            }
        }
    }

    /// What was fetched last, if it may be used where no server answers, and is whole.
    fn last_good(
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

/// How long ago something was published, so that a server that stands still is noticed.
pub(crate) fn age(created: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - created.as_second();
    let count = |n: i64, unit: &str| format!("{n} {unit}{}", if n == 1 { "" } else { "s" });
    let span = match seconds.abs() {
        s @ ..60 => count(s, "second"),
        s @ 60..3600 => count(s / 60, "minute"),
        s @ 3600..86_400 => count(s / 3600, "hour"),
        s => count(s / 86_400, "day"),
    };
    match seconds {
        0.. => format!("{span} ago"),
        _ => format!("{span} ahead of this node's clock"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_its_largest_unit() {
        let at = |s| Timestamp::from_second(s).unwrap();
        let told = [0, 1, 90, 7300, 3 * 86_400 + 5].map(|s| age(at(0), at(s)));
        assert_eq!(
            told,
            ["0 seconds ago", "1 second ago", "1 minute ago", "2 hours ago", "3 days ago"]
        );
        assert_eq!(age(at(7200), at(0)), "2 hours ahead of this node's clock");
    }
}

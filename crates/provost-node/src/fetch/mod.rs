//! Fetching what is published for this node, and verifying it.

pub mod answer;
pub mod bundles;
pub mod documents;
pub mod error;
pub mod head_start;
pub mod mounts;
pub mod published;
pub mod retry;
pub mod source;
pub mod transfer;
pub mod version;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use provost_bundle::{Manifest, Verdict};
use provost_plan::Plan;
use provost_plan::mypostscript::MyPostscript;
use reqwest::{Client, Url};

use crate::failure::Failure;
use crate::observe::console::Console;
use crate::settings::{Paths, Settings};
use answer::Directives;
use documents::{Documents, Verified};
pub use error::{FetchError, NotFetched};
pub use head_start::HeadStart;
use published::{Fetch, LastGood};
use retry::{RetryLimits, Served};
pub use source::{Source, broken, http_date};

/// What was fetched, verified, and is in its place.
pub struct Fetched {
    pub manifest: Manifest,
    pub plan: Plan,
    /// What the plan is made of where the management node is xCAT's. Its preamble is still to be
    /// evaluated, which gives the plan its environment.
    pub mypostscript: Option<MyPostscript>,
    /// Where the scripts are.
    pub folder: PathBuf,
    /// Who served it, if anybody did.
    pub server: Option<Url>,
    /// The servers that did not serve.
    pub passed_over: Vec<Failure>,
    /// Where nothing was fetched: what is used instead.
    pub offline: Option<String>,
    /// Why the management node wants nothing to run.
    pub hold: Option<String>,
    /// When an admin released this node.
    pub released: Option<Timestamp>,
}

/// The manifest and the plan as they were fetched last, by name. Nobody has looked at them since.
pub fn kept_texts(state: &Path) -> Vec<(&'static str, String)> {
    Documents::kept(state).into_iter().flat_map(Documents::into_texts).collect()
}

/// Fetches, for the run with the id `run`, from the first server that serves all of it well. The
/// first one may have been asked already.
pub async fn fetch(
    settings: &Settings,
    client: &Client,
    paths: &Paths,
    run: &str,
    mut head_start: Option<HeadStart>,
    console: &mut Console,
) -> Result<Fetched, NotFetched> {
    if let Some(xcat) = settings.xcat.as_ref().filter(|_| settings.takes_xcats_files()) {
        return crate::xcat::fetch::fetch((settings, xcat), client, paths, run, console).await;
    }
    let fetch = Fetch::new(settings, &paths.state)?;
    let say = |text: &str| console.say(&format!("fetch: {text}"));
    let limits = RetryLimits::of(settings, fetch.kept.is_some());
    let served = retry::try_servers(&settings.servers, limits, say, |server| {
        let head_start = head_start.take_if(|taken| taken.is_of(server));
        fetch.from(
            Source::published(settings, client, server, run),
            head_start.map(HeadStart::answers),
        )
    });
    let mut by = None;
    let (verified, directives, passed_over, offline) = match served.await {
        Ok(Served { what: (verified, directives), server, passed_over }) => {
            by = Some(server);
            (verified, directives, passed_over, None)
        }
        Err(unserved) => {
            let LastGood { verified, passed_over } = fetch.last_good(unserved)?;
            (verified, Directives::default(), passed_over, Some(OFFLINE.to_owned()))
        }
    };
    let Verified { manifest, plan, verdict } = verified;
    if verdict == Verdict::Unsigned {
        console.say(UNSIGNED);
    }
    let mut folder = fetch.bundles.current();
    if settings.xcat.is_some() {
        crate::xcat::fetch::mirror(&manifest, &folder, paths)?;
        folder.clone_from(&paths.xcatpost);
    }
    let Directives { hold, released } = directives;
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

const OFFLINE: &str = "no server answers: the last good bundle and plan are used";

pub(crate) const UNSIGNED: &str = "WARNING: [trust] says `unsigned = true`: anybody on the way could have \
                        changed what runs here as root";

/// How long ago something was published, so that a server that stands still is noticed.
pub fn age(created: Timestamp, now: Timestamp) -> String {
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

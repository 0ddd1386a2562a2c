//! Fetching from an xCAT management node, as it is: the scripts by its web server's listings, and
//! what this node runs of them from its `mypostscript`.

pub mod crawl;
pub mod listing;
pub mod mypostscript;
pub mod next;
pub mod preamble;
pub mod refusals;
pub mod scripts;
pub mod xcatd;

use std::collections::BTreeMap;

use provost_bundle::{Digest, Manifest, Pack};
use provost_plan::Plan;
use provost_plan::mypostscript::{List, MyPostscript};
use provost_record::Cause;
use reqwest::Client;

use crate::failure::Failure;
use crate::fetch::retry::{self, RetryLimits, Served, Unserved};
use crate::fetch::source::Source;
use crate::fetch::{FetchError, Fetched, NotFetched, UNSIGNED};
use crate::observe::console::Console;
use crate::settings::{Paths, Settings, Xcat};
use crawl::{Harvest, crawl};
use mypostscript::Own;
pub use mypostscript::mypostscript;
pub use preamble::evaluate;
pub use refusals::Refusals;
pub(crate) use scripts::mirror;
use scripts::{Kept, Scripts};

/// Fetches from the first server that serves all of it.
pub(crate) async fn fetch(
    (settings, xcat): (&Settings, &Xcat),
    client: &Client,
    paths: &Paths,
    run: &str,
    console: &mut Console,
) -> Result<Fetched, NotFetched> {
    let scripts = Scripts::open(paths)?;
    let refusals = Refusals::default();
    let say = |text: &str| {
        console.say(&format!("fetch: {text}"));
        if refusals.is_any() {
            console.say("fetch: an xcatd that refuses connections for a minute is given up");
        }
    };
    let limits = RetryLimits::of(settings, scripts.are_kept());
    let served = retry::try_servers(&settings.servers, limits, say, |server| {
        let source = Source { client, base: server, token: None, run, is_xcat: true };
        from(source, settings, xcat, &scripts, &refusals)
    });
    let served = served.await;
    console.say(UNSIGNED);
    let (kept, read, server, passed_over, offline) = match served {
        Ok(Served { what: (harvest, own), server, passed_over }) => {
            if settings.ca.is_none() && own.is_from_xcatd {
                console.say(
                    "WARNING: no `ca` is set under [fetch]: anybody could have answered as xcatd",
                );
            }
            for what in &harvest.left_out {
                console.say(&format!("fetch: left out: {what}"));
            }
            let kept = scripts.switch(own.text, harvest.scripts)?;
            (kept, own.read, Some(server), passed_over, None)
        }
        Err(Unserved { why, is_silence }) => {
            if !((is_silence || refusals.is_any()) && settings.fetch.last_good) {
                return Err(why);
            }
            let NotFetched { mut passed_over, failure } = why;
            passed_over.push(failure);
            match last_good(scripts) {
                Ok((kept, read)) => (kept, read, None, passed_over, Some(OFFLINE.to_owned())),
                Err(failure) => return Err(NotFetched { passed_over, failure }),
            }
        }
    };
    Ok(Fetched {
        manifest: manifest(kept),
        plan: plan(&settings.node, &read),
        mypostscript: Some(read),
        folder: paths.xcatpost.clone(),
        server,
        passed_over,
        offline,
        hold: None,
        released: None,
    })
}

const OFFLINE: &str = "no server answers: the last good scripts and mypostscript are used";

async fn from(
    source: Source<'_>,
    settings: &Settings,
    xcat: &Xcat,
    scripts: &Scripts,
    refusals: &Refusals,
) -> Result<(Harvest, Own), FetchError> {
    let root = root(xcat);
    let own = mypostscript(&source, settings, xcat, refusals);
    tokio::try_join!(crawl(&source, &root, scripts), own)
}

/// Where the scripts are under the web server.
fn root(xcat: &Xcat) -> String {
    format!("{}/postscripts/", xcat.install_dir)
}

/// How many names the listing of the scripts' folder has.
pub async fn count(source: &Source<'_>, xcat: &Xcat) -> Result<usize, FetchError> {
    Ok(crawl::list(source, &root(xcat)).await?.len())
}

/// What was fetched last, if it is whole.
fn last_good(scripts: Scripts) -> Result<(Kept, MyPostscript), Failure> {
    let unusable = |why: String| {
        let message = format!("no server answers, and the last good scripts can't be used: {why}");
        Failure::new(Cause::Fetch, message, "see that a server can be reached, and start again")
    };
    let kept = scripts.last_good().map_err(unusable)?;
    let read = MyPostscript::parse(&kept.mypostscript).map_err(|e| unusable(e.to_string()))?;
    Ok((kept, read))
}

/// A manifest that nobody has signed, or counted.
fn manifest(kept: Kept) -> Manifest {
    Manifest {
        format: Manifest::FORMAT,
        generation: 0,
        created: provost_record::now(),
        key: String::new(),
        pack: Pack { sha256: Digest::of(b""), size: 0 },
        files: kept.scripts.into_iter().map(|script| script.entry).collect(),
    }
}

/// What the lists say. The environment comes when the preamble is evaluated.
fn plan(node: &str, read: &MyPostscript) -> Plan {
    Plan {
        format: Plan::FORMAT,
        node: node.to_owned(),
        generation: 0,
        runbootscripts: false,
        env: BTreeMap::new(),
        postscripts: read.steps(List::Postscripts, None),
        postbootscripts: read.steps(List::Postbootscripts, None),
    }
}

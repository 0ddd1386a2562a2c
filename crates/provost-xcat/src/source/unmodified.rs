//! The scripts and the `mypostscript` of an xCAT management node as it is, as a [`Source`].

use futures_util::future::LocalBoxFuture;
use provost_bundle::{Digest, Manifest, Pack};
use provost_exec::{Orders, Supervisor};
use provost_node::failure::Failure;
use provost_node::fetch::published::UNSIGNED;
use provost_node::fetch::retry::{self, RetryLimits, Served, StillTrying, Unserved};
use provost_node::fetch::server::Server;
use provost_node::fetch::source::{Connection, Fetched, Source, unless_stopped};
use provost_node::fetch::{FetchError, NotFetched};
use provost_node::settings::{Settings, Xcat};
use provost_plan::Plan;
use provost_plan::mypostscript::MyPostscript;
use provost_record::Cause;
use tokio::sync::watch;
use tokio::time::Instant;

use super::crawl::{Crawl, crawl, too_large};
use super::environment::{add_environment, is_debugged, of_caller};
use super::mypostscript::{ServedMypostscript, mypostscript};
use super::preamble::Evaluation;
use super::refusals::Refusals;
use super::scripts::{ScriptsFolder, StoredFetch};
use super::tree::{folder, web_server};

/// What is used where no server responds.
const OFFLINE: &str = "no server responded: using the last good scripts and mypostscript";
/// As `UNSIGNED`, of what came from xcatd.
const UNCHECKED: &str =
    "WARNING: no `ca` is set under [fetch]: any machine could have answered as xcatd";

/// The web servers and the xcatds of the management nodes.
pub(crate) struct UnmodifiedScripts {
    connection: Connection,
    xcat: Xcat,
}

impl UnmodifiedScripts {
    pub(crate) fn new(connection: Connection, xcat: Xcat) -> Self {
        Self { connection, xcat }
    }

    /// Fetches from the first server that serves all of it.
    async fn fetch_files(
        &self,
        still_trying: &mut dyn FnMut(StillTrying),
    ) -> Result<Fetched, NotFetched> {
        let Connection { settings, client, paths, .. } = &self.connection;
        let scripts = ScriptsFolder::open(paths)?;
        let refusals = Refusals::default();
        let still_trying = |trying: StillTrying| {
            still_trying(trying);
            if refusals.is_any() {
                tracing::info!(
                    "fetch: giving up on an xcatd that refuses connections for a minute"
                );
            }
        };
        let limits = RetryLimits::of(settings, scripts.has_stored());
        let answered = Instant::now() + limits.answer().duration();
        let served =
            retry::try_servers(&settings.servers, limits, still_trying, |base, deadline| {
                let (server, deadline) = (web_server(client, base), deadline.min(answered));
                fetch_from(server, settings, &self.xcat, &scripts, &refusals, deadline)
            });
        let served = served.await;
        tracing::warn!("{UNSIGNED}");
        match served {
            Ok(Served { what: (crawl, own), server, passed_over }) => {
                if settings.ca.is_none() && own.is_from_xcatd {
                    tracing::warn!("{UNCHECKED}");
                }
                for what in &crawl.left_out {
                    tracing::warn!("fetch: left out: {what}");
                }
                let stored = scripts.switch(own.text, crawl.scripts)?;
                let fetched = self.fetched(stored, own.lists);
                Ok(Fetched { server: Some(server), passed_over, ..fetched })
            }
            Err(Unserved { why, is_silence }) => {
                if !((is_silence || refusals.is_any()) && settings.fetch.last_good) {
                    return Err(why);
                }
                let NotFetched { mut passed_over, failure } = why;
                passed_over.push(failure);
                match last_good(scripts) {
                    Ok((stored, lists)) => {
                        let offline = Some(OFFLINE.to_owned());
                        Ok(Fetched { passed_over, offline, ..self.fetched(stored, lists) })
                    }
                    Err(failure) => Err(NotFetched { passed_over, failure }),
                }
            }
        }
    }

    /// As it was fetched; the environment comes when the preamble is evaluated.
    fn fetched(&self, stored: StoredFetch, lists: MyPostscript) -> Fetched {
        let Connection { settings, paths, .. } = &self.connection;
        Fetched {
            manifest: manifest(stored),
            plan: Plan::empty(&settings.node),
            sections: Some(lists),
            folder: paths.xcatpost.clone(),
            server: None,
            served: Some(format!("/{}", folder(&self.xcat).trim_end_matches('/'))),
            shows_commands: false,
            passed_over: Vec::new(),
            offline: None,
            hold: None,
            released: None,
        }
    }

    /// Evaluates the preamble into the environment of the plan.
    async fn evaluate(
        &self,
        mut fetched: Fetched,
        executor: &mut Supervisor,
        orders: &mut watch::Receiver<Orders>,
    ) -> Result<Fetched, NotFetched> {
        let Connection { settings, paths, .. } = &self.connection;
        let Some(sections) = &fetched.sections else { return Ok(fetched) };
        let evaluation = Evaluation {
            preamble: &sections.preamble,
            node: &settings.node,
            environment: of_caller(settings),
            folder: &fetched.folder,
            state: &paths.state,
            limit: settings.run.timeout.duration(),
        };
        let env = match evaluation.run(executor, orders).await {
            Ok(env) => env,
            Err(failure) => {
                return Err(NotFetched { passed_over: fetched.passed_over, failure });
            }
        };
        fetched.plan.runbootscripts = env.get("RUNBOOTSCRIPTS").is_some_and(|v| is_yes(v));
        fetched.plan.env = env;
        let server = fetched.server.as_ref();
        add_environment(&mut fetched.plan, &fetched.folder, &self.xcat, &self.connection, server);
        fetched.shows_commands = is_debugged(&fetched.plan.env);
        Ok(fetched)
    }
}

impl Source for UnmodifiedScripts {
    fn fetch<'a>(
        &'a mut self,
        executor: &'a mut Supervisor,
        orders: &'a mut watch::Receiver<Orders>,
        still_trying: &'a mut dyn FnMut(StillTrying),
    ) -> LocalBoxFuture<'a, Result<Fetched, NotFetched>> {
        Box::pin(async {
            let fetched = unless_stopped(orders, self.fetch_files(still_trying)).await??;
            self.evaluate(fetched, executor, orders).await
        })
    }
}

async fn fetch_from(
    server: Server<'_>,
    settings: &Settings,
    xcat: &Xcat,
    scripts: &ScriptsFolder,
    refusals: &Refusals,
    deadline: Instant,
) -> Result<(Crawl, ServedMypostscript), FetchError> {
    // One after the other: a crawl that fails would take back what xcatd has been asked.
    let crawl = crawl(&server, &folder(xcat), xcat, scripts).await?;
    let own = mypostscript(&server, settings, xcat, refusals, deadline).await?;
    let left_out = own.lists.scripts().find(|script| crawl.too_large.contains(script));
    match left_out {
        Some(script) => {
            let message =
                format!("fetching {script}, which is in the node's lists: {}", too_large(xcat));
            let hint = "move big files elsewhere: that folder is for scripts; or raise `max_file_mib` and `max_total_mib` \
                        under [source]";
            Err(FetchError::give_up(Failure::new(Cause::Fetch, message, hint)))
        }
        None => Ok((crawl, own)),
    }
}

/// What was fetched last, if all of it is still there.
fn last_good(scripts: ScriptsFolder) -> Result<(StoredFetch, MyPostscript), Failure> {
    let unusable = |why: String| {
        let message =
            format!("no server responded, and the last good scripts can't be used: {why}");
        Failure::new(Cause::Fetch, message, "check that a server can be reached, then start again")
    };
    let stored = scripts.last_good().map_err(unusable)?;
    let lists = MyPostscript::parse(&stored.mypostscript).map_err(|e| unusable(e.to_string()))?;
    Ok((stored, lists))
}

/// A manifest that isn't signed and has no generation.
fn manifest(stored: StoredFetch) -> Manifest {
    Manifest {
        format: Manifest::FORMAT,
        generation: 0,
        made: None,
        expires: None,
        plans_since: None,
        refresh_key: None,
        tls: None,
        revoked: Vec::new(),
        created: provost_record::now(),
        key: String::new(),
        key_link: None,
        rehearsal: false,
        pack: Pack { sha256: Digest::of(b""), size: 0 },
        files: stored.scripts.into_iter().map(|script| script.entry).collect(),
    }
}

fn is_yes(value: &str) -> bool {
    ["1", "yes", "y"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

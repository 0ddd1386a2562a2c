//! What `provostctl publish` made, as a [`Source`].

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use jiff::Timestamp;
use provost_api::headers;
use provost_api::published::plan;
use provost_bundle::Verdict;
use provost_exec::{Orders, Supervisor};
use provost_plan::Plan;
use provost_record::Service;
use tokio::sync::watch;

use super::answer::Directives;
use super::documents::Verified;
use super::download::{Fetch, LastGood};
use super::error::NotFetched;
use super::prefetch::Prefetch;
use super::retry::{self, RetryLimits, Served, StillTrying};
use super::server::Server;
use super::source::{Connection, Fetched, Source, unless_stopped};

/// Where programs are looked for before the bundle, where the plan doesn't say.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// How long one server may take to say whether this node was released.
const ANSWER: Duration = Duration::from_secs(5);
/// Said at every run that trusts what isn't signed.
pub const UNSIGNED: &str = "WARNING: [trust] says `unsigned = true`: anybody on the network path could have \
                            changed what runs here as root";

/// Said at every run that sends a token where others can read it.
const PLAIN_HTTP: &str = "WARNING: plan, token and reports go by plain HTTP: anybody on the network can read and change \
                          them (provost check)";

/// Said where nothing was fetched.
const OFFLINE: &str = "no server responded: using the last good bundle and plan";

/// The servers that have the published files.
pub struct Published {
    connection: Connection,
    prefetch: Option<Prefetch>,
}

impl Published {
    /// The servers of the settings.
    pub fn new(connection: Connection) -> Self {
        Self { connection, prefetch: None }
    }

    /// [`Source::fetch`], which needs no executor here.
    ///
    /// # Errors
    ///
    /// The same.
    pub async fn fetch_published(
        &mut self,
        orders: &mut watch::Receiver<Orders>,
        still_trying: &mut dyn FnMut(StillTrying),
    ) -> Result<Fetched, NotFetched> {
        unless_stopped(orders, self.fetch_from_servers(still_trying)).await?
    }

    async fn fetch_from_servers(
        &mut self,
        still_trying: &mut dyn FnMut(StillTrying),
    ) -> Result<Fetched, NotFetched> {
        let Connection { settings, client, paths, run, service } = &self.connection;
        let fetch = Fetch::new(settings, &paths.state)?;
        let limits = RetryLimits::of(settings, fetch.kept.is_some());
        let (prefetch, mut has_failed) = (&mut self.prefetch, false);
        let served = retry::try_servers(&settings.servers, limits, still_trying, |server, _| {
            let prefetch = prefetch.take_if(|asked| asked.is_of(server));
            let one_by_one = std::mem::replace(&mut has_failed, true);
            let server = Server { one_by_one, ..Server::published(settings, client, server, run) };
            let served = fetch.from(server, prefetch.map(Prefetch::answers));
            async move {
                let error = match served.await {
                    Ok(served) => return Ok(served),
                    Err(error) => error,
                };
                // Somebody who runs a script by hand waits there.
                Err(if *service == Service::Run { error } else { error.awaited() })
            }
        });
        let served = served.await;
        client.transport().stop_asking();
        let is_plain = |server| client.transport().private(server).scheme() == "http";
        if settings.token.is_some() && settings.servers.iter().any(is_plain) {
            tracing::warn!("{PLAIN_HTTP}");
        }
        let (verified, directives, server, passed_over, offline) = match served {
            Ok(Served { what: (verified, directives), server, passed_over }) => {
                (verified, directives, Some(server), passed_over, None)
            }
            Err(unserved) => {
                let LastGood { verified, passed_over } = fetch.last_good(unserved)?;
                let offline = Some(OFFLINE.to_owned());
                (verified, Directives::default(), None, passed_over, offline)
            }
        };
        let Verified { manifest, mut plan, verdict, .. } = verified;
        if verdict == Verdict::Unsigned {
            tracing::warn!("{UNSIGNED}");
        }
        let folder = fetch.bundles.current();
        add_to_path(&mut plan, &folder);
        let Directives { hold, released, .. } = directives;
        Ok(Fetched {
            manifest,
            plan,
            sections: None,
            folder,
            server,
            served: None,
            shows_commands: false,
            passed_over,
            offline,
            hold,
            released,
        })
    }
}

/// Lets the scripts find each other as commands. The bundle comes last, so that one of them doesn't take
/// a command's place.
pub(super) fn add_to_path(plan: &mut Plan, folder: &Path) {
    let path = plan.env.get("PATH").map_or(PATH, String::as_str);
    let path = format!("{path}:{}", folder.display());
    plan.env.insert("PATH".to_owned(), path);
}

impl Source for Published {
    fn prefetch(&mut self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async {
            let Connection { settings, client, paths, run, .. } = &self.connection;
            let settings = Arc::clone(settings);
            self.prefetch = Prefetch::take(&settings, client, paths.state.clone(), run).await;
        })
    }

    fn released(&mut self) -> LocalBoxFuture<'_, Option<Timestamp>> {
        // What was asked for before has no value by the time that somebody releases the node.
        self.prefetch = None;
        Box::pin(async {
            let Connection { settings, client, run, .. } = &self.connection;
            for server in &settings.servers {
                let url = format!("{}{}", client.transport().private(server), plan(&settings.node));
                let mut request =
                    client.private().get(url).header(headers::RUN, run).timeout(ANSWER);
                if let Some(token) = &settings.token {
                    request = request.bearer_auth(&token.0);
                }
                let Ok(response) = request.send().await else { continue };
                let released = response.headers().get(headers::RELEASED);
                if let Some(at) = released.and_then(|at| at.to_str().ok()?.parse().ok()) {
                    return Some(at);
                }
            }
            None
        })
    }

    fn fetch<'a>(
        &'a mut self,
        _executor: &'a mut Supervisor,
        orders: &'a mut watch::Receiver<Orders>,
        still_trying: &'a mut dyn FnMut(StillTrying),
    ) -> LocalBoxFuture<'a, Result<Fetched, NotFetched>> {
        Box::pin(self.fetch_published(orders, still_trying))
    }
}

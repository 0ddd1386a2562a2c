//! Where a node's scripts and its plan come from.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use jiff::Timestamp;
use provost_bundle::Manifest;
use provost_exec::{Orders, Supervisor};
use provost_plan::Plan;
use provost_plan::mypostscript::MyPostscript;
use provost_record::{Cause, Service};
use reqwest::Url;
use tokio::sync::watch;

use super::error::NotFetched;
use super::retry::StillTrying;
use crate::failure::Failure;
use crate::settings::{Paths, Settings};
use provost_http::Client;

/// One way to get a node's scripts and its plan: what `provostctl publish` made, or what another
/// kind of management node has.
pub trait Source {
    /// Sends the first request, for which nothing needs to be known or recorded before. Its answer is
    /// taken up by [`fetch`](Self::fetch).
    fn prefetch(&mut self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async {})
    }

    /// When an admin released this node, where the management node knows that. Each server is asked
    /// once and for a short time: a node that is held has no other business there.
    fn released(&mut self) -> LocalBoxFuture<'_, Option<Timestamp>> {
        Box::pin(async { None })
    }

    /// Fetches and verifies all that the node needs, from the first server that serves all of it well.
    /// The plan is final: nothing changes it afterwards. A source whose plan has to be evaluated does
    /// that by `executor`. An order to stop ends it: see [`unless_stopped`]. `still_trying` is called
    /// once at most.
    ///
    /// # Errors
    ///
    /// Why no server served, with the servers that were passed over.
    fn fetch<'a>(
        &'a mut self,
        executor: &'a mut Supervisor,
        orders: &'a mut watch::Receiver<Orders>,
        still_trying: &'a mut dyn FnMut(StillTrying),
    ) -> LocalBoxFuture<'a, Result<Fetched, NotFetched>>;
}

/// Waits for `work`, which may be dropped at any await, unless the run is to stop.
///
/// # Errors
///
/// The failure of a run that was stopped while fetching.
pub async fn unless_stopped<T>(
    orders: &mut watch::Receiver<Orders>,
    work: impl Future<Output = T>,
) -> Result<T, Failure> {
    tokio::select! {
        done = work => Ok(done),
        stopped = orders.wait_for(|orders| orders.stop.is_some()) => {
            let signal = stopped.ok().and_then(|orders| orders.stop).unwrap_or("a signal");
            let message = format!("the run was ended by {signal} while fetching");
            Err(Failure::new(Cause::Interrupted, message, "start it again"))
        }
    }
}

/// What it takes to ask the servers, for one run.
#[derive(Clone)]
pub struct Connection {
    /// The node's settings, as far as they can be used.
    pub settings: Arc<Settings>,
    /// The one HTTP client of this process.
    pub client: Client,
    /// Where things are on this node.
    pub paths: Paths,
    /// What runs.
    pub service: Service,
    /// The run's id, by which the management node knows it.
    pub run: String,
}

/// What was fetched, verified, and is in its place.
pub struct Fetched {
    /// The scripts, each with its policy.
    pub manifest: Manifest,
    /// What the node runs, with the whole environment of its scripts.
    pub plan: Plan,
    /// The lists of the plan by their sections, where the management node has such.
    pub sections: Option<MyPostscript>,
    /// Where the scripts are.
    pub folder: PathBuf,
    /// The server that served it; none where nothing was fetched.
    pub server: Option<Url>,
    /// Where the management node has its scripts, if it serves them as they are.
    pub served: Option<String>,
    /// Whether shell scripts show each command that they run (`bash -x`).
    pub shows_commands: bool,
    /// Why each server that was asked before did not serve.
    pub passed_over: Vec<Failure>,
    /// Where nothing was fetched: what is used instead.
    pub offline: Option<String>,
    /// Why the management node wants nothing to run.
    pub hold: Option<String>,
    /// When an admin released this node, by the management node's clock.
    pub released: Option<Timestamp>,
}

impl Fetched {
    /// What was on this machine already.
    pub(crate) fn on_this_machine(manifest: Manifest, plan: Plan, folder: PathBuf) -> Self {
        Self {
            manifest,
            plan,
            sections: None,
            folder,
            server: None,
            served: None,
            shows_commands: false,
            passed_over: Vec::new(),
            offline: None,
            hold: None,
            released: None,
        }
    }
}

//! What xCAT's own scripts note on a node before and after postscripts run.

use std::io;

use futures_util::future::LocalBoxFuture;
use provost_node::fetch::source::Fetched;
use provost_node::observe::observer::{Observer, RunContext};
use provost_node::settings::{Paths, Xcat};
use provost_node::state::root::Root;
use provost_record::{ExitCode, Service};

use super::xcatinfo::{FIRST_BOOT_DONE, RunFacts, note};
use crate::commands::install::hand_over;

/// Keeps `xcatinfo` up to date, and the line by which `updatenode` comes here.
pub(crate) struct NodeFiles {
    xcat: Xcat,
    /// Whether the server is to be the node's from now on, though nothing is deployed.
    is_moved: bool,
}

impl NodeFiles {
    pub(crate) fn new(xcat: Xcat, is_moved: bool) -> Self {
        Self { xcat, is_moved }
    }

    fn note_plan(&self, run: &RunContext, fetched: &Fetched) {
        let server = fetched.server.as_ref().or(run.settings.servers.first());
        let Some(server) = server else { return };
        let facts = RunFacts {
            xcat: &self.xcat,
            plan: &fetched.plan,
            server,
            service: run.service,
            root: run.root,
            is_moved: self.is_moved,
        };
        warn(&run.paths, facts.note(&run.paths.xcat));
        if let Err(e) = hand_over(&fetched.folder, &run.paths.xcat) {
            let folder = fetched.folder.display();
            tracing::warn!("having updatenode come here by {folder}/xcatlib.sh: {e}");
        }
    }
}

impl Observer for NodeFiles {
    fn planned<'a>(
        &'a mut self,
        run: &'a RunContext,
        fetched: &'a Fetched,
        _: usize,
    ) -> LocalBoxFuture<'a, ()> {
        self.note_plan(run, fetched);
        Box::pin(async {})
    }

    fn run_ended<'a>(&'a mut self, run: &'a RunContext, exit: ExitCode) -> LocalBoxFuture<'a, ()> {
        let has_succeeded = exit == ExitCode::Done;
        let fact = match (run.service, run.root) {
            // The first boot looks there.
            (Service::Kickstart, _) => Some(("POSTSCRIPTS_RC", (!has_succeeded).then_some("1"))),
            (Service::Boot, Root::Installed) => Some(FIRST_BOOT_DONE).filter(|_| has_succeeded),
            (Service::Boot | Service::Run | Service::Other(_), _) => None,
        };
        if let Some(fact) = fact {
            warn(&run.paths, note(&run.paths.xcat, fact));
        }
        Box::pin(async {})
    }
}

/// A script that needs the file fails by itself.
fn warn(paths: &Paths, noted: io::Result<()>) {
    if let Err(e) = noted {
        tracing::warn!("bringing {}/xcatinfo up to date: {e}", paths.xcat.display());
    }
}

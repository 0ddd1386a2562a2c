//! What is asked of the first server while the run's beginning is still on its way to the disk: a
//! connection takes a round trip, in which there is something else to do.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::{MaybeDone, maybe_done};
use futures_util::poll;
use reqwest::{Client, Url};

use super::published::{Asked, Fetch};
use super::retry::Miss;
use super::source::Source;
use crate::settings::Settings;

type Asking = Pin<Box<dyn Future<Output = Result<Asked, Miss>>>>;

/// The first requests of a fetch, on their way.
pub struct HeadStart {
    server: Url,
    asking: MaybeDone<Asking>,
}

impl HeadStart {
    /// Sends them, for the run with the id `run`, if there is a server of published files.
    /// Nothing that comes of them is on this node's disk before the fetch itself.
    pub async fn take(
        settings: &Arc<Settings>,
        client: &Client,
        state: PathBuf,
        run: &str,
    ) -> Option<Self> {
        if settings.takes_xcats_files() {
            return None;
        }
        let server = settings.servers.first()?.clone();
        let (settings, client) = (Arc::clone(settings), client.clone());
        let (base, run) = (server.clone(), run.to_owned());
        let asking: Asking = Box::pin(async move {
            let fetch = Fetch::new(&settings, &state).map_err(Miss::last)?;
            fetch.ask(&Source::published(&settings, &client, &base, &run)).await
        });
        let mut asking = maybe_done(asking);
        // As far as it gets at once: then it waits for the network, and this node goes on.
        let _ = poll!(Pin::new(&mut asking));
        Some(Self { server, asking })
    }

    /// Whether it is `server` that was asked.
    pub(crate) fn is_of(&self, server: &Url) -> bool {
        self.server == *server
    }

    /// What came of it.
    pub(crate) async fn asked(mut self) -> Option<Result<Asked, Miss>> {
        Pin::new(&mut self.asking).await;
        Pin::new(&mut self.asking).take_output()
    }
}

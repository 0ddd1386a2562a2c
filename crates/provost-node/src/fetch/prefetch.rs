//! The first requests, sent to the first server while the start of the run is still being written
//! to the disk: both take time, and neither needs the other.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::{MaybeDone, maybe_done};
use futures_util::poll;
use reqwest::Url;

use super::download::{Fetch, FirstAnswers};
use super::error::FetchError;
use super::server::Server;
use crate::settings::Settings;
use provost_http::{Asking, Client};

type Requests = Pin<Box<dyn Future<Output = Result<FirstAnswers, FetchError>>>>;

/// The first requests of a fetch, on their way.
pub struct Prefetch {
    server: Url,
    requests: MaybeDone<Requests>,
    /// Reports wait for their answers.
    _asking: Asking,
}

impl Prefetch {
    /// Sends them, for the run with the id `run`, if there is a server.
    /// Nothing that comes of them is on this node's disk before the fetch itself.
    pub async fn take(
        settings: &Arc<Settings>,
        client: &Client,
        state: PathBuf,
        run: &str,
    ) -> Option<Self> {
        let server = settings.servers.first()?.clone();
        let asking = client.transport().ask();
        let (settings, client) = (Arc::clone(settings), client.clone());
        let (base, run) = (server.clone(), run.to_owned());
        let requests: Requests = Box::pin(async move {
            let fetch = Fetch::new(&settings, &state).map_err(FetchError::abort)?;
            fetch.ask_first(&Server::published(&settings, &client, &base, &run)).await
        });
        let mut requests = maybe_done(requests);
        // Sends the requests; what follows needs the network, and is polled later.
        let _ = poll!(Pin::new(&mut requests));
        Some(Self { server, requests, _asking: asking })
    }

    /// Whether it is `server` that was asked.
    pub(crate) fn is_of(&self, server: &Url) -> bool {
        self.server == *server
    }

    /// Waits for the answers.
    pub(crate) async fn answers(mut self) -> Option<Result<FirstAnswers, FetchError>> {
        Pin::new(&mut self.requests).await;
        Pin::new(&mut self.requests).take_output()
    }
}

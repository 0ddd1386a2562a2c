//! The reports themselves, to the first server that takes them.

use std::time::Duration;

use provost_record::{Cause, Entry, Service};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;

use super::logs::excerpt;
use super::spool::Spool;
use crate::failure::Failure;
use crate::http::reason;
use crate::settings::{Settings, Token};

/// How long one report may take.
const REQUEST: Duration = Duration::from_secs(30);

/// Why something isn't reported.
pub(super) enum Stuck {
    /// It may go later.
    ForNow(Failure),
    /// It would fail again.
    ForGood(Failure),
}

/// What the management node answers to a report.
#[derive(Deserialize)]
struct Answer {
    /// The last record of the report that it has on its disk.
    acked: u64,
}

/// Sends reports.
pub(super) struct Post {
    client: Client,
    servers: Vec<Url>,
    /// The server that took the last report, or is next to be tried.
    at: usize,
    node: String,
    token: Option<Token>,
    spool: Spool,
}

impl Post {
    pub(super) fn new(settings: &Settings, client: &Client, spool: Spool) -> Self {
        Self {
            client: client.clone(),
            servers: settings.servers.clone(),
            at: 0,
            node: settings.node.clone(),
            token: settings.token.clone(),
            spool,
        }
    }

    /// Reports all there is, then uploads the logs of failed steps.
    pub(super) async fn deliver(&mut self) -> Result<(), Stuck> {
        for service in Service::ALL {
            loop {
                let entries = self.spool.next(service);
                if entries.is_empty() {
                    break;
                }
                self.records(service, &entries).await?;
            }
        }
        for (note, run, name, path) in self.spool.logs() {
            let Ok(text) = excerpt(&path) else {
                // The log was removed: there is nothing left to send.
                let _ = std::fs::remove_file(note);
                continue;
            };
            let path = format!("v1/nodes/{}/runs/{run}/logs/{name}", self.node);
            self.send(|client, server| client.put(format!("{server}{path}")).body(text.clone()))
                .await?;
            // A note that stays only makes the log go twice.
            let _ = std::fs::remove_file(note);
        }
        Ok(())
    }

    async fn records(&mut self, service: Service, entries: &[Entry]) -> Result<(), Stuck> {
        let texts: Vec<&str> = entries.iter().map(|e| e.json.get()).collect();
        let body = format!("[{}]", texts.join(","));
        let path = format!("v1/nodes/{}/records", self.node);
        let response = self
            .send(|client, server| {
                let request = client.post(format!("{server}{path}"));
                request.header("content-type", "application/json").body(body.clone())
            })
            .await?;
        let answer = response.json::<Answer>().await.map_err(|e| {
            let message =
                format!("reporting to {}: it acknowledged nothing: {}", self.server(), reason(&e));
            self.pass_on(Failure::new(Cause::Fetch, message, "see what answers at that address"))
        })?;
        let Some(last) = entries.iter().rfind(|e| e.record.seq <= answer.acked) else {
            let message = format!("reporting to {}: it acknowledged nothing new", self.server());
            return Err(self.pass_on(Failure::new(Cause::Fetch, message, "see the daemon's log")));
        };
        self.spool.acknowledged(service, last).await.map_err(|e| {
            let message = format!("noting what was reported: {e}");
            Stuck::ForNow(Failure::config(message, "make room on the file system of STATE"))
        })
    }

    fn server(&self) -> &Url {
        &self.servers[self.at]
    }

    /// Lets the next server have its turn.
    fn pass_on(&mut self, failure: Failure) -> Stuck {
        self.at = (self.at + 1) % self.servers.len();
        Stuck::ForNow(failure)
    }

    async fn send(
        &mut self,
        request: impl Fn(&Client, &Url) -> RequestBuilder,
    ) -> Result<Response, Stuck> {
        let mut request = request(&self.client, self.server()).timeout(REQUEST);
        if let Some(token) = &self.token {
            request = request.bearer_auth(&token.0);
        }
        let response = request.send().await.map_err(|e| {
            let message = format!("reporting to {}: {}", self.server(), reason(&e));
            let hint = "see that provostd runs there and that this node can reach it";
            self.pass_on(Failure::new(Cause::Fetch, message, hint))
        })?;
        let status = response.status();
        if status == StatusCode::OK
            || status == StatusCode::CREATED
            || status == StatusCode::NO_CONTENT
        {
            return Ok(response);
        }
        let message = format!("reporting to {}: it answers {status}", self.server());
        let final_answer = status.is_client_error() && !matches!(status.as_u16(), 408 | 425 | 429);
        if !final_answer {
            return Err(self.pass_on(Failure::new(Cause::Fetch, message, "see the daemon's log")));
        }
        let hint = match status.as_u16() {
            401 | 403 => "give this node its token: `provostctl token NODE`, then token_file",
            404 => "see that it is provostd that listens there, not a plain web server",
            _ => "see the daemon's log",
        };
        let failure = Failure::new(Cause::Fetch, message, hint);
        // Another server may be the right one for reports: a cache serves files alone.
        if self.at + 1 < self.servers.len() {
            return Err(self.pass_on(failure));
        }
        self.at = 0;
        Err(Stuck::ForGood(failure))
    }
}

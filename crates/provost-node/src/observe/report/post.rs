//! The reports themselves, to the first server that takes them.

use std::time::Duration;

use provost_record::{Cause, Entry, Record, Service};
use reqwest::{Client, RequestBuilder, StatusCode, Url};

use super::answer::{Answer, Present};
use super::logs;
use super::spool::Spool;
use super::turn::Turn;
use crate::failure::Failure;
use crate::http::{body, reason};
use crate::settings::{Paths, Settings, Token};

/// How long one report may take.
const REQUEST: Duration = Duration::from_secs(10);
/// The most records of one report.
const MOST_RECORDS: usize = 500;
/// The longest answer that is read, in bytes.
const MOST_ANSWER: usize = 16 * 1024;

/// Why something isn't reported.
pub(crate) enum Stuck {
    /// It may go later.
    ForNow(Failure),
    /// It would fail again.
    ForGood(Failure),
}

/// What came of one report.
enum Sent {
    Taken(Vec<u8>),
    /// The server understood it and will never take it.
    Refused(String),
}

/// Sends reports.
pub(crate) struct Post {
    client: Client,
    servers: Vec<Url>,
    /// The server that took the last report, or is next to be tried.
    at: usize,
    node: String,
    token: Option<Token>,
    paths: Paths,
    spool: Spool,
    present: Option<Present>,
}

impl Post {
    /// Reports what is in `spool`, in a run that is going on for `present`.
    pub(crate) fn new(
        settings: &Settings,
        client: &Client,
        paths: &Paths,
        spool: Spool,
        present: Option<Present>,
    ) -> Self {
        Self {
            client: client.clone(),
            servers: settings.servers.clone(),
            at: 0,
            node: settings.node.clone(),
            token: settings.token.clone(),
            paths: paths.clone(),
            spool,
            present,
        }
    }

    /// Reports all there is, then uploads the logs of failed steps. `say` tells what the
    /// management node will never take.
    pub(crate) async fn deliver(&mut self, say: &mut impl FnMut(&str)) -> Result<(), Stuck> {
        let _turn = self.turn()?;
        for service in Service::ALL {
            loop {
                let entries = self.spool.next(service);
                if entries.is_empty() {
                    break;
                }
                for batch in entries.chunk_by(|a, b| a.record.run == b.record.run) {
                    for batch in batch.chunks(MOST_RECORDS) {
                        self.records(service, batch, say).await?;
                    }
                }
            }
        }
        for log in logs::waiting(&self.paths) {
            // One that was removed: there is nothing left to send.
            if let Some(packed) = log.packed().await {
                let path = ["v1", "nodes", &self.node, "runs", &log.run, "logs", &log.name];
                let path = path.map(str::to_owned);
                let fill = |request: RequestBuilder| {
                    request.header("content-encoding", "gzip").body(packed.clone())
                };
                let sent = self.send(&path, fill, true).await?;
                if let Sent::Refused(why) = sent {
                    say(&format!("the log {} of run {} is refused: {why}", log.name, log.run));
                }
            }
            log.done();
        }
        Ok(())
    }

    /// Sends records that are in no journal, once to each server until one takes them.
    pub(crate) async fn tell(&mut self, records: &[Record]) -> bool {
        let Ok(text) = serde_json::to_string(records) else { return false };
        let last = records.last().map_or(0, |record| record.seq);
        for _ in 0..self.servers.len() {
            match self.send_records(text.clone()).await {
                Ok(Sent::Taken(answer))
                    if Answer::read(&answer, last).is_some_and(|a| a.acked == last) =>
                {
                    return true;
                }
                Ok(Sent::Taken(_)) => drop(self.acknowledged_nothing()),
                Ok(Sent::Refused(_)) => return false,
                // The next server has its turn.
                Err(_) => {}
            }
        }
        false
    }

    async fn send_records(&mut self, json: String) -> Result<Sent, Stuck> {
        let path = ["v1", "nodes", &self.node, "records"].map(str::to_owned);
        let fill = |request: RequestBuilder| {
            request.header("content-type", "application/json").body(json.clone())
        };
        self.send(&path, fill, false).await
    }

    fn turn(&self) -> Result<Turn, Stuck> {
        let failed = |why: String, hint: &str| {
            Stuck::ForNow(Failure::config(format!("beginning to report: {why}"), hint))
        };
        match Turn::take(&self.paths) {
            Ok(Some(turn)) => Ok(turn),
            Ok(None) => Err(failed("another process reports".into(), "let it finish")),
            Err(e) => Err(failed(e.to_string(), "see that STATE is on a writable file system")),
        }
    }

    async fn records(
        &mut self,
        service: Service,
        entries: &[Entry],
        say: &mut impl FnMut(&str),
    ) -> Result<(), Stuck> {
        let mut rest = entries;
        while !rest.is_empty() {
            let texts: Vec<&str> = rest.iter().map(|e| e.json.get()).collect();
            match self.send_records(format!("[{}]", texts.join(","))).await? {
                Sent::Taken(answer) => rest = self.take(service, rest, &answer).await?,
                Sent::Refused(why) if rest.len() == 1 => {
                    let (run, seq) = (&rest[0].record.run, rest[0].record.seq);
                    say(&format!(
                        "record {seq} of run {run:?} stays on this node; the management node \
                         refuses it: {why}"
                    ));
                    return self.acknowledged(service, &rest[0]).await;
                }
                // One of them is to blame; the others must not wait for it.
                Sent::Refused(_) => {
                    for entry in rest {
                        Box::pin(self.records(service, std::slice::from_ref(entry), say)).await?;
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Heeds an answer, and returns which of `entries` it does not acknowledge.
    async fn take<'e>(
        &mut self,
        service: Service,
        entries: &'e [Entry],
        answer: &[u8],
    ) -> Result<&'e [Entry], Stuck> {
        let answer = Answer::read(answer, entries.last().map_or(0, |e| e.record.seq));
        let acked = |a: &Answer| entries.iter().rposition(|e| e.record.seq <= a.acked);
        let Some((answer, at)) = answer.and_then(|a| acked(&a).map(|at| (a, at))) else {
            return Err(self.acknowledged_nothing());
        };
        let last = &entries[at];
        if let Some(present) = self.present.as_ref().filter(|p| p.run == last.record.run) {
            present.heed(answer);
        }
        self.acknowledged(service, last).await?;
        Ok(&entries[at + 1..])
    }

    async fn acknowledged(&mut self, service: Service, last: &Entry) -> Result<(), Stuck> {
        self.spool.acknowledged(service, last).await.map_err(|e| {
            let message = format!("noting what was reported: {e}");
            Stuck::ForNow(Failure::config(message, "make room on the file system of STATE"))
        })
    }

    fn acknowledged_nothing(&mut self) -> Stuck {
        let message = format!("reporting to {}: it acknowledged nothing", self.server());
        let hint = "see what answers at that address: it doesn't seem to be provostd";
        self.pass_on(Failure::new(Cause::Fetch, message, hint))
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
        path: &[String],
        fill: impl Fn(RequestBuilder) -> RequestBuilder,
        put: bool,
    ) -> Result<Sent, Stuck> {
        let mut url = self.server().clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            // A script's name may hold what means something in a URL.
            segments.pop_if_empty().extend(path);
        }
        let request = if put { self.client.put(url) } else { self.client.post(url) };
        let mut request = fill(request).timeout(REQUEST);
        if let Some(token) = &self.token {
            request = request.bearer_auth(&token.0);
        }
        let answer = async {
            let response = request.send().await?;
            Ok((response.status(), body(response, MOST_ANSWER).await?))
        };
        let (status, answer) = answer.await.map_err(|e: reqwest::Error| {
            let message = format!("reporting to {}: {}", self.server(), reason(&e));
            let hint = "see that provostd runs there and that this node can reach it";
            self.pass_on(Failure::new(Cause::Fetch, message, hint))
        })?;
        if status.is_success() {
            return Ok(Sent::Taken(answer));
        }
        let told = crate::http::ErrorBody::parse(&answer);
        let why = told.error.map_or(status.to_string(), |error| format!("{status}: {error}"));
        if matches!(status, StatusCode::UNPROCESSABLE_ENTITY | StatusCode::PAYLOAD_TOO_LARGE) {
            return Ok(Sent::Refused(why));
        }
        let message = format!("reporting to {}: it answers {why}", self.server());
        let hint = told.hint.unwrap_or_else(|| {
            match status.as_u16() {
                401 | 403 => "give this node its token: `provostctl token NODE`, then token_file",
                404 | 405 => "see that it is provostd that listens there, not a plain web server",
                _ => "see the daemon's log",
            }
            .to_owned()
        });
        let failure = Failure::new(Cause::Fetch, message, hint);
        let passes = !status.is_client_error() || matches!(status.as_u16(), 408 | 425 | 429);
        // Another server may be the right one for reports: a cache serves files alone.
        if passes || self.at + 1 < self.servers.len() {
            return Err(self.pass_on(failure));
        }
        self.at = 0;
        Err(Stuck::ForGood(failure))
    }
}

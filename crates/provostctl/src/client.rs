use std::error::Error;
use std::io;
use std::time::Duration;

use jiff::Timestamp;
use provost_api::admins::{self, NodeIdentity};
use provost_api::{ErrorBody, Route};
use provost_record::{Record, Run, runs};
use provost_store::Node;
use reqwest::{Response, StatusCode, Url};
use rustls::CertificateError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::address::Admin;
use crate::failure::Failure;
use crate::node_set::NodeSet;

/// How long it may take to reach the daemon.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a read may take. A stream of events has a comment every 15 s.
const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// The longest list of nodes in a request's URL, in bytes; a longer one is filtered here.
const MAX_FILTER: usize = 4096;

/// The longest answer, in bytes. That about 100,000 nodes has a fifth of it.
const MAX_ANSWER: u64 = 1 << 30;

/// A client of the daemon's admin API.
pub(crate) struct Client {
    http: reqwest::Client,
    admin: Admin,
}

/// A node and its runs.
#[derive(Deserialize)]
pub(crate) struct NodeHistory {
    pub(crate) node: Node,
    pub(crate) identity: Option<NodeIdentity>,
    runs: Vec<RunHistory>,
    /// Whether there are older ones.
    #[serde(default)]
    pub(crate) more: bool,
}

#[derive(Deserialize)]
struct RunHistory {
    stages: Vec<StageLog>,
    records: Vec<Record>,
}

#[derive(Deserialize)]
struct StageLog {
    log: Option<String>,
}

impl NodeHistory {
    /// The node's runs, the newest first, with the names of the logs that were uploaded.
    pub(crate) fn runs(&self) -> Vec<Run> {
        let with_logs = |history: &RunHistory| {
            let mut run = runs(&history.records).into_iter().next()?;
            for (stage, uploaded) in run.stages.iter_mut().zip(&history.stages) {
                stage.log.clone_from(&uploaded.log);
            }
            Some(run)
        };
        self.runs.iter().filter_map(with_logs).collect()
    }
}

impl Client {
    pub(crate) fn new(admin: &Admin) -> Result<Self, Failure> {
        let builder = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .read_timeout(READ_TIMEOUT);
        let builder = admin.reach(builder)?;
        let http = builder.build().map_err(|e| {
            Failure::new(
                format!("creating an HTTP client: {}", root_cause(&e)),
                "report this as a bug",
            )
        })?;
        Ok(Self { http, admin: admin.clone() })
    }

    /// The nodes, or those in `filter`. With a long filter these are all nodes.
    pub(crate) async fn nodes<T: DeserializeOwned>(
        &self,
        filter: Option<&NodeSet>,
    ) -> Result<T, Failure> {
        let mut url = self.url(admins::NODES, &[])?;
        let folded = filter.map(NodeSet::folded).unwrap_or_default();
        if filter.is_some() && folded.len() <= MAX_FILTER {
            url.query_pairs_mut().append_pair("nodes", &folded);
        }
        self.json(self.http.get(url)).await
    }

    /// A node with its newest runs, so many of them with all of their records.
    pub(crate) async fn node<T: DeserializeOwned>(
        &self,
        name: &str,
        runs: usize,
    ) -> Result<T, Failure> {
        let mut url = self.url(admins::NODE, &[name])?;
        url.query_pairs_mut().append_pair("runs", &runs.to_string());
        self.json(self.http.get(url)).await
    }

    /// An uploaded log's bytes.
    pub(crate) async fn log(&self, run: &str, name: &str) -> Result<Vec<u8>, Failure> {
        let request = self.http.get(self.url(admins::RUN_LOG, &[run, name])?);
        self.body(self.send(request).await?).await
    }

    /// The body of an answer. What isn't provostd may send one without an end.
    async fn body(&self, mut response: Response) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        let mut length = response.content_length().unwrap_or_default();
        while length <= MAX_ANSWER {
            let chunk = response.chunk().await.map_err(|e| self.unreachable(&e))?;
            let Some(chunk) = chunk else { return Ok(body) };
            body.extend_from_slice(&chunk);
            length = length.max(body.len() as u64);
        }
        let error = format!("the response from {} is longer than 1 GiB", self.admin);
        Err(Failure::new(error, "name provostd's admin listener: --admin URL"))
    }

    /// What was changed for a node between two bundles and two plans, with the diff of a script.
    pub(crate) async fn node_changes(
        &self,
        node: &str,
        bundles: Option<(u64, u64)>,
        plans: Option<(u64, u64)>,
        script: &str,
    ) -> Result<admins::NodeChanges, Failure> {
        let mut url = self.url(admins::CHANGES, &[node])?;
        for (name, range) in [("bundles", bundles), ("plans", plans)] {
            if let Some((from, to)) = range {
                url.query_pairs_mut().append_pair(name, &format!("{from}-{to}"));
            }
        }
        url.query_pairs_mut().append_pair("script", script);
        self.json(self.http.get(url)).await
    }

    /// What the log of `script` on `node` has grown by after the byte `from`; waits for a while.
    pub(crate) async fn follow<T: DeserializeOwned>(
        &self,
        node: &str,
        script: &str,
        from: u64,
    ) -> Result<T, Failure> {
        let mut url = self.url(admins::FOLLOW, &[node, script])?;
        url.query_pairs_mut().append_pair("from", &from.to_string());
        self.json(self.http.get(url)).await
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, route: Route) -> Result<T, Failure> {
        self.json(self.http.get(self.url(route, &[])?)).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        route: Route,
        body: &impl Serialize,
    ) -> Result<T, Failure> {
        self.json(self.http.post(self.url(route, &[])?).json(body)).await
    }

    /// The stream of events, from now on; with `beats`, those too.
    pub(crate) async fn events(&self, beats: bool) -> Result<Response, Failure> {
        let mut url = self.url(admins::EVENTS, &[])?;
        if beats {
            url.query_pairs_mut().append_pair("beats", "true");
        }
        self.send(self.http.get(url)).await
    }

    /// What was changed since the time `since`.
    pub(crate) async fn changes<T: DeserializeOwned>(
        &self,
        since: Timestamp,
    ) -> Result<T, Failure> {
        let mut url = self.url(admins::AUDIT, &[])?;
        url.query_pairs_mut().append_pair("since", &since.to_string());
        self.json(self.http.get(url)).await
    }

    async fn json<T: DeserializeOwned>(
        &self,
        request: reqwest::RequestBuilder,
    ) -> Result<T, Failure> {
        let text = self.body(self.send(request).await?).await?;
        serde_json::from_slice(&text).map_err(|e| {
            let error = format!("unexpected response from {}: {e}", self.admin);
            Failure::new(error, "install the same version of provostctl and provostd")
        })
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<Response, Failure> {
        let response = request.send().await.map_err(|e| self.unreachable(&e))?;
        if response.status() == StatusCode::OK {
            return Ok(response);
        }
        let status = response.status();
        let body = self.body(response).await?;
        // No admin listener lacks the path, but that of nodes does.
        let is_elsewhere =
            |body: &ErrorBody| status == StatusCode::NOT_FOUND && body.error == "not found";
        let failure = match ErrorBody::parse(&body).filter(|body| !is_elsewhere(body)) {
            Some(body) => Failure::new(body.error, body.hint),
            None => Failure::new(
                format!("unexpected response from {}: {status}", self.admin),
                "name provostd's admin listener: --admin URL",
            ),
        };
        Err(Failure { is_transient: passes(status), ..failure })
    }

    fn url(&self, route: Route, parameters: &[&str]) -> Result<Url, Failure> {
        let url = self.admin.base().and_then(|base| {
            let base = base.as_str().trim_end_matches('/');
            format!("{base}/{}", route.path(parameters)).parse().ok()
        });
        let wrong =
            || Failure::new(format!("{} isn't an address", self.admin), "use --admin unix:PATH");
        url.ok_or_else(wrong)
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let cause = root_cause(error);
        let forbidden = cause
            .downcast_ref::<io::Error>()
            .is_some_and(|e| e.kind() == io::ErrorKind::PermissionDenied);
        let certificate = refused_certificate(cause);
        let hint = match (forbidden, certificate) {
            (true, _) => {
                "run this as a member of the group provost-operators; to read only, of \
                 provost-readers: --admin unix:DATA/read.sock"
            }
            (_, Some(CertificateError::NotValidForNameContext { .. })) => {
                "add the name or address to `names` under [tls] of provostd.toml, and restart provostd"
            }
            (_, Some(_)) => {
                "name the authority of this server: provostd ca show >provost-ca.pem there, and here \
                 provostctl --ca provost-ca.pem"
            }
            (_, None) => {
                "check that provostd runs (systemctl status provostd), or use --admin unix:DATA/admin.sock"
            }
        };
        let what = match error.is_timeout() {
            true => "no answer in time".into(),
            false => cause.to_string(),
        };
        let failure = Failure::new(format!("asking provostd at {}: {what}", self.admin), hint);
        Failure { is_transient: !forbidden && certificate.is_none(), ..failure }
    }
}

/// Whether a later try may be answered: the daemon, or what stands before it, has too much to do, or can't reach
/// what it needs (RFC 9110, RFC 6585).
fn passes(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}

/// Why the server's certificate was refused, if that is the cause: I/O errors have it inside.
fn refused_certificate<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a CertificateError> {
    if let Some(rustls::Error::InvalidCertificate(error)) = cause.downcast_ref() {
        return Some(error);
    }
    refused_certificate(cause.downcast_ref::<io::Error>()?.get_ref()?)
}

fn root_cause(error: &reqwest::Error) -> &(dyn Error + 'static) {
    let mut cause: &(dyn Error + 'static) = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause
}

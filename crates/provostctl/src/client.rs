use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use provost_record::{Record, Run, runs};
use provost_store::Node;
use reqwest::{Response, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::node_set::NodeSet;

/// How long it may take to reach the daemon.
const CONNECT: Duration = Duration::from_secs(5);
/// How long the daemon may be silent; on a stream of events it says something every 15 s.
const SILENCE: Duration = Duration::from_secs(60);
/// The longest list of nodes that goes into a request's URL; a longer one is sorted out here.
const MAX_FILTER: usize = 4096;

/// Where the daemon listens to admins.
#[derive(Clone, Debug)]
pub(crate) enum Admin {
    Unix(PathBuf),
    Http(Url),
}

impl FromStr for Admin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.strip_prefix("unix:"), Url::parse(text)) {
            (Some(path), _) if !path.is_empty() => Ok(Self::Unix(path.into())),
            (None, Ok(url)) if url.scheme() == "http" => Ok(Self::Http(url)),
            _ => Err("it is neither unix:PATH nor http://ADDRESS:PORT".into()),
        }
    }
}

impl std::fmt::Display for Admin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Http(url) => write!(f, "{url}"),
        }
    }
}

/// Speaks with the daemon.
pub(crate) struct Client {
    http: reqwest::Client,
    admin: Admin,
}

/// What a node ran.
#[derive(Deserialize)]
pub(crate) struct Shown {
    pub(crate) node: Node,
    runs: Vec<ShownRun>,
}

#[derive(Deserialize)]
struct ShownRun {
    stages: Vec<ShownStage>,
    records: Vec<Record>,
}

#[derive(Deserialize)]
struct ShownStage {
    log: Option<String>,
}

/// What the daemon says of a request that it refuses.
#[derive(Deserialize)]
struct Refusal {
    error: String,
    hint: String,
}

impl Shown {
    /// The node's runs, the newest first, with the names of the logs that were uploaded.
    pub(crate) fn runs(&self) -> Vec<Run> {
        let with_logs = |shown: &ShownRun| {
            let mut run = runs(&shown.records).into_iter().next()?;
            for (stage, shown) in run.stages.iter_mut().zip(&shown.stages) {
                stage.log.clone_from(&shown.log);
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
            // Nothing here is TLS, and a machine without certificates is fine.
            .tls_certs_only([])
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE);
        let builder = match admin {
            Admin::Unix(path) => builder.unix_socket(path.clone()),
            Admin::Http(_) => builder,
        };
        let http = builder.build().map_err(|e| {
            Failure::new(
                format!("making an HTTP client: {}", root_cause(&e)),
                "report this as a bug",
            )
        })?;
        Ok(Self { http, admin: admin.clone() })
    }

    /// The nodes, or those of them that are in `filter`.
    pub(crate) async fn nodes<T: DeserializeOwned>(
        &self,
        filter: Option<&NodeSet>,
    ) -> Result<T, Failure> {
        let mut url = self.url(&["v1", "nodes"])?;
        let folded = filter.map(NodeSet::folded).unwrap_or_default();
        if filter.is_some() && folded.len() <= MAX_FILTER {
            url.query_pairs_mut().append_pair("nodes", &folded);
        }
        self.json(self.http.get(url)).await
    }

    pub(crate) async fn node<T: DeserializeOwned>(&self, name: &str) -> Result<T, Failure> {
        self.get(&["v1", "nodes", name]).await
    }

    /// An uploaded log's bytes.
    pub(crate) async fn log(&self, run: &str, name: &str) -> Result<Vec<u8>, Failure> {
        let request = self.http.get(self.url(&["v1", "runs", run, "logs", name])?);
        let bytes = self.send(request).await?.bytes().await;
        bytes.map(Into::into).map_err(|e| self.unreachable(&e))
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T, Failure> {
        self.json(self.http.get(self.url(path)?)).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &serde_json::Value,
    ) -> Result<T, Failure> {
        self.json(self.http.post(self.url(path)?).json(body)).await
    }

    /// The stream of events, from now on.
    pub(crate) async fn events(&self) -> Result<Response, Failure> {
        self.send(self.http.get(self.url(&["v1", "events"])?)).await
    }

    async fn json<T: DeserializeOwned>(
        &self,
        request: reqwest::RequestBuilder,
    ) -> Result<T, Failure> {
        let text = self.send(request).await?.bytes().await.map_err(|e| self.unreachable(&e))?;
        serde_json::from_slice(&text).map_err(|e| {
            let error = format!("{} answered what isn't known here: {e}", self.admin);
            Failure::new(error, "see that provostctl and provostd are of the same version")
        })
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<Response, Failure> {
        let response = request.send().await.map_err(|e| self.unreachable(&e))?;
        if response.status() == StatusCode::OK {
            return Ok(response);
        }
        let status = response.status();
        let body = response.bytes().await.map_err(|e| self.unreachable(&e))?;
        Err(match serde_json::from_slice::<Refusal>(&body) {
            Ok(refusal) => Failure::new(refusal.error, refusal.hint),
            Err(_) => Failure::new(
                format!("{} answered {status}", self.admin),
                "see that --admin names provostd's admin door",
            ),
        })
    }

    fn url(&self, path: &[&str]) -> Result<Url, Failure> {
        let base = match &self.admin {
            // The socket is the address; the rest has to be there and says nothing.
            Admin::Unix(_) => Url::parse("http://localhost").ok(),
            Admin::Http(url) => Some(url.clone()),
        };
        let url = base.and_then(|mut url| {
            url.path_segments_mut().ok()?.pop_if_empty().extend(path);
            Some(url)
        });
        let wrong = || Failure::new(format!("{} is no address", self.admin), "see --admin");
        url.ok_or_else(wrong)
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let cause = root_cause(error);
        let forbidden = cause
            .downcast_ref::<io::Error>()
            .is_some_and(|e| e.kind() == io::ErrorKind::PermissionDenied);
        let hint = match forbidden {
            true => "run this as the user whose provostd it is",
            false => {
                "see that provostd runs (systemctl status provostd), or give --admin unix:DATA/admin.sock"
            }
        };
        let what = match error.is_timeout() {
            true => "it doesn't answer in time".into(),
            false => cause.to_string(),
        };
        let failure = Failure::new(format!("asking provostd at {}: {what}", self.admin), hint);
        Failure { may_pass: !forbidden, ..failure }
    }
}

fn root_cause(error: &reqwest::Error) -> &(dyn Error + 'static) {
    let mut cause: &(dyn Error + 'static) = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause
}

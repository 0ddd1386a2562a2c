//! Requests and their answers, as they are recorded.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use ct_codecs::{Base64, Decoder, Encoder};
use provost_tests::faults::{self, Answer, Request};
use provost_tests::{Cluster, Out};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::TempDir;

/// What a header says of the connection, the time or the sender's place.
const LEFT_OUT: [&str; 6] =
    ["host", "connection", "content-length", "transfer-encoding", "date", "accept"];

/// A request and its answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Exchange {
    pub(super) listener: Listener,
    pub(super) request: Sent,
    pub(super) answer: Received,
}

/// Which of the daemon's listeners was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Listener {
    Nodes,
    NodesTls,
    Admin,
    Socket,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sent {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Content,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Received {
    pub(super) status: u16,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Content,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Bytes { base64: String },
}

impl Content {
    fn new(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or_else(
            |e| Self::Bytes { base64: Base64::encode_to_string(e.as_bytes()).unwrap() },
            Self::Text,
        )
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Bytes { base64 } => Base64::decode_to_vec(base64, None).unwrap(),
        }
    }

    /// As a JSON document, if it is one.
    pub(super) fn json(&self) -> Option<Value> {
        match self {
            Self::Text(text) => serde_json::from_str(text).ok(),
            Self::Bytes { .. } => None,
        }
    }
}

fn headers<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>) -> BTreeMap<String, String> {
    let kept = all.into_iter().filter(|(name, _)| !LEFT_OUT.contains(name));
    kept.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

impl Exchange {
    /// One that a proxy before the nodes' plain listener has seen, if it was answered.
    pub(super) fn seen(exchange: faults::Exchange) -> Option<Self> {
        let pairs = |all: &[(String, String)]| {
            headers(all.iter().map(|(name, value)| (name.as_str(), value.as_str())))
        };
        let (Request { method, path, headers, body }, answer) =
            (exchange.request, exchange.answer?);
        let request = Sent { method, path, headers: pairs(&headers), body: Content::new(body) };
        let Answer { status, headers, body } = answer;
        let answer = Received { status, headers: pairs(&headers), body: Content::new(body) };
        Some(Self { listener: Listener::Nodes, request, answer })
    }

    /// A request to the daemon, and its answer.
    pub(super) fn ask(cluster: &Cluster, listener: Listener, request: Sent) -> Self {
        let answer = request.send(cluster, listener);
        Self { listener, request, answer }
    }
}

impl Sent {
    pub(super) fn new(method: &str, path: &str, body: &str) -> Self {
        let headers = match body.starts_with('{') {
            true => BTreeMap::from([("content-type".into(), "application/json".into())]),
            false => BTreeMap::new(),
        };
        let body = Content::Text(body.to_owned());
        Self { method: method.to_owned(), path: path.to_owned(), headers, body }
    }

    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Sends it by curl.
    pub(super) fn send(&self, cluster: &Cluster, listener: Listener) -> Received {
        let folder = TempDir::new().unwrap();
        let file = |name: &str| folder.path().join(name);
        let daemon = cluster.daemon();
        let mut curl = Command::new("curl");
        let base = match listener {
            Listener::Nodes => format!("http://{}", daemon.nodes()),
            Listener::Admin => format!("http://{}", daemon.admin()),
            // Which authority has signed its certificate isn't what is looked at.
            Listener::NodesTls => format!("https://{}", daemon.address("nodesTls")),
            Listener::Socket => {
                curl.args(["--unix-socket", daemon.socket().trim_start_matches("unix:")]);
                "http://localhost".to_owned()
            }
        };
        curl.args(["-sSk", "--globoff", "-X", &self.method, &format!("{base}{}", self.path)]);
        curl.arg("-D").arg(file("head")).arg("-o").arg(file("body"));
        if self.method != "GET" {
            fs::write(file("sent"), self.body.bytes()).unwrap();
            curl.arg("--data-binary").arg(format!("@{}", file("sent").display()));
        }
        for name in ["user-agent", "content-type", "expect"] {
            if !self.headers.contains_key(name) {
                curl.args(["-H", &format!("{name}:")]);
            }
        }
        for (name, value) in &self.headers {
            curl.args(["-H", &format!("{name}: {value}")]);
        }
        Out::from(curl.output().unwrap()).expect(0);
        let head = fs::read_to_string(file("head")).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let lines = head.lines().filter_map(|line| line.split_once(": "));
        let lines: Vec<_> = lines.map(|(name, value)| (name.to_lowercase(), value)).collect();
        let lines = lines.iter().map(|(name, value)| (name.as_str(), *value));
        let body = fs::read(file("body")).unwrap_or_default();
        Received { status, headers: headers(lines), body: Content::new(body) }
    }
}

//! A daemon in this process, and ways to speak with it.

use std::fs;
use std::path::PathBuf;

use provostd::{Config, Daemon};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) struct Server {
    pub(crate) folder: TempDir,
    pub(crate) daemon: Daemon,
    pub(crate) http: Client,
    pub(crate) socket: Client,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = config(&folder);
        Self::start_with(folder, &config).await
    }

    pub(crate) async fn start_with(folder: TempDir, config: &Config) -> Self {
        let daemon = Daemon::start(config).await.unwrap();
        // A second one is fine: another test has done it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = || Client::builder().no_proxy().tls_certs_only([]);
        let socket = client().unix_socket(config.data.join("admin.sock")).build().unwrap();
        Self { folder, daemon, http: client().build().unwrap(), socket }
    }

    /// Ends the daemon in order and starts the next one on its data, at other ports.
    pub(crate) async fn restart(self) -> Self {
        let config = config(&self.folder);
        self.daemon.stop().await;
        let daemon = Daemon::start(&config).await.unwrap();
        Self { daemon, ..self }
    }

    pub(crate) fn www(&self, path: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join("www").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn node(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("http://{}{path}", self.daemon.addresses().nodes))
    }

    pub(crate) async fn admin(&self, path: &str) -> Response {
        let url = format!("http://{}{path}", self.daemon.addresses().admin.unwrap());
        self.http.get(url).send().await.unwrap()
    }

    pub(crate) async fn node_object(&self, node: &str) -> Value {
        let shown: Value = self.admin(&format!("/v1/nodes/{node}")).await.json().await.unwrap();
        shown["node"].clone()
    }

    pub(crate) async fn token(&self, node: &str) -> String {
        let asked = self
            .socket
            .post("http://localhost/v1/tokens")
            .json(&json!({"nodes": [node], "force": true}));
        let answer: Value = asked.send().await.unwrap().json().await.unwrap();
        assert_eq!(answer[0]["node"], node);
        answer[0]["token"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn report(&self, node: &str, token: &str, records: &Value) -> (u16, Value) {
        let path = format!("/v1/nodes/{node}/records");
        response(self.node(Method::POST, &path).bearer_auth(token).json(records)).await
    }
}

pub(crate) fn config(folder: &TempDir) -> Config {
    Config {
        data: folder.path().join("data"),
        www: folder.path().join("www"),
        store: Default::default(),
        postgres: Default::default(),
        retention: Default::default(),
        listen: ([127, 0, 0, 1], 0).into(),
        admin: Some(([127, 0, 0, 1], 0).into()),
        operators: None,
        readers: None,
        guard: Default::default(),
        quota: Default::default(),
        node: Default::default(),
        lost_after: "60s".parse().unwrap(),
        tokens: Default::default(),
        tls: Default::default(),
        enroll: Default::default(),
        webhooks: Default::default(),
        hooks: Default::default(),
        metrics: Default::default(),
        page: Default::default(),
        xcat: Default::default(),
    }
}

pub(crate) async fn response(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

/// Of an error: its status, and that it says what and what to do.
pub(crate) async fn refused(request: RequestBuilder) -> u16 {
    let (status, body) = response(request).await;
    for key in ["error", "hint"] {
        assert!(!body[key].as_str().unwrap().is_empty(), "{status} {body}");
    }
    status
}

//! A node made of OpenSSL and curl.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use provost_tests::{Cluster, Daemon, Out};

pub(crate) fn run(program: &str, args: &[&str]) -> Out {
    Command::new(program).args(args).stdin(Stdio::null()).output().unwrap().into()
}

/// A key and, once it has one, its certificate.
pub(crate) struct Client {
    folder: PathBuf,
    ca: String,
    pub(crate) at: String,
}

impl Client {
    /// With a new key of its own.
    pub(crate) fn new(cluster: &Cluster, name: &str) -> Self {
        Self::with(cluster, name, &["-algorithm", "ed25519"])
    }

    /// The same with another kind of key.
    pub(crate) fn with(cluster: &Cluster, name: &str, kind: &[&str]) -> Self {
        let folder = cluster.path(&format!("clients/{name}"));
        std::fs::create_dir_all(&folder).unwrap();
        let ca = cluster.path("ca.pem");
        let shown = cluster.daemon_command(&["ca", "show"]).expect(0).stdout;
        std::fs::write(&ca, shown).unwrap();
        let client = Self {
            folder,
            ca: ca.to_str().unwrap().to_owned(),
            at: cluster.daemon().address("nodesTls"),
        };
        let (key, csr) = (client.file("key"), client.file("csr"));
        run("openssl", &[&["genpkey", "-out", &key], kind].concat()).expect(0);
        let request = ["req", "-new", "-key", &key, "-subj", "/CN=anything", "-out", &csr];
        run("openssl", &request).expect(0);
        client
    }

    /// The same at another daemon, whose authority isn't checked.
    pub(crate) fn at(&self, daemon: &Daemon) -> Self {
        let at = daemon.address("nodesTls");
        Self { folder: self.folder.clone(), ca: String::new(), at }
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    /// The fingerprint of its key, by OpenSSL.
    pub(crate) fn fingerprint(&self) -> String {
        let line = format!(
            "openssl pkey -in '{}' -pubout -outform DER | openssl dgst -sha256 -binary | base64",
            self.file("key")
        );
        let base64 = run("sh", &["-c", &line]).expect(0).stdout;
        format!("SHA256:{}", base64.trim().trim_end_matches('='))
    }

    /// The authority that it checks the server by.
    pub(crate) fn trust(&self) -> Vec<&str> {
        if self.ca.is_empty() { vec!["-k"] } else { vec!["--cacert", &self.ca] }
    }

    /// A request by curl: the status and the answer.
    pub(crate) fn curl(&self, path: &str, args: &[&str]) -> (u16, String) {
        let url = format!("https://{}{path}", self.at);
        let first = ["-sS", "-w", "\n%{http_code}", &url];
        let out = run("curl", &[&first[..], &self.trust(), args].concat()).expect(0).stdout;
        let (body, status) = out.rsplit_once('\n').unwrap();
        (status.parse().unwrap(), body.to_owned())
    }

    /// Asks for a certificate as `node`, and keeps it.
    pub(crate) fn enroll(&self, node: &str, more: &[&str]) -> (u16, String) {
        let data = format!("@{}", self.file("csr"));
        let path = format!("/v1/nodes/{node}/enroll");
        let (status, body) = self.curl(&path, &[&["--data-binary", &data], more].concat());
        if status == 200 {
            std::fs::write(self.file("crt"), &body).unwrap();
        }
        (status, body)
    }

    /// The same with a join token.
    pub(crate) fn join(&self, node: &str, token: &str) -> (u16, String) {
        self.enroll(node, &["-H", &format!("Authorization: Bearer {token}")])
    }

    /// Asks for the plan of `node` with its certificate.
    pub(crate) fn plan(&self, node: &str) -> (u16, String) {
        let (cert, key) = (self.file("crt"), self.file("key"));
        self.curl(&format!("/plans/{node}.toml"), &["--cert", &cert, "--key", &key])
    }
}

impl Client {
    /// A connection that stays open.
    pub(crate) fn connect(&self, more: &[&str]) -> Child {
        let mut openssl = Command::new("openssl");
        openssl.args(["s_client", "-quiet", "-connect", &self.at]).args(more);
        openssl.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    }
}

/// The status of a request that is sent on it.
pub(crate) fn ask(connection: &mut Child) -> String {
    let request = "GET /plans/cn001.toml HTTP/1.1\r\nHost: x\r\n\r\n";
    connection.stdin.as_mut().unwrap().write_all(request.as_bytes()).unwrap();
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        connection.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    connection.stdout.as_mut().unwrap().read_exact(&mut body).unwrap();
    head.split(' ').nth(1).unwrap().to_owned()
}

/// A join token for `node`.
pub(crate) fn join_token(cluster: &Cluster, node: &str, more: &[&str]) -> String {
    let line = cluster.ctl(&[&["join", node], more].concat()).expect(0).stdout;
    let (name, token) = line.trim().split_once(' ').unwrap();
    assert_eq!(name, node);
    token.to_owned()
}

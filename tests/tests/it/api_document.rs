//! docs/reference/openapi.json says what both APIs do: schemathesis asks for all that it allows, and much that it
//! doesn't. Files that are published, bodies that are files, and streams are in the document, and left out here.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use provost_tests::{Cluster, Out, missing, repeats, seed, skip};

use crate::enrolment::client::Client;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/openapi.json");
/// Operations with files in their requests or answers, and streams.
const LEFT_OUT: [&str; 15] = [
    "manifest",
    "manifestSignature",
    "namedManifest",
    "refresh",
    "refreshSignature",
    "object",
    "pack",
    "program",
    "plan",
    "secrets",
    "enroll",
    "notBegun",
    "uploadLog",
    "events",
    "follow",
];

/// What schemathesis asks: the document's examples, each limit of each value, and what comes by chance.
const ALL: &str = "examples,coverage,fuzzing";
const BY_CHANCE: &str = "fuzzing";

/// The program, of the version that the tests install.
fn schemathesis() -> PathBuf {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/python/bin/schemathesis");
    if ours.exists() {
        return ours;
    }
    match missing::program("schemathesis", "schemathesis") {
        Some(_) => skip("no schemathesis (pip install schemathesis)"),
        None => "schemathesis".into(),
    }
}

/// A management node that knows a node and has something published.
fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("hello", "#!/bin/sh\necho hello\n");
    cluster.site("[groups.all]\nnodes = \"cn[001-003]\"\npostscripts = [\"hello\"]\n");
    cluster.publish().expect(0);
    cluster.configure_daemon("[tls]\nlisten = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n");
    cluster.start();
    cluster.publish_with(&["--tls", &cluster.tls()]).expect(0);
    cluster
}

/// Asks at `url` for the operations with this tag. What it finds is printed, with its seed.
fn conforms(program: &Path, phases: &str, tag: &str, url: &str, more: &[&str]) {
    // As part of the long group by chance; else always the same, so that a change is what breaks it.
    let seed = if repeats(0, 1) == 1 { seed() % 1_000_000 } else { 1 };
    let (examples, seed) = (repeats(20, 200).to_string(), seed.to_string());
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(program);
    command.args(["run", DOCUMENT, "--url", url, "--include-tag", tag, "--checks", "all"]);
    command.args(["--max-examples", &examples, "--seed", &seed, "--no-color"]);
    // The digest of a program that isn't optimized takes a while.
    command.args(["--request-timeout", "60", "--max-response-time", "60"]);
    command.args(["--phases", phases]).args(more);
    for operation in LEFT_OUT {
        command.args(["--exclude-operation-id", operation]);
    }
    let out: Out = command.current_dir(folder.path()).output().unwrap().into();
    assert!(out.code == Some(0) && out.stdout.contains("passed"), "{}{}", out.stdout, out.stderr);
}

/// Passes connections on to the socket at `path`. Returns where.
fn bridge(path: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(socket) = UnixStream::connect(&path) else { continue };
            let (mut from, mut to) = (client.try_clone().unwrap(), socket.try_clone().unwrap());
            thread::spawn(move || {
                let _ = io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
            thread::spawn(move || answer(socket, client));
        }
    });
    format!("http://{at}")
}

fn answer(mut socket: UnixStream, mut client: TcpStream) {
    let _ = io::copy(&mut socket, &mut client);
    let _ = client.shutdown(Shutdown::Write);
}

#[test]
fn of_admins_over_the_socket() {
    let (program, cluster) = (schemathesis(), cluster());
    let socket = cluster.daemon().socket();
    let path = socket.strip_prefix("unix:").unwrap();
    conforms(&program, ALL, "admins", &bridge(path.into()), &[]);
}

#[test]
fn of_admins_over_tls_by_each_role() {
    let (program, cluster) = (schemathesis(), cluster());
    let ca = cluster.path("ca.pem");
    std::fs::write(&ca, cluster.daemon_command(&["ca", "show"]).expect(0).stdout).unwrap();
    let url = format!("https://{}", cluster.daemon().address("adminTls"));
    // Each limit of each value is asked for over the socket.
    let phases = if repeats(0, 1) == 1 { ALL } else { BY_CHANCE };
    for role in ["read", "operate", "publish"] {
        let name = format!("a-{role}");
        let added = cluster.ctl(&["admin", "add", &name, "--role", role, "--for", "30d"]).expect(0);
        let header = format!("Authorization: Bearer {}", added.stdout.trim());
        let more = ["--tls-verify", ca.to_str().unwrap(), "--header", &header];
        conforms(&program, phases, "admins", &url, &more);
    }
}

#[test]
fn of_nodes_over_tls_by_a_certificate() {
    let (program, cluster) = (schemathesis(), cluster());
    let client = Client::with(
        &cluster,
        "cn001",
        &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1"],
    );
    let join = cluster.ctl(&["join", "cn001"]).expect(0).stdout;
    let join = join.split_whitespace().last().unwrap().to_owned();
    let (status, text) = client.join("cn001", &join);
    assert_eq!(status, 200, "{text}");
    let (ca, crt, key) = (cluster.path("ca.pem"), client.file("crt"), client.file("key"));
    let more =
        ["--tls-verify", ca.to_str().unwrap(), "--request-cert", &crt, "--request-cert-key", &key];
    conforms(&program, ALL, "nodes", &format!("https://{}", client.at), &more);
}

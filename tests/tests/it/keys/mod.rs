//! The keys of the publisher: with a password, behind a command, replaced, revoked, and what is known of them lost.

mod lost;
mod passwords;
mod revoked;
pub(crate) mod rotations;
mod sign_command;

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use provost_tests::{Cluster, Out, web_group};

/// A management node with a script, running; nothing is published.
fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.script("hello", "#!/bin/sh\necho hello\n");
    cluster.site("[groups.all]\nnodes = \"cn[1-2]\"\npostscripts = [\"hello\"]\n");
    cluster.start();
    cluster
}

/// Publishes by the key in the file.
pub(crate) fn publish(cluster: &Cluster, key: &str, more: &[&str]) -> Out {
    let path = |name: &str| cluster.path(name).display().to_string();
    let (site, scripts, www, key) = (path("site.toml"), path("scripts"), path("www"), path(key));
    let args = ["publish", "--site", &site, "--scripts", &scripts, "--key", &key, "--to", &www];
    cluster.ctl(&[&args[..], &["--group", web_group()], more].concat())
}

/// The line of the public key in the file.
fn line(cluster: &Cluster, public: &str) -> String {
    let text = fs::read_to_string(cluster.path(public)).unwrap();
    text.lines().nth(1).unwrap().to_owned()
}

/// Runs the stock tool in the cluster's folder, with this as its input.
pub(crate) fn minisign(cluster: &Cluster, args: &[&str], input: &str) -> Out {
    let mut command = Command::new("minisign");
    command.args(args).current_dir(cluster.path("")).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

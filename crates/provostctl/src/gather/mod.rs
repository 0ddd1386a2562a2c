//! `provostctl gather`: log bundles of many nodes.

mod bundle;
mod from_store;

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};

use crate::client::Client;
use crate::failure::Failure;
use crate::known_hosts::KnownHosts;
use crate::node_list::NodeList;
use crate::output;
use crate::ssh::{Remote, RemoteError, RemoteResult, Ssh};

/// Gathers in a temporary folder, and prints the bundle's name and then the bundle.
const ON_THE_NODE: &str = "\
folder=$(mktemp -d) || exit 1
trap 'rm -rf \"$folder\"' EXIT
bundle=$(provost gather --to \"$folder\") || exit 1
echo \"${bundle##*/}\"
cat \"$bundle\"";

/// `provostctl gather`.
#[derive(clap::Args)]
pub(crate) struct Gather {
    #[command(flatten)]
    ssh: Ssh,
    #[command(flatten)]
    nodes: NodeList,
    /// Folder for the bundles
    #[arg(long, value_name = "DIR", default_value = ".")]
    to: PathBuf,
}

/// A node that sent no bundle, and why.
struct Missing {
    node: String,
    why: String,
}

impl Gather {
    pub(crate) async fn run(self, client: &Client) -> Result<(), Failure> {
        let nodes = self.nodes.resolve(client).await?;
        let mut gathered = Vec::new();
        let mut missing = Vec::new();
        let files = Mutex::new(HashMap::new());
        let files = || files.lock().unwrap_or_else(PoisonError::into_inner);
        let stdout = |node: &str| {
            let file = tempfile::tempfile_in(&self.to);
            let copy = file.as_ref().ok().and_then(|file| file.try_clone().ok());
            files().insert(node.to_owned(), file);
            copy.map_or_else(Stdio::null, Stdio::from)
        };
        let ended = |node: &str, result: RemoteResult| {
            let file = files().remove(node);
            match self.keep(node, &result, file) {
                Ok(path) => {
                    output::note(&format!("{node}: {}", path.display()));
                    gathered.push(path);
                }
                Err(why) => missing.push(Missing { node: node.to_owned(), why }),
            }
        };
        let remote = Remote { command: vec!["sh", "-c", ON_THE_NODE], report: None, files: None };
        let known_hosts = KnownHosts::of(client).await;
        self.ssh.on_each(&nodes, &known_hosts, |_| remote.clone(), stdout, ended).await;
        for Missing { node, why } in &missing {
            match from_store::write(client, node, why, &self.to).await {
                Ok(path) => {
                    let path_shown = path.display();
                    output::note(&format!("{node}: {why}; from provostd's store: {path_shown}"));
                    gathered.push(path);
                }
                Err(failure) => output::note(&format!("{node}: {why}; {}", failure.error)),
            }
        }
        gathered.sort();
        let paths: String = gathered.iter().map(|path| format!("{}\n", path.display())).collect();
        output::print(paths.as_bytes())?;
        let Some(first) = missing.first() else { return Ok(()) };
        Err(Failure::new(
            format!("{} of {} nodes sent no bundle", missing.len(), nodes.names.len()),
            format!("check that this works: ssh {} provost gather", first.node),
        ))
    }

    /// Keeps the bundle that a node has sent. The error is why there is none.
    fn keep(
        &self,
        node: &str,
        result: &RemoteResult,
        file: Option<io::Result<File>>,
    ) -> Result<PathBuf, String> {
        match &result.status {
            Ok(status) if status.success() => {}
            Ok(status) => {
                let last = result.lines.last().map_or("it printed nothing", String::as_str);
                return Err(format!("provost gather failed ({status}): {last}"));
            }
            Err(RemoteError::Unreachable(why)) => return Err(format!("unreachable: {why}")),
            Err(RemoteError::TimedOut(limit)) => {
                return Err(format!("not finished within {limit}"));
            }
        }
        let file = file.unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()));
        file.and_then(|file| bundle::keep(file, node, &self.to))
            .map_err(|e| format!("writing into {}: {e}", self.to.display()))
    }
}

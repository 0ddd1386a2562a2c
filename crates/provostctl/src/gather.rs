//! `provostctl gather`: what tells of a failure, from many nodes.

mod from_store;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;

use tempfile::NamedTempFile;

use crate::client::Client;
use crate::failure::Failure;
use crate::node_set::NodeSet;
use crate::output;
use crate::ssh::{Ended, Lost, Ssh};

/// The longest name of a bundle.
const LONGEST: usize = 300;

/// Gathers in a folder of its own, and prints the bundle's name and then the bundle.
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
    /// Names and ranges, such as cn[001-512]
    nodes: NodeSet,
    /// The folder for the bundles
    #[arg(long, value_name = "DIR", default_value = ".")]
    to: PathBuf,
}

impl Gather {
    pub(crate) async fn run(self, client: &Client) -> Result<(), Failure> {
        let files = Mutex::new(HashMap::new());
        let files = || files.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let file = |node: &str| {
            let file = NamedTempFile::new_in(&self.to);
            let copy = file.as_ref().ok().and_then(|file| file.as_file().try_clone().ok());
            files().insert(node.to_owned(), file);
            copy.map_or_else(Stdio::null, Stdio::from)
        };
        let mut missed: Vec<(String, String)> = Vec::new();
        let mut taken = Vec::new();
        let ended = |node: &str, ended: Ended| {
            let came = match (why_not(&ended), files().remove(node)) {
                (None, Some(file)) => file
                    .and_then(|file| keep(file, node, &self.to))
                    .map_err(|e| format!("writing into {}: {e}", self.to.display())),
                (why, _) => Err(why.unwrap_or_default()),
            };
            match came {
                Ok(path) => {
                    output::say(&format!("{node}: {}", path.display()));
                    taken.push(path);
                }
                Err(why) => missed.push((node.to_owned(), why)),
            }
        };
        let command = ["sh", "-c", ON_THE_NODE];
        self.ssh.on_each(&self.nodes, &command, file, ended).await;
        for (node, why) in &missed {
            match from_store::write(client, node, why, &self.to).await {
                Ok(path) => {
                    output::say(&format!(
                        "{node}: {why}; what provostd has of it: {}",
                        path.display()
                    ));
                    taken.push(path);
                }
                Err(failure) => output::say(&format!("{node}: {why}; {}", failure.error)),
            }
        }
        taken.sort();
        let paths: String = taken.iter().map(|path| format!("{}\n", path.display())).collect();
        output::print(paths.as_bytes())?;
        let Some((node, _)) = missed.first() else { return Ok(()) };
        let (all, missed) = (self.nodes.names.len(), missed.len());
        Err(Failure::new(
            format!("{missed} of {all} nodes sent nothing themselves"),
            format!("see that `ssh {node} provost gather` works by itself"),
        ))
    }
}

fn why_not(ended: &Ended) -> Option<String> {
    match &ended.result {
        Ok(status) if status.success() => None,
        Ok(status) => {
            let last = ended.lines.last().map_or("it said nothing", String::as_str);
            Some(format!("gathering there failed ({status}): {last}"))
        }
        Err(Lost::Unreachable(why)) => Some(format!("unreachable: {why}")),
        Err(Lost::TimedOut(limit)) => Some(format!("not done within {limit}")),
    }
}

/// Puts what came into its place: a line with the bundle's name, then the bundle.
fn keep(mut file: NamedTempFile, node: &str, folder: &Path) -> io::Result<PathBuf> {
    let file = file.as_file_mut();
    file.rewind()?;
    let mut came = BufReader::new(file);
    let mut name = Vec::new();
    let mut head = io::Read::take(&mut came, LONGEST as u64);
    head.read_until(b'\n', &mut name)?;
    let name = String::from_utf8(name).unwrap_or_default();
    let name = name.trim_end();
    let sound = name.starts_with("log-bundle-")
        && name.ends_with(".tar.gz")
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    if !sound {
        return Err(io::Error::other("what it sent isn't a bundle"));
    }
    let mut bundle = NamedTempFile::new_in(folder)?;
    io::copy(&mut came, &mut bundle)?;
    place(bundle, folder, node, name)
}

/// Gives a bundle its name; it is taken to be of `node`, whatever it says.
fn place(bundle: NamedTempFile, folder: &Path, node: &str, name: &str) -> io::Result<PathBuf> {
    bundle.as_file().sync_all()?;
    // Two nodes with one name would be in each other's way.
    let path = match name.contains(node) {
        true => folder.join(name),
        false => folder.join(format!("{node}-{name}")),
    };
    // One that was gathered before stays.
    bundle.persist_noclobber(&path).map_err(|e| e.error)?;
    File::open(folder)?.sync_all()?;
    Ok(path)
}

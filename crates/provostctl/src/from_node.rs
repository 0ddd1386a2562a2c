//! What a command on one node prints, by ssh, as it comes.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use provost_steplog::terminal::escape;

use crate::client::Client;
use crate::failure::Failure;
use crate::known_hosts::KnownHosts;
use crate::node_set::NodeName;
use crate::ssh::{self, Remote, SSH_FAILED};

/// What a shell ends with that finds no such command.
const NOT_FOUND: i32 = 127;

/// Runs `command` on the node and prints its output. `tried` says in an error what was tried, and
/// `hint` what to do where the command itself fails.
pub(crate) async fn print(
    client: &Client,
    ssh_config: Option<&Path>,
    node: &NodeName,
    command: &[&str],
    tried: &str,
    hint: &str,
) -> Result<(), Failure> {
    let remote = Remote { command: command.to_vec(), report: None, files: None };
    let mut stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    let print = |piece: &[u8]| {
        match is_terminal {
            true => stdout.write_all(harmless(&String::from_utf8_lossy(piece)).as_bytes())?,
            false => stdout.write_all(piece)?,
        }
        stdout.flush()
    };
    let known_hosts = KnownHosts::of(client).await;
    let streamed = ssh::stream(ssh_config, &known_hosts, &node.0, &remote, print).await;
    let (status, lines) = match streamed {
        // `| head` has seen enough.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
        Err(e) => return Err(Failure::of(&e, "check that ssh is installed")),
        Ok(ended) => ended,
    };
    if status.success() {
        return Ok(());
    }
    let why = match lines.is_empty() {
        true => format!("{} ended with {status}", command[0]),
        false => lines.join("\n"),
    };
    let hint = match status.code() {
        Some(SSH_FAILED) => ssh::hint(&why)
            .map_or_else(|| format!("check that this works: ssh {} true", node.0), str::to_owned),
        Some(NOT_FOUND) => format!("install {} on the node", command[0]),
        _ => hint.to_owned(),
    };
    Err(Failure::new(format!("{tried}: {why}"), hint))
}

/// What a node prints, for a terminal: its lines are lines, and nothing steers.
fn harmless(piece: &str) -> String {
    piece.split('\n').map(escape).collect::<Vec<_>>().join("\n")
}

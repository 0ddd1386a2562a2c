//! Nodes by the system's OpenSSH client: a few at once, each with its own time-out.

use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use provost_bundle::Limit;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::node_set::NodeSet;
use crate::text;

/// How long the client may take until it is logged in, in seconds.
const CONNECT: &str = "ConnectTimeout=10";
/// How long a client that was told to end is waited for.
const ENDING: Duration = Duration::from_secs(5);
/// How many of the last lines on stderr are kept.
const LINES: usize = 20;
/// The longest line on stderr that is kept, in bytes.
const LINE: u64 = 4096;
/// ssh's own failure, as against one of the command's.
const SSH_FAILED: i32 = 255;

/// Runs the command of `$@` and ends with its exit status; ends it when stdin does. That is how a
/// node learns that nobody waits any more: without a terminal sshd tells no one.
const UNTIL_NOBODY_WAITS: &str = "\
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin
exec 3<&0
\"$@\" </dev/null 3<&- & ran=$!
{ cat <&3 >/dev/null 2>&1; kill -TERM \"$ran\" 2>/dev/null; } >/dev/null 2>&1 & watcher=$!
exec 3<&-
wait \"$ran\"; status=$?
kill \"$watcher\" 2>/dev/null
exit \"$status\"";

/// How nodes are reached.
#[derive(clap::Args)]
pub(crate) struct Ssh {
    /// How many nodes at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    fanout: u16,
    /// How long a node may take
    #[arg(long, value_name = "D", default_value = "1h")]
    timeout: Limit,
    /// A configuration file for ssh in place of yours
    #[arg(long, value_name = "FILE")]
    ssh_config: Option<PathBuf>,
}

/// How it went on one node.
pub(crate) struct Ended {
    pub(crate) result: Result<ExitStatus, Lost>,
    /// The last lines on stderr.
    pub(crate) lines: Vec<String>,
    /// In milliseconds.
    pub(crate) took: u64,
}

/// Why it isn't known how a command went.
pub(crate) enum Lost {
    /// ssh didn't get there, or not to the end.
    Unreachable(String),
    /// The node took too long.
    TimedOut(Limit),
}

impl Ssh {
    /// Runs a command on each of `nodes`, what it prints going `to` somewhere, and tells of each
    /// as it ends.
    pub(crate) async fn on_each(
        self,
        nodes: &NodeSet,
        command: &[&str],
        to: impl Fn(&str) -> Stdio,
        mut ended: impl FnMut(&str, Ended),
    ) {
        let command = shell_words::join(command);
        let remote = format!("exec sh -c {} sh {command}", shell_words::quote(UNTIL_NOBODY_WAITS));
        let mut left = nodes.names.iter();
        let mut running = JoinSet::new();
        loop {
            while running.len() < usize::from(self.fanout) {
                let Some(node) = left.next().cloned() else { break };
                let mut ssh = Command::new("ssh");
                if let Some(config) = &self.ssh_config {
                    ssh.arg("-F").arg(config);
                }
                ssh.args(["-o", "BatchMode=yes", "-o", CONNECT])
                    .args(["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4", "--"])
                    .args([&node, &remote])
                    .stdin(Stdio::piped())
                    .stdout(to(&node))
                    .stderr(Stdio::piped())
                    .kill_on_drop(true);
                let limit = self.timeout;
                running.spawn(async move {
                    let ended = run(ssh, limit).await;
                    (node, ended)
                });
            }
            let Some(next) = running.join_next().await else { return };
            if let Ok((node, how)) = next {
                ended(&node, how);
            }
        }
    }
}

async fn run(mut ssh: Command, limit: Limit) -> Ended {
    let begun = Instant::now();
    let mut lines = Vec::new();
    let result = supervise(&mut ssh, limit, &mut lines).await;
    let result = result.unwrap_or_else(|e| Err(Lost::Unreachable(format!("running ssh: {e}"))));
    let took = begun.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
    Ended { result, lines, took }
}

async fn supervise(
    ssh: &mut Command,
    limit: Limit,
    lines: &mut Vec<String>,
) -> io::Result<Result<ExitStatus, Lost>> {
    let mut child = ssh.spawn()?;
    // Held open: its end is the end of the command.
    let stdin = child.stdin.take();
    let stderr = child.stderr.take();
    let all = async {
        if let Some(stderr) = stderr {
            keep_lines(stderr, lines).await?;
        }
        child.wait().await
    };
    let status = match tokio::time::timeout(limit.duration(), all).await {
        Ok(status) => status?,
        Err(_) => {
            // The node ends it, and has a moment to say so.
            drop(stdin);
            let _ = tokio::time::timeout(ENDING, child.wait()).await;
            return Ok(Err(Lost::TimedOut(limit)));
        }
    };
    if status.code() == Some(SSH_FAILED) || status.code().is_none() {
        let why = lines.last().cloned().unwrap_or_else(|| "ssh ended without a word".to_owned());
        return Ok(Err(Lost::Unreachable(why)));
    }
    Ok(Ok(status))
}

async fn keep_lines(
    from: impl tokio::io::AsyncRead + Unpin,
    kept: &mut Vec<String>,
) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut some = tokio::io::AsyncReadExt::take(&mut from, LINE);
        if some.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        if kept.len() == LINES {
            kept.remove(0);
        }
        kept.push(text::line(String::from_utf8_lossy(&line).trim_end()));
    }
}

//! Commands on nodes by the system's OpenSSH client: a few nodes at once, each with a time-out.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use provost_bundle::Limit;
use provost_steplog::terminal::escape_cell;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::known_hosts;
use crate::known_hosts::KnownHosts;
use crate::node_set::NodeSet;

/// How long the login may take, in seconds.
const CONNECT: &str = "ConnectTimeout=10";
/// How long to wait for ssh to end after a time-out.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// How many of the last lines on stderr are kept.
const LINES: usize = 20;
/// The longest line on stderr that is kept, in bytes.
const LINE: u64 = 4096;
/// How much of what a node prints is read at once, in bytes.
const PIECE: usize = 64 << 10;
/// ssh's own failure, in place of the command's exit status.
pub(crate) const SSH_FAILED: i32 = 255;

/// What ssh says where it knows a node by another host key, or by none.
const UNKNOWN_HOST_KEY: &str = "Host key verification failed.";

/// How nodes are reached.
#[derive(Clone, clap::Args)]
pub(crate) struct Ssh {
    /// Number of nodes at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    fanout: u16,
    /// Time limit for each node
    #[arg(long, value_name = "D", default_value = "1h")]
    timeout: Limit,
    /// Configuration file for ssh, in place of yours
    #[arg(long, value_name = "FILE")]
    ssh_config: Option<PathBuf>,
}

/// What runs on a node.
#[derive(Clone)]
pub(crate) struct Remote<'a> {
    pub(crate) command: Vec<&'a str>,
    /// A line of shell that prints the result in place of the command, whose standard output is
    /// then dropped. It finds the command's exit status in `$status`.
    pub(crate) report: Option<&'a str>,
    /// An archive (tar) of files, which are in the command's working folder while it runs.
    pub(crate) files: Option<Vec<u8>>,
}

/// The result on one node.
pub(crate) struct RemoteResult {
    pub(crate) status: Result<ExitStatus, RemoteError>,
    /// The last lines on stderr, escaped.
    pub(crate) lines: Vec<String>,
    /// How long it took.
    pub(crate) duration: Duration,
}

/// Why there is no exit status.
pub(crate) enum RemoteError {
    /// ssh couldn't connect, or lost the connection.
    Unreachable(String),
    /// The node took too long.
    TimedOut(Limit),
}

/// What to do where ssh failed with the message `why`, if more is known than that it did.
pub(crate) fn hint(why: &str) -> Option<&'static str> {
    why.ends_with(UNKNOWN_HOST_KEY).then_some(
        "accept its host key once, by ssh NODE, after comparing it with the node's console; let nodes without a \
         disk run the postscript hostkeys at each boot (docs/diskless.md)",
    )
}

/// Lines of shell that unpack the archive, whose length is known: more may come on that pipe only when
/// the connection ends.
fn unpack(bytes: usize) -> String {
    format!(
        "files=$(umask 077; mktemp -d) && cd \"$files\" || exit 1\n\
         head -c {bytes} <&3 | tar -xf - || {{ cd /; rm -rf \"$files\"; exit 1; }}\n"
    )
}

impl Default for Ssh {
    fn default() -> Self {
        Self { fanout: 32, timeout: Limit::seconds(3600), ssh_config: None }
    }
}

impl Remote<'_> {
    /// A POSIX shell's command line. It runs the command and ends with its exit status, and ends the
    /// command when stdin ends: without a terminal, sshd doesn't tell it that the connection is lost.
    fn shell(&self) -> String {
        let (redirect, report) = match self.report {
            Some(report) => (" >/dev/null", report),
            None => ("", ":"),
        };
        let (unpack, remove) = match &self.files {
            Some(files) => (unpack(files.len()), "cd / && rm -rf \"$files\""),
            None => (String::new(), ":"),
        };
        let script = format!(
            "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin\n\
             exec 3<&0\n\
             {unpack}\
             \"$@\" </dev/null{redirect} 3<&- & ran=$!\n\
             {{ cat <&3 >/dev/null 2>&1; kill -TERM \"$ran\" 2>/dev/null; }} >/dev/null 2>&1 & \
             watcher=$!\n\
             exec 3<&-\n\
             wait \"$ran\"; status=$?\n\
             kill \"$watcher\" 2>/dev/null\n\
             {report}\n\
             {remove}\n\
             exit \"$status\""
        );
        let command = shell_words::join(&self.command);
        format!("exec sh -c {} sh {command}", shell_words::quote(&script))
    }
}

impl Ssh {
    /// Runs on each of `nodes` its `remote`, with its standard output to `stdout`, and passes each
    /// result to `ended`.
    pub(crate) async fn on_each<'r>(
        &self,
        nodes: &NodeSet,
        known_hosts: &KnownHosts,
        remote: impl Fn(&str) -> Remote<'r>,
        stdout: impl Fn(&str) -> Stdio,
        mut ended: impl FnMut(&str, RemoteResult),
    ) {
        let mut left = nodes.names.iter();
        let mut running = JoinSet::new();
        loop {
            while running.len() < usize::from(self.fanout) {
                let Some(node) = left.next().cloned() else { break };
                let (remote, stdout) = (remote(&node), stdout(&node));
                let (shell, files) = (remote.shell(), remote.files.unwrap_or_default());
                let (config, known_hosts) = (self.ssh_config.clone(), known_hosts.path());
                let limit = self.timeout;
                running.spawn(async move {
                    let (config, known_hosts) = (config.as_deref(), known_hosts.as_deref());
                    let ssh = command(config, known_hosts, &node, &shell, stdout).await;
                    let result = run(ssh, &files, limit).await;
                    (node, result)
                });
            }
            let Some(next) = running.join_next().await else { return };
            if let Ok((node, result)) = next {
                ended(&node, result);
            }
        }
    }
}

async fn command(
    config: Option<&Path>,
    known_hosts: Option<&str>,
    node: &str,
    shell: &str,
    stdout: Stdio,
) -> Command {
    let mut ssh = Command::new("ssh");
    if let Some(config) = config {
        ssh.arg("-F").arg(config);
    }
    if let Some(file) = known_hosts
        && let Some(option) = known_hosts::option(config, node, file).await
    {
        ssh.args(["-o", &option]);
    }
    ssh.args(["-o", "BatchMode=yes", "-o", CONNECT])
        .args(["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4", "--"])
        .args([node, shell])
        .stdin(Stdio::piped())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    ssh
}

/// Runs `remote` on one node for as long as it takes, and passes what it prints to `printed` as it
/// comes. The last lines on stderr come back, escaped.
pub(crate) async fn stream(
    config: Option<&Path>,
    known_hosts: &KnownHosts,
    node: &str,
    remote: &Remote<'_>,
    mut printed: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<(ExitStatus, Vec<String>)> {
    let (shell, known_hosts) = (remote.shell(), known_hosts.path());
    let ssh = command(config, known_hosts.as_deref(), node, &shell, Stdio::piped());
    let mut child = ssh.await.spawn()?;
    // Kept open: the remote side ends the command when it is closed.
    let _stdin = child.stdin.take();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut lines = Vec::new();
    let show = async {
        let Some(mut stdout) = stdout else { return Ok(()) };
        let mut piece = vec![0; PIECE];
        loop {
            match stdout.read(&mut piece).await? {
                0 => return Ok(()),
                n => printed(&piece[..n])?,
            }
        }
    };
    let keep = async {
        match stderr {
            Some(stderr) => keep_lines(stderr, &mut lines).await,
            None => Ok(()),
        }
    };
    tokio::try_join!(show, keep)?;
    Ok((child.wait().await?, lines))
}

async fn run(mut ssh: Command, files: &[u8], limit: Limit) -> RemoteResult {
    let began = Instant::now();
    let mut lines = Vec::new();
    let status = supervise(&mut ssh, files, limit, &mut lines).await;
    let status =
        status.unwrap_or_else(|e| Err(RemoteError::Unreachable(format!("running ssh: {e}"))));
    RemoteResult { status, lines, duration: began.elapsed() }
}

async fn supervise(
    ssh: &mut Command,
    files: &[u8],
    limit: Limit,
    lines: &mut Vec<String>,
) -> io::Result<Result<ExitStatus, RemoteError>> {
    let mut child = ssh.spawn()?;
    // Kept open: the remote side ends the command when it is closed.
    let mut stdin = child.stdin.take();
    let stderr = child.stderr.take();
    let send = async {
        if let Some(stdin) = &mut stdin {
            // Where it fails, ssh has ended, and says why.
            let _ = stdin.write_all(files).await;
        }
    };
    let all = async {
        let lines = async {
            match stderr {
                Some(stderr) => keep_lines(stderr, lines).await,
                None => Ok(()),
            }
        };
        tokio::join!(send, lines).1?;
        child.wait().await
    };
    let status = match tokio::time::timeout(limit.duration(), all).await {
        Ok(status) => status?,
        Err(_) => {
            // Now the node ends the command; its own report needs a moment.
            drop(stdin);
            let _ = tokio::time::timeout(END_TIMEOUT, child.wait()).await;
            return Ok(Err(RemoteError::TimedOut(limit)));
        }
    };
    if status.code() == Some(SSH_FAILED) || status.code().is_none() {
        let why = lines.last().cloned().unwrap_or_else(|| "ssh ended without a message".to_owned());
        return Ok(Err(RemoteError::Unreachable(why)));
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
        kept.push(escape_cell(String::from_utf8_lossy(&line).trim_end()));
    }
}

//! A program on this machine.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use provost_record::terminal::escape_cell;
use provost_record::wording;
use provost_store::NoticeKind;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::time::timeout;

use super::failed::Failed;
use super::group::Group;
use super::message::{Message, line_of};
use crate::config::HooksConfig;

/// How much of a program's output is logged, in bytes.
const MOST_OUTPUT: usize = 16 * 1024;
/// How long output is waited for after the program has ended: what it has started may have its pipes.
const LAST_OUTPUT: Duration = Duration::from_millis(500);
/// What it has of the daemon's own environment.
const INHERITED: [&str; 4] = ["PATH", "HOME", "LANG", "TZ"];

/// The programs.
pub(super) struct Hooks {
    config: HooksConfig,
}

/// Kills a process group when it is dropped.
struct KillGroup(Option<Pid>);

impl Drop for KillGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // Fails where all of it has ended.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Hooks {
    pub(super) fn new(config: &HooksConfig) -> Self {
        Self { config: config.clone() }
    }

    /// Those that are configured.
    pub(super) fn kinds(config: &HooksConfig) -> Vec<NoticeKind> {
        let kinds = [NoticeKind::Booted, NoticeKind::Failed, NoticeKind::Lost];
        kinds.into_iter().filter(|kind| program(config, *kind).is_some()).collect()
    }

    /// Runs the program for a group. With its end all that it has started counts as done; if it takes too
    /// long, all of that is killed.
    pub(super) async fn run(&self, group: &Group, tries: u32) -> Result<(), Failed> {
        let kind = group.kind();
        // It was configured once, and isn't any more.
        let Some(program) = program(&self.config, kind) else { return Ok(()) };
        let message = Message::of(group);
        let failed = |why: String| Failed::of_message(format!("{}: {why}", program.display()));
        let json = serde_json::to_vec(&message).map_err(|e| failed(e.to_string()))?;
        let inherited = INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let mut child = Command::new(program)
            .env_clear()
            .envs(inherited)
            .env("PROVOST_EVENT", kind.as_str())
            .env("PROVOST_NODES", &message.nodes)
            .env("PROVOST_COUNT", message.count.to_string())
            .env("PROVOST_REASON", message.reason())
            .env("PROVOST_TEXT", &message.text)
            .env("PROVOST_STAGE", line_of(message.detail.stage.as_deref().unwrap_or_default()))
            .env("PROVOST_CAUSE", message.detail.cause.map_or("", |cause| cause.as_str()))
            .env("PROVOST_HINT", line_of(message.detail.hint.as_deref().unwrap_or_default()))
            .env("PROVOST_TRY", tries.to_string())
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| failed(e.to_string()))?;
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let mut kill = KillGroup(pid);
        if let Some(mut stdin) = child.stdin.take() {
            // A program needn't read it.
            tokio::spawn(async move { stdin.write_all(&json).await });
        }
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let output = tokio::spawn(log(kind, stdout));
        let errors = tokio::spawn(log(kind, stderr));
        let limit = self.config.timeout.duration();
        let ended = timeout(limit, child.wait()).await;
        if ended.is_ok() {
            kill.0 = None;
        }
        drop(kill);
        let rest = async { (output.await, errors.await) };
        let _ = timeout(LAST_OUTPUT, rest).await;
        match ended {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => Err(failed(words(status))),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(_) => Err(failed(format!("killed after {}", wording::duration(limit)))),
        }
    }
}

fn program(config: &HooksConfig, kind: NoticeKind) -> Option<&PathBuf> {
    match kind {
        NoticeKind::Booted => config.on_booted.as_ref(),
        NoticeKind::Failed => config.on_failed.as_ref(),
        NoticeKind::Lost => config.on_lost.as_ref(),
        NoticeKind::Held | NoticeKind::Pending | NoticeKind::StormDone => None,
    }
}

fn words(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => wording::exit_status(code),
        None => status.to_string(),
    }
}

/// Logs what a program prints, and reads what is more without a word, so that it needn't wait.
async fn log(kind: NoticeKind, pipe: Option<impl AsyncRead + Unpin>) {
    let Some(mut pipe) = pipe else { return };
    let (mut text, mut part, mut logged) = (Vec::new(), [0; 4096], 0);
    let say = |line: &[u8]| {
        let line = escape_cell(String::from_utf8_lossy(line).trim_end());
        if !line.is_empty() {
            tracing::info!("on_{}: {line}", kind.as_str());
        }
    };
    while let Ok(n @ 1..) = pipe.read(&mut part).await {
        let room = MOST_OUTPUT - logged;
        logged += n.min(room);
        text.extend_from_slice(&part[..n.min(room)]);
        while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
            say(&text.drain(..=end).collect::<Vec<u8>>());
        }
        if n > room && room > 0 {
            tracing::info!("on_{}: the rest of its output isn't logged", kind.as_str());
        }
    }
    say(&text);
}

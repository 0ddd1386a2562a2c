//! A program on this machine that is run for an event.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use provost_bundle::Limit;
use provost_exec::kill_marked;
use provost_steplog::terminal::escape_cell;
use provost_steplog::wording;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use uuid::Uuid;

/// How much of a program's output is logged, in bytes.
const MOST_OUTPUT: usize = 16 * 1024;
/// How long output is waited for after the program has ended: what it has started may have its pipes.
const LAST_OUTPUT: Duration = Duration::from_millis(500);
/// The variable by which all that a call has started is known, in a session of its own or not.
const CALL: &str = "PROVOST_CALL";
/// What it has of the daemon's own environment.
const INHERITED: [&str; 4] = ["PATH", "HOME", "LANG", "TZ"];

/// A program, as the configuration names it.
#[derive(Debug)]
pub(crate) struct Hook {
    /// Its key under `[hooks]`.
    pub(crate) key: &'static str,
    pub(crate) program: PathBuf,
    /// How long it may take.
    pub(crate) limit: Limit,
}

/// A call that failed.
pub(crate) struct Failure {
    /// The program, and how it ended.
    pub(crate) why: String,
    /// The last line that it printed on its stderr.
    pub(crate) line: Option<String>,
}

/// Kills a program with all that it has started when this is dropped.
struct Kill {
    group: Option<Pid>,
    call: String,
}

impl Drop for Kill {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // Fails where all of it has ended.
            let _ = kill_process_group(group, Signal::KILL);
            kill_marked(&[(CALL, &self.call)]);
        }
    }
}

impl Hook {
    /// Runs it with these variables and this on its stdin. With its end all that it has started counts as done; if
    /// it takes too long, all of that is killed. What it prints is logged.
    pub(crate) async fn run(
        &self,
        variables: &[(&str, &str)],
        stdin: Vec<u8>,
    ) -> Result<(), Failure> {
        let failed = |why: String, line| {
            let why = format!("{}: {why}", self.program.display());
            Err(Failure { why, line })
        };
        let call = Uuid::now_v7().to_string();
        let inherited = INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let started = Command::new(&self.program)
            .env_clear()
            .envs(inherited)
            .envs(variables.iter().copied())
            .env(CALL, &call)
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = match started {
            Ok(child) => child,
            Err(error) => return failed(error.to_string(), None),
        };
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let mut kill = Kill { group: pid, call };
        if let Some(mut pipe) = child.stdin.take() {
            // A program needn't read it.
            tokio::spawn(async move { pipe.write_all(&stdin).await });
        }
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let output = tokio::spawn(log(self.key, stdout));
        let errors = tokio::spawn(log(self.key, stderr));
        let limit = self.limit.duration();
        let ended = timeout(limit, child.wait()).await;
        if ended.is_ok() {
            kill.group = None;
        } else {
            // It looks at all processes. Without a thread for it, it was dropped all the same.
            let _ = spawn_blocking(move || drop(kill)).await;
        }
        let rest = async { (output.await, errors.await) };
        let line = match timeout(LAST_OUTPUT, rest).await {
            Ok((_, Ok(line))) => line,
            _ => None,
        };
        match ended {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => failed(words(status), line),
            Ok(Err(error)) => failed(error.to_string(), line),
            Err(_) => failed(format!("killed after {}", wording::duration(limit)), line),
        }
    }
}

fn words(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => wording::exit_status(code),
        None => status.to_string(),
    }
}

/// Logs what a program prints, and reads what is more without a word, so that it needn't wait. Returns the last line
/// that is logged.
async fn log(key: &'static str, pipe: Option<impl AsyncRead + Unpin>) -> Option<String> {
    let mut pipe = pipe?;
    let (mut text, mut part, mut logged, mut last) = (Vec::new(), [0; 4096], 0, None);
    let mut say = |line: &[u8]| {
        let line = escape_cell(String::from_utf8_lossy(line).trim_end());
        if !line.is_empty() {
            tracing::info!("{key}: {line}");
            last = Some(line);
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
            tracing::info!("{key}: the rest of its output isn't logged");
        }
    }
    say(&text);
    last
}

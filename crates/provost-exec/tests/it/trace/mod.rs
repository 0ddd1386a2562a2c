//! Every command of a step in its log, and that scripts can't tell.

mod culprits;
mod log;
mod orders;
mod refused;
mod released;
mod unseen;

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use provost_exec::{
    EndCause, LeakPolicy, Limits, Orders, Outcome, Secrets, Step, Supervisor, Trace,
};
use provost_tests::{missing, skip_if};
use tokio::sync::watch;

/// Runs scripts in one folder, traced and not.
struct Bench {
    folder: tempfile::TempDir,
    limits: Limits,
    secrets: Secrets,
    trace_lines: bool,
    leak: LeakPolicy,
}

impl Bench {
    /// It skips the test where this isn't root, who alone may trace commands.
    fn new() -> Self {
        skip_if(missing::tracing());
        let limits = Limits {
            timeout: Duration::from_secs(60),
            slow: Duration::from_secs(60),
            grace: Duration::from_millis(300),
            leak: Duration::from_millis(300),
        };
        let folder = tempfile::tempdir().unwrap();
        Self {
            folder,
            limits,
            secrets: Secrets::default(),
            trace_lines: false,
            leak: LeakPolicy::Warn,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// Makes `program` of a C source (see [`needs_compiler`]).
    fn compile(&self, source: &str) {
        let path = self.path().join("program.c");
        std::fs::write(&path, source).unwrap();
        let mut cc = Command::new("cc");
        let args = ["-pthread", "-o", "program", "program.c"];
        assert!(cc.args(args).current_dir(self.path()).status().unwrap().success());
    }

    /// Runs a script.
    fn run(&self, trace: Trace, script: &str) -> Ran {
        self.write("script", script);
        self.run_file(trace)
    }

    /// Runs the file `script`.
    fn run_file(&self, trace: Trace) -> Ran {
        self.run_step(&self.step(trace), Supervisor::start)
    }

    fn step(&self, trace: Trace) -> Step {
        Step {
            name: "script".into(),
            args: Vec::new(),
            folder: self.path().to_owned(),
            env: vec![("PATH".into(), "/usr/sbin:/usr/bin:/sbin:/bin".into())],
            log: self.path().join("01-script.log"),
            trace,
            digest: None,
            bash_trace: true,
            trace_lines: self.trace_lines,
            limits: self.limits,
            leak: self.leak,
            xtrace: false,
            lines: false,
            secrets: self.secrets.clone(),
        }
    }

    fn run_step(&self, step: &Step, start: impl FnOnce() -> io::Result<Supervisor>) -> Ran {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (_order, mut orders) = watch::channel(Orders::default());
        let mut supervisor = start().unwrap();
        let outcome = runtime.block_on(supervisor.execute(step, &mut orders, |_| {}));
        let log = std::fs::read(&step.log).unwrap();
        Ran { outcome, log: String::from_utf8_lossy(&log).into_owned() }
    }
}

/// Skips the test where there is no C compiler.
fn needs_compiler() {
    skip_if(missing::program("cc", "gcc"));
}

/// A line of bash's own, which may name a process, without the number.
fn without_pids(line: &str) -> String {
    let Some((head, tail)) = line.split_once(": line ") else { return line.to_owned() };
    let is_pid = |word: &&str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_digit());
    let words = tail.split_ascii_whitespace();
    let words = words.map(|word| if is_pid(&word) { "PID" } else { word });
    format!("{head}: line {}", words.collect::<Vec<_>>().join(" "))
}

/// How a script went.
#[derive(Debug)]
struct Ran {
    outcome: Outcome,
    log: String,
}

impl Ran {
    /// The log's lines without their times, process ids and durations.
    fn lines(&self) -> Vec<String> {
        let untimed = self.log.lines().map(|line| line.split_once("Z ").unwrap().1);
        let plain = untimed.map(|line| match line.split_once(" F ") {
            Some(("exec", rest)) => format!("exec {}", rest.splitn(3, ' ').nth(2).unwrap()),
            Some(("exit", rest)) => format!("exit {}", rest.split(' ').nth(1).unwrap()),
            Some(("line", rest)) => format!("line {}", rest.split_once(' ').unwrap().1),
            _ => line.to_owned(),
        });
        plain.collect()
    }

    /// What a reader sees of it who doesn't know of commands.
    fn seen(&self) -> (String, Vec<String>, Vec<String>) {
        let ended = match &self.outcome.end {
            EndCause::Exit(status) => status.to_string(),
            EndCause::Signal { name, .. } => name.clone(),
            other => format!("{other:?}"),
        };
        let of = |stream: &str| {
            let mut text = String::new();
            for line in self.log.lines().map(|line| line.split_once("Z ").unwrap().1) {
                if let Some(rest) = line.strip_prefix(stream) {
                    text.push_str(&rest[3..]);
                    text.push_str(if rest.starts_with(" F") { "\n" } else { "" });
                }
            }
            text.lines().map(without_pids).collect()
        };
        (ended, of("stdout"), of("stderr"))
    }

    fn command(&self) -> String {
        self.outcome.place.clone().unwrap_or_default().command.unwrap_or_default()
    }
}

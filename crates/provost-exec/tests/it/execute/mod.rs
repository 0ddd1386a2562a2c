//! Steps as real processes.

mod ahead;
mod ends;
mod failures;
mod in_turn;
mod output;
mod starts;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use provost_exec::{Event, LeakPolicy, Limits, Orders, Outcome, Secrets, Step, Supervisor, Trace};
use tokio::sync::watch;

fn write_program(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

struct Bench {
    folder: tempfile::TempDir,
    limits: Limits,
    leak: LeakPolicy,
    xtrace: bool,
    trace: Trace,
    trace_lines: bool,
}

impl Bench {
    fn new() -> Self {
        let limits = Limits {
            timeout: Duration::from_secs(20),
            slow: Duration::from_secs(10),
            grace: Duration::from_millis(300),
            leak: Duration::from_millis(300),
        };
        Self {
            folder: tempfile::tempdir().unwrap(),
            limits,
            leak: LeakPolicy::Warn,
            xtrace: false,
            trace: Trace::Lines,
            trace_lines: false,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, script: &str) {
        write_program(&self.path().join("script"), script);
    }

    fn step(&self) -> Step {
        Step {
            name: "script".into(),
            args: vec!["one".into(), "two words".into()],
            folder: self.path().to_owned(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("NODE".into(), "cn001".into())],
            log: self.path().join("01-script.log"),
            trace: self.trace,
            digest: None,
            bash_trace: true,
            trace_lines: self.trace_lines,
            limits: self.limits,
            leak: self.leak,
            xtrace: self.xtrace,
            lines: false,
            secrets: Secrets::default(),
        }
    }

    fn run(&self, script: &str) -> Outcome {
        self.write(script);
        self.run_as_it_is()
    }

    fn run_as_it_is(&self) -> Outcome {
        self.run_telling(None).0
    }

    fn run_telling(&self, stop_after: Option<Duration>) -> (Outcome, Vec<Event>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut events = Vec::new();
        let (order, mut orders) = watch::channel(Orders::default());
        let mut supervisor = Supervisor::start().unwrap();
        let outcome = runtime.block_on(async {
            if let Some(after) = stop_after {
                tokio::spawn(async move {
                    tokio::time::sleep(after).await;
                    order.send(Orders { stop: Some("SIGTERM"), ..Orders::default() })
                });
            }
            supervisor.execute(&self.step(), &mut orders, |e| events.push(e)).await
        });
        (outcome, events)
    }

    fn log(&self) -> String {
        let log = std::fs::read(self.path().join("01-script.log")).unwrap();
        let log = String::from_utf8_lossy(&log);
        log.lines().map(|l| l.split_once("Z ").unwrap().1.to_owned() + "\n").collect()
    }

    fn line(&self, outcome: &Outcome) -> String {
        let line = outcome.place.clone().unwrap_or_default().line.unwrap_or_default();
        line.replace(&self.path().display().to_string(), "DIR")
    }
}

fn command(outcome: &Outcome) -> String {
    outcome.place.clone().unwrap_or_default().command.unwrap_or_default()
}

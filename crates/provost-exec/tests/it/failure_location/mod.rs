//! Where scripts failed, and that they don't notice that somebody wants to know.

mod bash;
mod misnamed;
mod others;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use provost_exec::{
    EndCause, LeakPolicy, Limits, Orders, Outcome, Secrets, Step, Supervisor, Trace,
};
use tokio::sync::watch;

/// Runs scripts in one folder, with and without an executor.
struct Bench {
    dir: tempfile::TempDir,
    folder: PathBuf,
    env: Vec<(String, String)>,
    supervisor: Supervisor,
    runtime: tokio::runtime::Runtime,
}

#[derive(Debug, PartialEq)]
struct Seen {
    status: i32,
    stdout: String,
    stderr: String,
}

/// The shells that bash scripts are tried with: each FOLDER/VERSION/bash of PROVOST_TEST_BASH=FOLDER,
/// else the system's.
pub(crate) fn bashes() -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("PROVOST_TEST_BASH") else {
        return vec!["/bin/bash".into()];
    };
    let folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut bashes: Vec<_> =
        folders.map(|folder| folder.join("bash")).filter(|bash| bash.is_file()).collect();
    bashes.sort();
    assert!(!bashes.is_empty(), "no bash in PROVOST_TEST_BASH");
    bashes
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

impl Bench {
    fn new() -> Self {
        Self::in_folder("scripts")
    }

    fn in_folder(name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        let env = vec![("PATH".into(), format!("{}:/usr/bin:/bin", folder.display()))];
        let supervisor = Supervisor::start().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { dir, folder, env, supervisor, runtime }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("01-x.log")
    }

    fn plainly(&self) -> Seen {
        // The caller of the tests may ignore signals, which programs inherit.
        let mut command = Command::new("/usr/bin/env");
        command.current_dir(&self.folder).env_clear().stdin(Stdio::null());
        command
            .args(["--default-signal", "./x", "one", "two words"])
            .envs(self.env.iter().map(|(k, v)| (k, v)));
        let output = command.output().unwrap();
        Seen {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// What a script prints to stderr.
    fn plainly_said(&self, text: &str) -> String {
        self.write("x", text);
        self.plainly().stderr
    }

    fn watched(&mut self) -> (Seen, Outcome) {
        let step = Step {
            name: "x".into(),
            args: vec!["one".into(), "two words".into()],
            folder: self.folder.clone(),
            env: self.env.clone(),
            log: self.log(),
            trace: Trace::Lines,
            digest: None,
            bash_trace: true,
            trace_lines: false,
            limits: Limits {
                timeout: Duration::from_secs(60),
                slow: Duration::from_secs(60),
                grace: Duration::from_secs(1),
                leak: Duration::from_secs(5),
            },
            leak: LeakPolicy::Warn,
            xtrace: false,
            lines: false,
            secrets: Secrets::default(),
        };
        let (_order, mut orders) = watch::channel(Orders::default());
        let outcome = self.runtime.block_on(self.supervisor.execute(&step, &mut orders, |_| {}));
        let status = match &outcome.end {
            EndCause::Exit(status) => *status,
            EndCause::Signal { .. } => -1,
            ended => panic!("{ended:?}"),
        };
        let log = String::from_utf8_lossy(&std::fs::read(self.log()).unwrap()).into_owned();
        let text = |stream: &str| {
            let lines =
                log.lines().filter_map(|l| l.split_once("Z ").unwrap().1.strip_prefix(stream));
            lines.map(|l| l[3..].to_owned() + if l.starts_with(" F") { "\n" } else { "" }).collect()
        };
        (Seen { status, stdout: text("stdout"), stderr: text("stderr") }, outcome)
    }

    /// Runs `./x` both ways; they must not differ. Returns `LINE FUNCTION FILE | COMMAND`.
    fn place(&mut self, text: &str) -> String {
        self.write("x", text);
        let plainly = self.plainly();
        let (watched, outcome) = self.watched();
        assert_eq!(watched, plainly, "{text}");
        assert!(!self.log().with_extension("notes").exists(), "the notes are gone");
        let place = outcome.place.unwrap_or_default();
        let folder = format!("{}/", self.folder.display());
        let line = place.line.unwrap_or_default().replace(&folder, "");
        format!("{line} | {}", place.command.unwrap_or_default())
    }

    /// As `place`, with each bash instead of `/bin/bash`, which comes first on PATH as well. Where
    /// they name something else, there is an ` or `.
    fn places(&mut self, interpreter: &str, cases: &[(&str, &str, &str)]) {
        let mut wrong = Vec::new();
        let path = self.env[0].1.clone();
        for bash in bashes() {
            self.env[0].1 = format!("{}:{path}", bash.parent().unwrap().display());
            let interpreter = interpreter.replace("/bin/bash", &bash.display().to_string());
            for (name, text, expected) in cases {
                let place = self.place(&format!("#!{interpreter}\n{text}\n"));
                // Of one before 4.3 less is known, and some show a command with other spaces.
                let less = bash.ends_with("4.2/bash") && place.starts_with(" | ");
                let is_system = bash == Path::new("/bin/bash");
                let is = |expected: &str| {
                    place == expected || (!is_system && squeezed(&place) == squeezed(expected))
                };
                if !expected.split(" or ").any(is) && !less {
                    wrong.push(format!(
                        "{}, {name}:\n   expected {expected}\n   found    {place}",
                        bash.display()
                    ));
                }
            }
        }
        self.env[0].1 = path;
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

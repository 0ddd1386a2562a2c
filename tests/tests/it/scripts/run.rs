//! One script, run without Provost and by it.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use provost_steplog::{Entry, Lines, Stream};
use provost_tests::{Node, program};
use serde_json::Value;

use super::interpreters::Interpreter;
use super::script::Script;

/// What stands for the folder that a script runs in.
pub(super) const FOLDER: &str = "FOLDER";
const SIGNALS: [(i32, &str); 9] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (6, "SIGABRT"),
    (9, "SIGKILL"),
    (10, "SIGUSR1"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (15, "SIGTERM"),
];

/// A script with one of its interpreters.
pub(super) struct Job<'j> {
    pub(super) script: Script,
    pub(super) interpreter: &'j Interpreter,
}

impl Job<'_> {
    /// The name under which it is published.
    pub(super) fn name(&self) -> String {
        format!("{}-{}", self.interpreter.name.replace(' ', ""), self.script.name)
    }

    /// Its text, for its interpreter.
    pub(super) fn text(&self) -> String {
        let text = &self.script.text;
        match &self.interpreter.folder {
            Some(folder) => text.replacen("#!/bin", &format!("#!{}", folder.display()), 1),
            None => text.clone(),
        }
    }
}

/// How a script behaved.
#[derive(Debug)]
pub(super) struct Behaviour {
    pub(super) status: String,
    pub(super) stdout: Vec<String>,
    pub(super) stderr: Vec<String>,
    /// Both, in their order.
    pub(super) output: Vec<String>,
    pub(super) took: Duration,
}

/// What Provost recorded of a script.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) behaviour: Behaviour,
    /// `LINE`, `FUNCTION` and `FILE` of the record's `errorLine`.
    pub(super) line: Option<[String; 3]>,
    pub(super) command: Option<String>,
    /// The same of the call of the failing function.
    pub(super) called_from: Option<[String; 3]>,
    pub(super) leaves: Vec<String>,
}

/// Makes lines of output comparable.
struct Normal<'n> {
    job: &'n Job<'n>,
    /// What is the script's folder in this run.
    folders: Vec<PathBuf>,
}

impl Normal<'_> {
    fn lines(&self, output: &[u8]) -> Vec<String> {
        let mut output = output.to_vec();
        for varying in &self.job.script.varies {
            output = varying.replace_all(&output, &b"VARIES"[..]).into_owned();
        }
        let lines = output.split(|byte| *byte == b'\n').map(|line| line.escape_ascii().to_string());
        let mut lines: Vec<String> = lines.map(|line| self.text(line)).collect();
        if self.job.script.is_unordered {
            lines.sort();
        }
        lines
    }

    fn text(&self, text: String) -> String {
        self.folders.iter().fold(text, |text, f| text.replace(f.to_str().unwrap(), FOLDER))
    }
}

/// Runs it without Provost, in `folder`, twice: for what it prints to each stream, and for the order.
pub(super) fn plain(job: &Job<'_>, folder: &Path) -> Behaviour {
    let normal = Normal { job, folders: vec![folder.to_owned()] };
    let began = Instant::now();
    let out = plain_command(job, folder).output().unwrap();
    let took = began.elapsed();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = plain_command(job, folder);
    let mut child = command.stdout(writer.try_clone().unwrap()).stderr(writer).spawn().unwrap();
    // Its copies of the pipe's end.
    drop(command);
    let mut both = Vec::new();
    reader.read_to_end(&mut both).unwrap();
    let again = status(child.wait().unwrap());
    let first = status(out.status);
    assert_eq!(first, again, "{}: it doesn't end in the same way each time", job.name());
    let [stdout, stderr, output] = [&out.stdout, &out.stderr, &both].map(|text| normal.lines(text));
    Behaviour { status: first, stdout, stderr, output, took }
}

/// In the surroundings that docs/node.md promises: a session, no other descriptors, the mask, the environment.
const PLAIN: &str =
    "POSIX::close($_) for 3 .. 255; POSIX::setsid(); umask 022; exec @ARGV or die $!";

fn plain_command(job: &Job<'_>, folder: &Path) -> Command {
    let mut command = Command::new("perl");
    command.args(["-MPOSIX", "-e", PLAIN, &format!("./{}", job.name())]).current_dir(folder);
    command.stdin(Stdio::null()).env_clear().envs(ENVIRONMENT);
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("lib-sh");
    let folders = [&path(job.interpreter), folder.to_str().unwrap(), library.to_str().unwrap()];
    command.env("PATH", folders.join(":"));
    let own = [
        ("LIB", library.clone()),
        ("BIN", program("provost")),
        ("CONFIG", "/nonexistent".into()),
        ("SERVICE", "run".into()),
        ("RUN", "0".into()),
        ("STAGE", job.name().into()),
        ("SKIP", folder.join("skip")),
        ("REBOOT", folder.join("reboot")),
        ("RECORDS", folder.join("records")),
    ];
    command.envs(own.map(|(name, value)| (format!("PROVOST_{name}"), value)));
    command
}

/// The environment of all scripts.
pub(super) const ENVIRONMENT: [(&str, &str); 6] = [
    ("HOME", "/root"),
    ("USER", "root"),
    ("LOGNAME", "root"),
    ("SHELL", "/bin/sh"),
    ("LANG", "C"),
    ("NODE", "cn001"),
];

/// The folders of programs.
pub(super) fn path(interpreter: &Interpreter) -> String {
    let usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    match &interpreter.folder {
        Some(folder) => format!("{}:{usual}", folder.display()),
        None => usual.to_owned(),
    }
}

fn status(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => code.to_string(),
        None => signal_name(status.signal().unwrap()),
    }
}

fn signal_name(signal: i32) -> String {
    let known = SIGNALS.iter().find(|(number, _)| *number == signal);
    known.map_or_else(|| signal.to_string(), |(_, name)| (*name).to_owned())
}

/// What the newest run of `node` recorded of the script.
pub(super) fn recorded(job: &Job<'_>, node: &Node) -> Recorded {
    let name = job.name();
    let journal = node.journal("run");
    let end = journal.iter().rfind(|e| e["stage"] == *name && e["phase"] == "stage end");
    let end = end.unwrap_or_else(|| panic!("{name} has no end in {journal:#?}"));
    let bundle = node.path("state/bundle");
    let folders = vec![fs::canonicalize(&bundle).unwrap(), bundle];
    let normal = Normal { job, folders };
    let (mut stdout, mut stderr, mut both) = (Vec::new(), Vec::new(), Vec::new());
    let mut lines = Lines::new(BufReader::new(File::open(log(node, end, &name)).unwrap()));
    while let Some(line) = lines.read().unwrap() {
        let Entry::Output { stream, whole, text } = line.entry else { continue };
        let text = [text, if whole { b"\n" } else { b"" }].concat();
        both.extend_from_slice(&text);
        match stream {
            Stream::Stdout => stdout.extend(text),
            Stream::Stderr => stderr.extend(text),
        }
    }
    let text = |key: &str| end[key].as_str().map(|text| normal.text(text.to_owned()));
    let status = match (end["signal"].as_str(), end["exitCode"].as_i64()) {
        (Some(signal), _) => signal.to_owned(),
        (None, code) => code.unwrap_or_default().to_string(),
    };
    let took = Duration::from_millis(end["durationMs"].as_u64().unwrap_or_default());
    let [stdout, stderr, output] = [&stdout, &stderr, &both].map(|text| normal.lines(text));
    let leaves = end["leaked"].as_array().into_iter().flatten();
    let comm = |process: &Value| process.as_str().unwrap().split_once(' ').unwrap().1.to_owned();
    Recorded {
        behaviour: Behaviour { status, stdout, stderr, output, took },
        line: text("errorLine").map(|line| place(&line, job)),
        command: text("command"),
        called_from: text("calledFrom").map(|line| place(&line, job)),
        leaves: leaves.map(comm).collect(),
    }
}

/// Splits `LINE FUNCTION FILE`; a file of the script's folder is given without the folder.
fn place(line: &str, job: &Job<'_>) -> [String; 3] {
    let mut parts = line.splitn(3, ' ').map(str::to_owned);
    let [line, function, file] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    let file = file.strip_prefix(&format!("{FOLDER}/")).unwrap_or(&file);
    let file = if file == job.name() { &job.script.name } else { file };
    [line, function, file.to_owned()]
}

fn log(node: &Node, end: &Value, name: &str) -> PathBuf {
    let folder = node.path("log/scripts").join(end["run"].as_str().unwrap());
    let mut files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| {
        let file = path.file_name().unwrap().to_str().unwrap();
        file.split_once('-').is_some_and(|(_, rest)| rest == format!("{name}.log"))
    };
    files.find(is_it).unwrap_or_else(|| panic!("no log of {name} in {}", folder.display()))
}

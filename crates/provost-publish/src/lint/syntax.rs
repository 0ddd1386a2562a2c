//! The syntax of a script, by its own interpreter, which only reads it.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::process::Command;

use super::finding::{Depth, Finding, Level};
use crate::Source;

/// Where interpreters are looked for. A script's own path is never run here.
pub(super) const FOLDERS: [&str; 5] = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"];
/// How long an interpreter may read.
const LIMIT: Duration = Duration::from_secs(10);
/// Compiles without running; -I: without the user's settings.
const PYTHON: [&str; 3] =
    ["-I", "-c", "import ast, sys; ast.parse(open(sys.argv[1], 'rb').read(), sys.argv[1])"];

/// What is wrong with the script's interpreter or its syntax.
pub(super) async fn of_script(source: &Source, text: &str, depth: Depth) -> Vec<Finding> {
    let Some(interpreter) = Interpreter::of(text) else { return Vec::new() };
    if !interpreter.exists() {
        let path = &interpreter.shown;
        let what = format!("its interpreter {path} isn't on this machine: its syntax is unchecked");
        let hint = format!("check that the nodes have it: command -v {path}");
        return vec![Finding::of(Level::Note, source, what, hint)];
    }
    let mut first = None;
    for attempt in interpreter.attempts() {
        let [program, args @ ..] = &attempt[..] else { continue };
        let Some(output) = run(program, args, &source.path).await else { return Vec::new() };
        if output.status.success() {
            return match (depth, interpreter.is_shell()) {
                (Depth::Full, true) => shellcheck(source).await,
                _ => Vec::new(),
            };
        }
        let what = error_in(&String::from_utf8_lossy(&output.stderr), &source.path);
        first.get_or_insert((what, format!("{} {}", program, args.first().unwrap_or(&"-n"))));
    }
    let Some((what, _)) = first else { return Vec::new() };
    let hint = match interpreter.is_shell() {
        true => format!("correct that line; to look again: {} -n FILE", interpreter.name),
        false => "correct that line".to_owned(),
    };
    vec![Finding::of(Level::Error, source, what, hint)]
}

/// Whether a shell runs the script.
pub(super) fn is_shell(text: &str) -> bool {
    Interpreter::of(text).is_some_and(|interpreter| interpreter.is_shell())
}

/// The name of the script's interpreter.
pub(super) fn interpreter(text: &str) -> Option<String> {
    Interpreter::of(text).map(|interpreter| interpreter.name)
}

/// What the first line of a script names.
struct Interpreter {
    /// The name of the program.
    name: String,
    /// As it stands in the script.
    shown: String,
    is_path: bool,
}

impl Interpreter {
    fn of(text: &str) -> Option<Self> {
        let mut words = text.lines().next()?.strip_prefix("#!")?.split_whitespace();
        let path = words.next()?;
        let base = |path: &str| path.rsplit('/').next().map(str::to_owned);
        if base(path)? == "env" {
            let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
            return Some(Self { name: name.to_owned(), shown: name.to_owned(), is_path: false });
        }
        Some(Self { name: base(path)?, shown: path.to_owned(), is_path: true })
    }

    fn exists(&self) -> bool {
        match self.is_path {
            true => Path::new(&self.shown).exists(),
            false => found(&self.name).is_some(),
        }
    }

    fn is_shell(&self) -> bool {
        ["bash", "sh", "dash", "ksh"].contains(&&*self.name)
    }

    /// The command lines that read the script; it is right if one of them accepts it. `sh` is another
    /// shell on other systems, and what `shopt -s extglob` allows is seen only where it is run.
    fn attempts(&self) -> Vec<Vec<&str>> {
        let name = self.name.as_str();
        let bash = || vec![vec!["bash", "-n"], vec!["bash", "-O", "extglob", "-n"]];
        match name {
            "bash" => bash(),
            "sh" => [vec![vec!["sh", "-n"]], bash()].concat(),
            "dash" | "ksh" => vec![vec![name, "-n"]],
            _ if name.starts_with("python3") => vec![[&[name][..], &PYTHON].concat()],
            _ => Vec::new(),
        }
    }
}

fn found(name: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.exists())
}

/// Runs a program that is installed here on `file`; none if it can't, or takes too long.
async fn run(program: &str, args: &[&str], file: &Path) -> Option<Output> {
    let mut command = Command::new(found(program)?);
    command.args(args).arg(std::path::absolute(file).ok()?).env_clear();
    command.env("PATH", FOLDERS.join(":")).env("LC_ALL", "C.UTF-8");
    command.stdin(Stdio::null()).kill_on_drop(true);
    tokio::time::timeout(LIMIT, command.output()).await.ok()?.ok()
}

/// The first error that an interpreter has printed, with its line.
fn error_in(stderr: &str, file: &Path) -> String {
    let file = std::path::absolute(file).unwrap_or_default().display().to_string();
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    // Python: `File "x", line 3`, and at the end what it is.
    let python = lines().find_map(|line| line.strip_prefix(&format!("File \"{file}\", ")));
    if let (Some(line), Some(what)) = (python, lines().next_back()) {
        return format!("{line}: {what}");
    }
    let first = lines().next().unwrap_or("its syntax is wrong");
    let text = first.strip_prefix(&format!("{file}: ")).unwrap_or(first);
    match text.split_once(": ") {
        // dash has the number alone.
        Some((line, what)) if line.bytes().all(|b| b.is_ascii_digit()) => {
            format!("line {line}: {what}")
        }
        _ => text.to_owned(),
    }
}

/// The errors that shellcheck finds, not its advice.
async fn shellcheck(source: &Source) -> Vec<Finding> {
    let args = ["--severity=error", "--format=gcc"];
    let Some(output) = run("shellcheck", &args, &source.path).await else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout);
    let finding = |line: &str| {
        let (place, what) = line.split_once(": error: ")?;
        let number = place.rsplit(':').nth(1)?;
        let hint = "correct that line; shellcheck.net explains the code in brackets";
        Some(Finding::of(Level::Error, source, format!("line {number}: {what}"), hint))
    };
    text.lines().filter_map(finding).collect()
}

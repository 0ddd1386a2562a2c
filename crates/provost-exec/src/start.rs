use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::StatVfsMountFlags;
use serde::{Deserialize, Serialize};

use crate::interpreter::{missing, missing_for_env, not_found};
use crate::script::{Language, Script};
use crate::spawn::{Program, Spawned};
use crate::writes::Writes;
use crate::{Step, trace};

/// The kernel reads no more of a script's first line than this, in bytes.
const SHEBANG_LEN: usize = 256;

/// What shows the commands of a shell script.
const BASH: &str = "/bin/bash";

/// What an ELF header (`e_machine`) may say here; an x86_64 kernel runs i386 as well.
const MACHINES: &[u16] = if cfg!(target_arch = "x86_64") {
    &[62, 3]
} else if cfg!(target_arch = "aarch64") {
    &[183, 40]
} else if cfg!(target_arch = "powerpc64") {
    &[21]
} else {
    panic!("name this architecture's ELF machine")
};

/// A program that could not be started.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
#[error("starting {}: {why}", program.display())]
pub struct NotStarted {
    /// The program.
    pub program: PathBuf,
    /// Why.
    pub why: Why,
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
pub enum Why {
    /// There is no such file.
    #[error("there is no such file")]
    Missing,
    /// It is a folder, a device or the like.
    #[error("it isn't a file")]
    NotAFile,
    /// The interpreter that its first line names isn't there.
    #[error("its first line names the interpreter {0}, which isn't on this node")]
    NoInterpreter(String),
    /// The loader that it asks for, or that its interpreter does, isn't there.
    #[error("{0}, which has to load it or its interpreter, isn't on this node")]
    NoLoader(String),
    /// Its first line ends with a carriage return, which becomes part of the interpreter's name, or
    /// of its argument.
    #[error("its lines end as on Windows (CRLF), so that its first line asks for {0:?}")]
    Crlf(String),
    /// It is a program for another kind of machine, or none at all.
    #[error("it isn't a program for this machine")]
    WrongFormat,
    /// It may not be executed.
    #[error("permission denied")]
    Denied,
    /// Nothing on its file system may be executed.
    #[error("its file system is mounted noexec")]
    NoExec,
    /// Somebody is writing to it.
    #[error("it is being written to (text file busy)")]
    Busy,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl NotStarted {
    /// What an admin can do about it. Scripts are published; or the management node serves them as
    /// they are, out of the folder `served`.
    pub fn hint(&self, served: Option<&str>) -> String {
        let program = self.program.display();
        match (&self.why, served) {
            (Why::Missing, None) => "put it into the scripts' folder and publish again".to_owned(),
            (Why::Missing, Some(folder)) => format!("put it into {folder} on the management node"),
            (Why::Crlf(_), None) => "convert it with dos2unix, then publish again".to_owned(),
            (Why::Crlf(_), Some(folder)) => {
                format!("convert it with dos2unix, in {folder} on the management node")
            }
            (Why::NotAFile, _) => "let the plan name a file".to_owned(),
            (Why::NoInterpreter(path), _) => {
                format!("install {path} on the node, or change the script's first line")
            }
            (Why::NoLoader(path), _) => {
                format!(
                    "install the C library with {path}, or a program that is built for this one"
                )
            }
            (Why::WrongFormat, _) => {
                "let it be a script, or a binary for this architecture".to_owned()
            }
            (Why::Denied, _) => format!("look at the mode of {program}, and of its interpreter"),
            (Why::NoExec, _) => {
                format!("mount it without noexec; findmnt -T {program} shows where it is mounted")
            }
            (Why::Busy, _) => format!("find who writes to {program}: fuser -v {program}"),
            (Why::Other(_), _) => format!("try it by hand on the node: {program}"),
        }
    }
}

/// What every program of a keeper starts with.
pub(crate) struct Footing {
    /// The runner, which isn't the keeper's parent for ever.
    pub(crate) runner: OwnedFd,
    /// Where it is noted which of its outputs it writes to.
    pub(crate) writes: Option<Writes>,
}

/// A step that can begin at any moment: all is done that takes time and doesn't depend on what the
/// step before it does.
pub(crate) struct Prepared<'w> {
    pub(crate) step: Box<Step>,
    pub(crate) program: io::Result<Program<'w>>,
}

impl Prepared<'_> {
    /// The same, with a time-out of `most` at the most.
    pub(crate) fn within(mut self, most: Duration) -> Self {
        self.step.limits.timeout = self.step.limits.timeout.min(most);
        self
    }
}

/// Starts the step's program in a session of its own, its output in pipes. Where it can be told
/// where it fails, that is noted in `notes`; whether so is returned, too.
pub(crate) fn start<'w>(
    step: &Step,
    program: io::Result<Program<'w>>,
    notes: &Path,
) -> Result<(Spawned<'w>, bool), NotStarted> {
    let path = step.folder.join(&step.name);
    let other = |e: io::Error| Why::Other(e.to_string());
    let spawned = look(&path, step).and_then(|(interpreter, language)| {
        let mut program = program.map_err(other)?;
        let watch = trace::arrange(step, language, notes);
        for (name, value) in &watch {
            program.set(name, value).map_err(other)?;
        }
        let words = words(step, &interpreter);
        let spawned = program.spawn(&words, detach);
        let spawned = spawned.map_err(|e| match e.kind() {
            ErrorKind::PermissionDenied if is_noexec(&path) => Why::NoExec,
            ErrorKind::PermissionDenied => Why::Denied,
            ErrorKind::ExecutableFileBusy => Why::Busy,
            _ if e.raw_os_error() == Some(libc::ENOEXEC) => Why::WrongFormat,
            ErrorKind::NotFound | ErrorKind::NotADirectory => {
                not_found(&path, &step.folder).unwrap_or_else(|| other(e))
            }
            _ => other(e),
        });
        Ok((spawned?, !watch.is_empty()))
    });
    spawned.map_err(|why| NotStarted { program: path, why })
}

/// What runs a file.
enum Interpreter {
    /// The kernel, or the interpreter that it finds by the first line.
    FirstLine,
    /// Nothing is said: a shell, as a shell would.
    Shell,
}

fn look(program: &Path, step: &Step) -> Result<(Interpreter, Language), Why> {
    let told = |e: io::Error| match e.kind() {
        ErrorKind::NotFound => Why::Missing,
        ErrorKind::PermissionDenied => Why::Denied,
        _ => Why::Other(e.to_string()),
    };
    if !std::fs::metadata(program).map_err(told)?.is_file() {
        return Err(Why::NotAFile);
    }
    let mut head = [0; SHEBANG_LEN];
    // One read is enough: a file gives what it has.
    let read = File::open(program).and_then(|mut file| file.read(&mut head)).map_err(told)?;
    let head = &head[..read];
    if head.starts_with(b"\x7fELF") {
        // The C library hands what the kernel refuses to a shell, which only makes noise of it.
        let machine = head.get(18..20).map(|m| u16::from_ne_bytes([m[0], m[1]]));
        let ours = machine.is_some_and(|m| MACHINES.contains(&m));
        let program = (Interpreter::FirstLine, Language::Other);
        return if ours { Ok(program) } else { Err(Why::WrongFormat) };
    }
    let Some(line) = head.strip_prefix(b"#!") else {
        return Ok((Interpreter::Shell, Language::Sh));
    };
    let line = line.split(|b| *b == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let language = Language::of(&line);
    let line = line.trim_matches([' ', '\t']);
    if line.ends_with('\r') {
        return Err(Why::Crlf(line.rsplit([' ', '\t']).next().unwrap_or_default().to_owned()));
    }
    // What else is missing is looked for when the kernel hasn't found it.
    let named = if step.xtrace { missing(line, &step.folder) } else { None };
    named
        .or_else(|| missing_for_env(line, step))
        .map_or(Ok((Interpreter::FirstLine, language)), |name| Err(Why::NoInterpreter(name)))
}

fn is_noexec(program: &Path) -> bool {
    rustix::fs::statvfs(program)
        .is_ok_and(|file_system| file_system.f_flag.contains(StatVfsMountFlags::NOEXEC))
}

/// What is to be run, and its arguments.
fn words(step: &Step, interpreter: &Interpreter) -> Vec<String> {
    let shown = step.xtrace.then(|| options(step, interpreter)).flatten();
    let mut words = match (interpreter, shown) {
        (_, Some(options)) => [vec![BASH.to_owned()], options].concat(),
        (Interpreter::FirstLine, None) => Vec::new(),
        (Interpreter::Shell, None) => vec!["/bin/sh".to_owned()],
    };
    words.push(format!("./{}", step.name));
    words.extend_from_slice(&step.args);
    words
}

/// The options for bash, if it is to show what the script does: also those that the script's
/// first line has, without which it wouldn't be the same script.
fn options(step: &Step, interpreter: &Interpreter) -> Option<Vec<String>> {
    let script = Script::read(&step.folder.join(&step.name))?;
    let is_script = script.text.starts_with("#!") || matches!(interpreter, Interpreter::Shell);
    let is_shell = matches!(script.language, Language::Bash | Language::Sh);
    (is_script && is_shell && Path::new(BASH).exists())
        .then(|| ["-x".to_owned()].into_iter().chain(script.options).collect())
}

/// What a program does before it begins. System calls only: see [`Program::spawn`].
fn detach() -> io::Result<()> {
    rustix::process::setsid()?;
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    // A keeper that is killed leaves no script behind that nobody watches.
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    Ok(())
}

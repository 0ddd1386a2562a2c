use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

use provost_bundle::Digest;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;
use rustix::process::Pid;

use super::file_watch::{FileWatch, FileWatches};
use super::interpreter::{missing, missing_for_env, not_found};
use super::not_started::{NotStarted, Why};
use super::spawn::{Program, Spawned};
use crate::architecture::Elf;
use crate::failure_location::{self, Language, Notes, Script};
use crate::output::Output;
use crate::output::xtrace::{self, Xtrace};
use crate::step::{Step, Trace};
use crate::trace::{self, Untraceable};

/// The kernel reads no more of a script's first line than this, in bytes.
const SHEBANG_LEN: usize = 256;

/// What shows the commands of a shell script.
const BASH: &str = "/bin/bash";

/// A program that has been started.
pub(crate) struct Started<'w> {
    pub(crate) pid: Pid,
    /// Where the kernel has them.
    pub(crate) pidfd: Option<OwnedFd>,
    pub(crate) output: Output<'w>,
    /// Whether its commands are traced, or why they aren't, if they should be.
    pub(crate) traced: Option<Result<(), Untraceable>>,
    /// What bash shows of it.
    pub(crate) xtrace: Option<Xtrace>,
    /// Where bash notes where it fails, if it does.
    pub(crate) notes: Option<Notes>,
    /// What sees whether its file is changed, if it was verified, or why nothing does.
    pub(crate) watch: Option<io::Result<FileWatch<'w>>>,
}

/// Starts the step's program in a session of its own, its output in pipes.
pub(crate) fn start<'w>(
    step: &Step,
    program: io::Result<Program<'w>>,
    watches: &'w io::Result<FileWatches>,
) -> Result<Started<'w>, NotStarted> {
    let path = step.folder.join(&step.name);
    let other = |e: io::Error| Why::Other(e.to_string());
    let spawned = look(step, watches).and_then(|looked| {
        let Looked { folder, interpreter, language, watch } = looked;
        let mut program = program.map_err(other)?;
        let watched = failure_location::arrange(step, language);
        let xtrace = (step.trace_lines && language == Language::Bash)
            .then(|| Xtrace::new(&step.secrets))
            .transpose();
        let mut xtrace = xtrace.map_err(other)?;
        if xtrace.is_some() {
            program.set("BASH_XTRACEFD", &xtrace::FD.to_string()).map_err(other)?;
        }
        for (name, value) in watched.iter().flat_map(|watched| &watched.env) {
            program.set(name, value).map_err(other)?;
        }
        let words = words(step, &interpreter, xtrace.is_some());
        let may_trace = (step.trace == Trace::Commands).then(trace::may_trace);
        let write_end = xtrace.as_ref().and_then(Xtrace::write_end).map(AsFd::as_fd);
        let spawned = program.spawn(&folder, &words, may_trace == Some(Ok(())), write_end, detach);
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
        let Spawned { pid, pidfd, output, traced } = spawned?;
        if let Some(xtrace) = &mut xtrace {
            xtrace.begun(pid.as_raw_nonzero().get().cast_unsigned());
        }
        let refused = |e: io::Error| Untraceable::Refused(e.to_string());
        let traced = traced.map(|traced| traced.map_err(refused)).or(may_trace);
        let notes = watched.map(|watched| watched.notes);
        Ok(Started { pid, pidfd, output, traced, xtrace, notes, watch })
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

/// What is known of a program before it starts.
struct Looked<'w> {
    /// Where it runs.
    folder: OwnedFd,
    interpreter: Interpreter,
    language: Language,
    watch: Option<io::Result<FileWatch<'w>>>,
}

fn look<'w>(step: &Step, watches: &'w io::Result<FileWatches>) -> Result<Looked<'w>, Why> {
    let why = |e: Errno| match e {
        Errno::NOENT | Errno::NOTDIR => Why::Missing,
        Errno::ACCESS | Errno::PERM => Why::Denied,
        e => Why::Other(io::Error::from(e).to_string()),
    };
    let other = |e: io::Error| Why::Other(e.to_string());
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(&step.folder, flags, Mode::empty()).map_err(why)?;
    let watch = step.digest.map(|_| match watches {
        Ok(watches) => watches.watch(&folder, step),
        Err(e) => Err(io::Error::new(e.kind(), e.to_string())),
    });
    let stat = rustix::fs::statat(&folder, &step.name, AtFlags::empty()).map_err(why)?;
    if !FileType::from_raw_mode(stat.st_mode).is_file() {
        return Err(Why::NotAFile);
    }
    // It may be a pipe by now, which nobody may ever write to.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&folder, &step.name, flags, Mode::empty()).map_err(why)?;
    let file = File::from(file);
    let watch = watch.map(|watch| {
        watch.and_then(|mut watch| {
            watch.watch(&file)?;
            Ok(watch)
        })
    });
    let mut head = [0; SHEBANG_LEN];
    // One read is enough: a file gives what it has.
    let read = file.read_at(&mut head, 0).map_err(other)?;
    let (interpreter, language) = kind(&head[..read], step)?;
    if let Some(digest) = step.digest
        && Digest::read(file).map_err(other)?.0 != digest
    {
        return Err(Why::Changed);
    }
    Ok(Looked { folder, interpreter, language, watch })
}

/// What runs a program that begins so.
fn kind(head: &[u8], step: &Step) -> Result<(Interpreter, Language), Why> {
    if head.starts_with(b"\x7fELF") {
        // The C library hands what the kernel refuses to a shell, which only makes noise of it.
        let runs_here = Elf::parse(head).is_some_and(Elf::runs_here);
        let program = (Interpreter::FirstLine, Language::Other);
        return if runs_here { Ok(program) } else { Err(Why::WrongFormat) };
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
fn words(step: &Step, interpreter: &Interpreter, is_shown: bool) -> Vec<String> {
    let shown = (step.xtrace || is_shown).then(|| options(step, interpreter)).flatten();
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
    unblock_signals();
    rustix::process::setsid()?;
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    // A keeper that is killed leaves no script behind that nobody watches.
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    Ok(())
}

/// What its keeper blocks (see [`Changes`](crate::trace::Changes)) isn't blocked in the program.
#[expect(unsafe_code, reason = "no safe wrapper sets the mask")]
fn unblock_signals() {
    // SAFETY: the set is plain data that `sigemptyset` fills in.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

//! Process 1 of the sandbox: it makes the root its own, gives up the host's rights, starts the program
//! and reaps what that leaves.

use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_move, unmount};
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, kill_process, set_dumpable_behavior,
    set_parent_process_death_signal, waitpid,
};

use super::cgroup::{self, Cgroups};
use super::error::{SandboxError, failed};
use super::namespaces::{self, Network};
use super::{mounts, places, seccomp};
use provost_exec::kernel;

/// Its own exit status where it couldn't start the program, as shells have it.
const NOT_STARTED: i32 = 126;
/// What a shell adds to the number of a signal that ended a program.
const BY_SIGNAL: i32 = 128;
/// The most bytes that it says at its end.
const MOST_RESULT: u64 = 64 << 10;
/// It needs its identity.
const NEEDS_IDS: u8 = b'm';
/// It has one.
const HAS_IDS: u8 = b'k';

/// How it is to run.
pub(super) struct Terms<'a> {
    pub(super) network: Network,
    /// Whether Unix sockets are refused.
    pub(super) hides_sockets: bool,
    /// The program's path in the sandbox.
    pub(super) program: &'a Path,
    /// What limits its processes and memory.
    pub(super) cgroups: &'a Cgroups,
    /// Whether root has made it.
    pub(super) is_root: bool,
}

/// A program that runs in the sandbox. Dropping it kills all that runs there.
pub struct Running {
    init: Pid,
    results: PipeReader,
    output: PipeReader,
    has_ended: bool,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// The program's exit status; of one that a signal ended, 128 and its number.
    pub status: i32,
    /// The host name, where it was changed.
    pub host_name: Option<String>,
}

/// Forks process 1.
pub(super) fn start(
    terms: &Terms<'_>,
    args: &[OsString],
    env: &[(OsString, OsString)],
) -> Result<Running, SandboxError> {
    let pipe = || io::pipe().map_err(failed("making", "a pipe"));
    let ((results, result), (acks, ack), (output, printed)) = (pipe()?, pipe()?, pipe()?);
    match provost_exec::fork_here().map_err(failed("starting", "its first process"))? {
        None => {
            drop((results, ack, output));
            let wires = Wires { result, acks, printed };
            let status = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                become_init(terms, args, env, wires)
            }));
            provost_exec::end(status.unwrap_or(NOT_STARTED))
        }
        Some(init) => {
            drop((result, acks, printed));
            let mut running = Running { init, results, output, has_ended: false };
            running.begin(terms, ack)?;
            Ok(running)
        }
    }
}

impl Running {
    /// Gives it its identity once it has given up the host's.
    fn begin(&mut self, terms: &Terms<'_>, mut ack: PipeWriter) -> Result<(), SandboxError> {
        let mut first = [0];
        let read =
            self.results.read(&mut first).map_err(failed("waiting for", "its first process"))?;
        if read == 0 || first != [NEEDS_IDS] {
            return Err(self.why());
        }
        namespaces::map_ids(self.init)?;
        terms.cgroups.take(self.init).map_err(failed("limiting", "its processes"))?;
        ack.write_all(&[HAS_IDS]).map_err(failed("starting", "its first process"))?;
        for pipe in [&self.output, &self.results] {
            rustix::io::ioctl_fionbio(pipe, true).map_err(failed("setting", "a pipe"))?;
        }
        Ok(())
    }

    fn why(&mut self) -> SandboxError {
        let mut text = String::new();
        // What it has said up to its end.
        let _ = (&mut self.results).take(MOST_RESULT).read_to_string(&mut text);
        SandboxError::Init(text.strip_prefix('E').unwrap_or(&text).to_owned())
    }

    /// What it has printed since; none where there is nothing now.
    ///
    /// # Errors
    ///
    /// Those of reading a pipe.
    pub fn printed(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        read_now(&self.output, buffer)
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    ///
    /// Where the program couldn't be started.
    pub fn try_wait(&mut self) -> Result<Option<End>, SandboxError> {
        match waitpid(Some(self.init), WaitOptions::NOHANG) {
            Ok(None) | Err(Errno::INTR) => return Ok(None),
            Ok(Some(_)) | Err(_) => self.has_ended = true,
        }
        let mut text = Vec::new();
        let mut part = [0; 4096];
        while let Ok(Some(n @ 1..)) = read_now(&self.results, &mut part) {
            text.extend_from_slice(&part[..n]);
        }
        let text = String::from_utf8_lossy(&text);
        if let Some(why) = text.strip_prefix('E') {
            return Err(SandboxError::Init(why.to_owned()));
        }
        let mut end = End { status: BY_SIGNAL + libc::SIGKILL, host_name: None };
        for line in text.lines() {
            match line.split_at_checked(1) {
                Some(("S", status)) => end.status = status.parse().unwrap_or(end.status),
                Some(("H", name)) => end.host_name = Some(name.to_owned()),
                _ => {}
            }
        }
        Ok(Some(end))
    }

    /// Asks the program to end.
    pub fn terminate(&self) {
        let init = self.init.as_raw_nonzero();
        let children = std::fs::read_to_string(format!("/proc/{init}/task/{init}/children"));
        let first = children.unwrap_or_default();
        let first = first.split_whitespace().next().and_then(|pid| pid.parse().ok());
        match first.and_then(Pid::from_raw) {
            // Both fail where it has ended meanwhile.
            Some(program) => {
                let _ = kill_process(program, Signal::TERM);
                // A script may have stopped it.
                let _ = kill_process(program, Signal::CONT);
            }
            None => self.kill(),
        }
    }

    /// Kills all that runs in it.
    pub fn kill(&self) {
        let _ = kill_process(self.init, Signal::KILL);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.has_ended {
            let _ = kill_process(self.init, Signal::KILL);
            let _ = waitpid(Some(self.init), WaitOptions::empty());
        }
    }
}

struct Wires {
    result: PipeWriter,
    acks: PipeReader,
    printed: PipeWriter,
}

/// What process 1 does. Returns its exit status.
fn become_init(
    terms: &Terms<'_>,
    args: &[OsString],
    env: &[(OsString, OsString)],
    wires: Wires,
) -> i32 {
    let mut result = match wires.result.try_clone() {
        Ok(result) => result,
        Err(_) => return NOT_STARTED,
    };
    let done = serve(terms, args, env, wires);
    let text = match done {
        Ok((status, None)) => format!("S{status}\n"),
        Ok((status, Some(name))) => format!("H{name}\nS{status}\n"),
        Err(e) => {
            let text = provost_steplog::wording::error_chain(&e);
            format!("E{}", text.trim_start_matches("making a sandbox: "))
        }
    };
    // The supervisor has gone, if it can't be told.
    let _ = result.write_all(text.as_bytes());
    0
}

fn serve(
    terms: &Terms<'_>,
    args: &[OsString],
    env: &[(OsString, OsString)],
    mut wires: Wires,
) -> Result<(i32, Option<String>), SandboxError> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(failed("watching", "the supervisor"))?;
    // No descriptor and no terminal of the caller is for the script.
    kernel::close_at_exec();
    rustix::process::setsid().map_err(failed("making", "a session"))?;
    let null = std::fs::File::open("/dev/null").map_err(failed("opening", "/dev/null"))?;
    rustix::stdio::dup2_stdin(&null).map_err(failed("closing", "stdin"))?;
    rustix::stdio::dup2_stdout(&wires.printed).map_err(failed("closing", "stdout"))?;
    rustix::stdio::dup2_stderr(&wires.printed).map_err(failed("closing", "stderr"))?;
    drop(wires.printed);
    namespaces::copy_mounts()?;
    become_root(&places::root())?;
    namespaces::leave_the_hosts_users()?;
    let mut ack = [0];
    wires.result.write_all(&[NEEDS_IDS]).map_err(failed("telling", "the supervisor"))?;
    wires.acks.read_exact(&mut ack).map_err(failed("waiting for", "the supervisor"))?;
    namespaces::make_own(terms.network)?;
    if !terms.is_root {
        cgroup::limit_processes_of_user();
    }
    // Nothing in it can look into this process, which knows descriptors of the host.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(failed("hiding", "its first process"))?;
    let before = host_name();
    seccomp::apply(terms.hides_sockets).map_err(SandboxError::Init)?;
    let program = Command::new(terms.program)
        .args(args)
        .env_clear()
        .envs(env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .spawn()
        .map_err(failed("starting", terms.program.display()))?;
    let status = reap(Pid::from_child(&program));
    Ok((status, Some(host_name()).filter(|name| *name != before)))
}

/// Makes the file systems below `root` all that there is.
fn become_root(root: &Path) -> Result<(), SandboxError> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    // All of it is read-only: what root owns there root may write, with no right at all.
    mount("proc", root.join("proc"), "proc", flags, None).map_err(failed("mounting", "/proc"))?;
    let pivot = || {
        rustix::process::chdir(root)?;
        rustix::process::pivot_root(".", ".")?;
        // The old root is mounted over the new one.
        unmount(".", UnmountFlags::DETACH)?;
        rustix::process::chdir("/")
    };
    let placed = match pivot() {
        Err(Errno::INVAL) => cover_root(root),
        placed => placed.map_err(io::Error::from),
    };
    placed.map_err(failed("changing", "the root"))
}

/// The same where the root is what the kernel has unpacked (an initramfs), which no call moves away: the new root covers
/// it, as switch_root(8) does. Nothing else stays mounted but the stage, or by the host's /proc, hidden or not, a script
/// might mount one that can be written to (`mount_too_revealing` of the kernel).
fn cover_root(root: &Path) -> io::Result<()> {
    let is_left = |point: &PathBuf| point != Path::new("/") && !point.starts_with(places::STAGE);
    loop {
        let mut points = mounts::points(&root.join("proc"))?;
        points.retain(is_left);
        // One goes with that in which it is, and may be seen only when another has gone.
        let gone =
            points.iter().rev().filter(|point| unmount(*point, UnmountFlags::DETACH).is_ok());
        match (points.len(), gone.count()) {
            (0, _) => break,
            (_, 0) => return Err(Errno::BUSY.into()),
            _ => {}
        }
    }
    rustix::process::chdir(root)?;
    mount_move(root, "/")?;
    rustix::process::chroot(".")?;
    Ok(rustix::process::chdir("/")?)
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Waits for all that ends, until `program` does; returns its status.
fn reap(program: Pid) -> i32 {
    loop {
        match waitpid(None, WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == program => {
                let by_signal = || status.terminating_signal().map(|signal| BY_SIGNAL + signal);
                return status.exit_status().or_else(by_signal).unwrap_or(NOT_STARTED);
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return NOT_STARTED,
        }
    }
}

/// Reads without waiting for more.
fn read_now(pipe: &PipeReader, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    match rustix::io::read(pipe, buffer) {
        Ok(n) => Ok(Some(n)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(e) => Err(e.into()),
    }
}
